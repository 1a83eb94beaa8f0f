"""The doctor's checks of the GPU and its driver, and its account of what will run where."""

import re
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from harness.commands.doctor import Finding, ok, problem, warning
from harness.commands.doctor_compile import KERNEL, KNOWN_SUMS
from harness.launching.nvidia_driver import (
    MINIMUM_CAPABILITY,
    MINIMUM_DRIVER,
    Driver,
    Gpu,
    State,
    ask_driver,
)
from harness.running import devices

_ON_THE_SIMULATOR = "Until then everything runs on the simulator with: pytest --device cpu"
_VIRTUAL_DEVICE = "virtual device: code of sm_80, limits of sm_90 (132 SMs, 227 KB a block)"


@cache
def driver() -> Driver:
    return ask_driver()


def graphics(_: Path) -> Iterator[Finding]:
    """The driver, each GPU, and whether torch can use them."""
    yield from judged(driver(), cuda_of_torch())


def judged(found: Driver, torch_cuda: str | None) -> Iterator[Finding]:
    """What there is to say of a driver, next to the CUDA version that torch was built for."""
    if found.state is State.NO_LIBRARY:
        yield ok("GPU", "no NVIDIA driver here; none is needed")
        return
    if found.state is State.NO_GPU:
        yield ok("GPU", f"a driver ({_shown(found)}), but no GPU that it may use; none is needed")
        return
    if found.is_too_old:
        yield problem(
            "driver",
            f"driver {_shown(found)} is too old: CUDA 13 needs driver {MINIMUM_DRIVER} or newer",
            f"Update the driver (on WSL2: the one of Windows).\n{_ON_THE_SIMULATOR}",
        )
    elif found.library.startswith("/usr/lib/wsl"):
        yield warning(
            "driver",
            f"Windows passes a driver in ({found.library}), but programs do not find it",
            "echo /usr/lib/wsl/lib | sudo tee /etc/ld.so.conf.d/wsl.conf && sudo ldconfig",
        )
    elif found.state is State.BROKEN:
        yield problem("driver", f"the driver does not start: {found.reason}", _ON_THE_SIMULATOR)
    else:
        yield ok("driver", _shown(found))
    for index, gpu in enumerate(found.gpus):
        yield _judged_gpu(index, gpu)
    if found.gpus and torch_cuda is None:
        yield warning(
            "torch",
            "this torch was built for the CPU alone, so the GPU is not used",
            "pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu130",
        )
    elif found.gpus and torch_cuda is not None and torch_cuda.split(".")[0] != "13":
        yield warning(
            "torch",
            f"torch was built for CUDA {torch_cuda}, the kernels compile with CUDA 13: untested",
            "Tested: torch for CUDA 13, the default of torch 2.11 and newer.",
        )


def _judged_gpu(index: int, gpu: Gpu) -> Finding:
    major, minor = gpu.capability
    said = (
        f"{gpu.name}, compute capability {major}.{minor}, {gpu.multiprocessors} SMs, "
        f"{gpu.memory_bytes / 2**30:.0f} GiB, "
        f"{gpu.shared_bytes_per_block // 1024} KB of shared memory a block"
    )
    if gpu.capability < MINIMUM_CAPABILITY:
        return problem(
            f"GPU {index}",
            f"{said}: the lessons need compute capability 8.0",
            _ON_THE_SIMULATOR,
        )
    return ok(f"GPU {index}", said)


def _shown(found: Driver) -> str:
    version = found.version or "of unknown version"
    return f"{version}, up to CUDA {found.cuda_shown}" if found.cuda else version


def cuda_of_torch() -> str | None:
    """The CUDA version that torch was built for, read without importing it."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        text = (Path(spec.origin).parent / "version.py").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"^cuda\b[^=\n]*=\s*['\"]([\d.]+)['\"]", text, re.M)
    return found[1] if found else None


def what_runs_where(_: Path) -> Iterator[Finding]:
    """Which tests run on what, on this machine."""
    try:
        device = devices.choose("auto", driver, devices.torch_has_cuda)
    except devices.DeviceRefused as refused:
        yield problem("runs", f"pytest refuses to start: {refused}", "pytest --device cpu")
        device = devices.simulator()
    yield ok("simulator", _VIRTUAL_DEVICE)
    if device.is_gpu:
        yield ok("runs", f"lesson tests on the {device.header}, in code compiled for it")
        yield ok("runs", "tests marked `simulated` on the simulator, with checks and counters")
        yield ok("runs", "tests marked `gpu` on the GPU; those marked `speed` with --speed")
    else:
        yield ok("runs", "lesson tests on the simulator, compiled by the real compilers")
        yield ok("runs", "tests marked `gpu` and `speed` wait for a GPU; no lesson needs them")


def runs_on_the_gpu(_: Path) -> Iterator[Finding]:
    """Whether the GPU gets the known answer too, on torch's tensors."""
    if not driver().gpus:
        return
    try:
        if not devices.choose("auto", driver, devices.torch_has_cuda).is_gpu:
            return
    except devices.DeviceRefused:
        return  # said by what_runs_where
    import numpy as np
    import torch

    from harness import cuda

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "known_answer.cu").write_text(KERNEL, encoding="utf-8")
        kernel = cuda.module(f"{folder}/doctor.py", "known_answer.cu").get_function("known_answer")
        x = torch.arange(100, dtype=torch.float32, device="cuda")
        sums = torch.full((2,), torch.nan, device="cuda")
        kernel((2,), (64,), (x, sums, np.int32(100)))
        got = tuple(sums.tolist())
    if got == KNOWN_SUMS:
        yield ok("GPU", f"sums 0 .. 99 in two blocks rightly, through torch {torch.__version__}")
    else:
        yield problem(
            "GPU",
            f"sums 0 .. 99 in two blocks to {list(got)}, not {list(KNOWN_SUMS)}",
            "Reboot, and try again; then please report it, with this whole output.",
        )
