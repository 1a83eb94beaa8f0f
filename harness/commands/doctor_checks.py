"""The doctor's list of checks, and those of the machine: system, Python, packages, disk."""

import os
import platform
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from harness.commands.doctor import Check, Finding, ok, problem, warning
from harness.commands.doctor_compile import compiles_cuda, headers, simulates, simulates_triton
from harness.commands.doctor_gpu import graphics, runs_on_the_gpu, what_runs_where

_NEWEST_TESTED_PYTHON = (3, 13)
_NEEDED_BYTES, _WANTED_BYTES = 100 * 2**20, 2**30
_HEADLINERS = ("torch", "triton", "cupy-cuda13x", "numpy", "cuda-toolkit", "pytest")
_ONE_COMMAND = {"watchfiles": "watch"}  # packages that no lesson imports
_CONTAINER = 'docker run --rm -it -v "$PWD":/lessons -w /lessons python:3.12 bash'


def checks() -> list[Check]:
    """Every check, in the order of the report."""
    return [
        system,
        packages,
        known_bad,
        environment,
        storage,
        headers,
        compiles_cuda,
        simulates,
        simulates_triton,
        graphics,
        runs_on_the_gpu,
        what_runs_where,
    ]


def system(root: Path) -> Iterator[Finding]:
    """The operating system and Python."""
    name, machine = platform.system(), platform.machine()
    shown = f"{name} {machine}"
    if name == "Darwin":
        yield problem(
            "system",
            f"macOS {machine}: Triton and CuPy publish no wheels for it",
            f"Work in a Linux container, from this folder:\n  {_CONTAINER}\n"
            "  pip install -e . && python -m harness doctor",
        )
    elif name == "Windows":
        yield problem(
            "system",
            "Windows: Triton and CuPy's compiler packages want Linux",
            "Install WSL2 (wsl --install), and clone this repository inside it.",
        )
    elif name != "Linux" or machine not in ("x86_64", "aarch64"):
        yield warning("system", f"{shown} is untested", "Tested: Linux x86_64, aarch64 and WSL2.")
    elif is_wsl():
        yield from _windows_subsystem(shown, root)
    else:
        yield ok("system", shown)
    yield _python(sys.version_info[:2])


def is_wsl(version: Path = Path("/proc/version")) -> bool:
    try:
        return "microsoft" in version.read_text(encoding="utf-8", errors="replace").lower()
    except OSError:
        return False


def _windows_subsystem(shown: str, root: Path) -> Iterator[Finding]:
    if "wsl2" not in platform.release().lower() and not Path("/dev/dxg").exists():
        yield warning(
            "system",
            f"{shown} in WSL: no GPU device is passed in",
            "Check `wsl --list --verbose` on Windows: it has to be version 2.",
        )
    else:
        yield ok("system", f"{shown} in WSL2; the driver is the one of Windows, install none here")
    if root.is_relative_to("/mnt"):
        yield warning(
            "system",
            f"{root} lies on a Windows disk, which is slow and loses file events",
            "Clone into the Linux home folder: cd ~",
        )


def _python(version: tuple[int, ...]) -> Finding:
    shown = f"{platform.python_version()} at {sys.executable}"
    if version < (3, 11):
        return problem("Python", shown, "Python 3.11 or newer is needed; 3.12 is a good choice.")
    if version > _NEWEST_TESTED_PYTHON:
        return warning("Python", f"{shown} is newer than those tested", "Tested: 3.11 to 3.13.")
    return ok("Python", shown)


