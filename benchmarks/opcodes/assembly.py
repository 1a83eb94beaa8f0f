"""PTX to cubins with ptxas, and in its words what it refuses."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.opcodes.cases import Case
from benchmarks.opcodes.entries import module

# What compute capability 8.0 lacks may still be asked of a newer one.
TARGETS = ("sm_80", "sm_90")
_PLACES = ("/usr/local/cuda-13.0/bin/ptxas", "/usr/local/cuda/bin/ptxas")
_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*: (.*)")


@dataclass(frozen=True, slots=True)
class Assembled:
    """What one run of ptxas took: a text, its cubin, and the cases that are its entries k0, k1 …"""

    text: str
    cubin: bytes
    cases: list[Case]
    target: str


@cache
def ptxas() -> str:
    """The program's path. Raises FileNotFoundError where there is none."""
    for place in (*_PLACES, shutil.which("ptxas"), _of_triton()):
        if place and Path(place).exists():
            return place
    raise FileNotFoundError("no ptxas: neither the CUDA toolkit nor Triton is installed")


def _of_triton() -> str | None:
    try:
        import triton
    except ImportError:
        return None
    return str(Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas")


def ptxas_version() -> str:
    told = subprocess.run([ptxas(), "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"V([\d.]+)", told.stdout)
    return found[1] if found else told.stdout.strip()


def assemble(cases: list[Case], architecture: str) -> tuple[list[Assembled], dict[str, str]]:
    """(modules that together hold every case that ptxas takes, ptxas's words on the others)."""
    modules: list[Assembled] = []
    words: dict[str, str] = {}
    left = cases
    for target in TARGETS:
        if not left:
            break
        taken, words = _accepted(left, target, architecture)
        modules += taken
        left = [case for case in left if case.name in words]
    return modules, words


def _accepted(
    cases: list[Case], target: str, architecture: str
) -> tuple[list[Assembled], dict[str, str]]:
    """Without the entries on whose lines ptxas finds fault, until it finds none."""
    words: dict[str, str] = {}
    while cases:
        text, begins = module(cases, target)
        cubin, errors = _run(text, architecture)
        if cubin is not None:
            return [Assembled(text, cubin, cases, target)], words
        faulty: dict[int, str] = {}
        for line, message in errors:
            number = sum(begin <= line for begin in begins) - 1
            faulty.setdefault(max(number, 0), message)
        if not any(line for line, _ in errors):  # it names no line: halve
            if len(cases) == 1:
                return [], words | {cases[0].name: errors[0][1]}
            middle = len(cases) // 2
            first, second = (
                _accepted(part, target, architecture) for part in (cases[:middle], cases[middle:])
            )
            return first[0] + second[0], words | first[1] | second[1]
        words |= {cases[k].name: message for k, message in faulty.items()}
        cases = [case for k, case in enumerate(cases) if k not in faulty]
    return [], words


def _run(text: str, architecture: str) -> tuple[bytes | None, list[tuple[int, str]]]:
    """(the cubin, or None and (line, message) of each error)."""
    with TemporaryDirectory() as folder:
        source, output = Path(folder, "opcodes.ptx"), Path(folder, "opcodes.cubin")
        source.write_text(text, encoding="utf-8")
        command = [ptxas(), f"-arch={architecture}", str(source), "-o", str(output)]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode == 0:
            return output.read_bytes(), []
        errors = [(int(line), message) for line, message in _ERROR.findall(told.stderr)]
        return None, errors or [(0, told.stderr.strip()[-300:])]