def packages(root: Path) -> Iterator[Finding]:
    """Every package that pyproject.toml asks for, and its version."""
    from packaging.requirements import Requirement

    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    good: list[str] = []
    for line in tomllib.loads(text)["project"]["dependencies"]:
        wanted = Requirement(line)
        if wanted.marker is not None and not wanted.marker.evaluate():
            continue
        found = version_of(wanted.name)
        if found is None and wanted.name in _ONE_COMMAND:
            yield warning(
                "packages",
                f"{wanted.name} is missing; only `lesson {_ONE_COMMAND[wanted.name]}` needs it",
                f'pip install "{line}"',
            )
        elif found is None:
            yield problem("packages", f"{wanted.name} is missing", f'pip install "{line}"')
        elif not wanted.specifier.contains(found, prereleases=True):
            yield problem(
                "packages",
                f"{wanted.name} {found} does not satisfy {wanted.specifier}",
                f'pip install --upgrade "{line}"',
            )
        elif wanted.name in _HEADLINERS:
            good.append(f"{wanted.name} {found}")
    if good:
        yield ok("packages", ", ".join(good))


def version_of(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def known_bad(_: Path) -> Iterator[Finding]:
    """Combinations that install without complaint and then fail."""
    names = ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")
    cupys = [name for name in names if version_of(name)]
    if len(cupys) > 1:
        yield problem(
            "packages",
            f"{' and '.join(cupys)} are installed together and overwrite each other",
            f"pip uninstall -y {' '.join(cupys)} && pip install cupy-cuda13x",
        )
    wanted = triton_of_torch()
    found = version_of("triton")
    if wanted and found and not found.startswith(wanted):
        yield warning(
            "packages",
            f"this torch was built for triton {wanted}; {found} is installed",
            f"If torch.compile fails in lesson 23: pip install triton=={wanted}",
        )
    for stray in ("pytorch-triton", "triton-windows", "triton-nightly"):
        if version_of(stray):
            yield problem(
                "packages",
                f"{stray} writes into the same folder as triton",
                f"pip uninstall -y {stray} && pip install --force-reinstall triton",
            )


def triton_of_torch() -> str | None:
    """The version of Triton that this build of torch asks for; a CPU build asks for none."""
    from packaging.requirements import Requirement

    try:
        lines = metadata.requires("torch") or []
    except metadata.PackageNotFoundError:
        return None
    for wanted in map(Requirement, lines):
        if wanted.name == "triton" and (wanted.marker is None or wanted.marker.evaluate()):
            pinned = [clause.version for clause in wanted.specifier if clause.operator == "=="]
            return pinned[0] if pinned else None
    return None


def environment(_: Path) -> Iterator[Finding]:
    """Variables that quietly change what runs."""
    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        yield problem(
            "environment",
            "TRITON_INTERPRET is set: Triton would interpret kernels and never compile them",
            "unset TRITON_INTERPRET",
        )
    if os.environ.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0"):
        yield warning(
            "environment",
            "CUDA_LAUNCH_BLOCKING is set: launches wait, so no timing means anything",
            "unset CUDA_LAUNCH_BLOCKING",
        )
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        yield warning(
            "environment",
            "CUDA_VISIBLE_DEVICES hides every GPU",
            "unset CUDA_VISIBLE_DEVICES, unless you mean it",
        )


def storage(root: Path) -> Iterator[Finding]:
    """Whether compiled kernels, progress and backups can be written, and on how much disk."""
    free = shutil.disk_usage(root).free
    shown = f"{free / 2**30:.1f} GiB free"
    for folder in (root, root / ".cache", root / "curriculum"):
        if folder.is_dir() and not _takes_a_file(folder):
            yield problem(
                "folder",
                f"{folder} cannot be written: neither progress nor compiled kernels would stay",
                f"Give yourself the right: sudo chown -R $(id -u) {folder}",
            )
            return
    if free < _NEEDED_BYTES:
        yield problem("folder", f"{root}: only {shown}", "Free some space; 1 GiB is plenty.")
    elif free < _WANTED_BYTES:
        yield warning("folder", f"{root}: only {shown}", "Lessons 17 and 31 want about 1 GiB.")
    else:
        yield ok("folder", f"{root} can be written, {shown}")


def _takes_a_file(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
