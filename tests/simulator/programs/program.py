"""One program: its kernel, its launch, and what the simulator must say of it.

A kernel marks the lines that a report must name:

    // fault            the one line of the fault, or each of several lines that wait
    // first, second    the two parties of a race or a deadlock; several firsts: any one of them
    // both             the two parties are on this one line
    // any              three parties or more: the report names two of these lines
    // origin           where an undefined value comes from
    // noted            legal, and worth a note that names the line
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from simulator import FaultKind

FOLDER = Path(__file__).parent
FRESH = np.uint32(0x7FCDCDCD)  # the bits of a float that nobody has written


@dataclass(frozen=True, eq=False)
class Program:
    """What to launch, and the verdict.

    subject    the .cu file that holds the kernel
    arguments  in the order of the parameters: arrays and 32-bit scalars
    results    what arrays must hold afterwards, where the program is right
    kind       of the fault, where it is wrong
    place      what is touched, as a report writes it: "tile[5]", or only "tile["; several: any
    between    the two parties of a race are "lanes" of a warp, "warps" of a block, "blocks",
               or "any" two threads of a block
    settings   of every launch: resident_blocks, cooperative, order
    then       a second kernel, launched behind the first with the same arguments
    """

    subject: str
    name: str
    kernel: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    arguments: Mapping[str, object]
    results: Mapping[str, np.ndarray] = field(default_factory=dict)
    kind: FaultKind | None = None
    place: str | tuple[str, ...] = ""
    between: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    shared_bytes: int = 0
    then: str = ""

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.subject}.cu"

    @property
    def source(self) -> str:
        """The kernel with the functions, variables and the sentence before it."""
        first, last = stretches(self.path)[self.kernel]
        return "\n".join(_lines(self.path)[first - 1 : last])

    @property
    def shows(self) -> str:
        """The sentence that stands before the kernel."""
        lines = self.source.split("\n")
        at = next(k for k, line in enumerate(lines) if line.startswith('extern "C"'))
        start = at
        while start and lines[start - 1].startswith("// "):
            start -= 1
        return " ".join(line[3:] for line in lines[start:at])

    def marked(self, mark: str) -> set[int]:
        """The lines of the kernel that end in `// mark`."""
        first, last = stretches(self.path)[self.kernel]
        lines = _lines(self.path)
        return {n for n in range(first, last + 1) if lines[n - 1].endswith(f"// {mark}")}


class Subject:
    """The programs of one .cu file, in a table."""

    def __init__(self, name: str):
        self.name = name
        self.programs: list[Program] = []

    def right(self, name, grid, block, arguments, results, *, kernel="", **more):
        """A program without a fault."""
        self.programs.append(
            Program(self.name, name, kernel or name, grid, block, arguments, results, **more)
        )

    def wrong(self, kind, name, grid, block, arguments, *, kernel="", **more):
        """A program with a fault of this kind."""
        self.programs.append(
            Program(self.name, name, kernel or name, grid, block, arguments, kind=kind, **more)
        )

    def race(self, between, place, name, grid, block, arguments, **more):
        self.wrong(
            FaultKind.RACE, name, grid, block, arguments, place=place, between=between, **more
        )


def ints(*shape):
    """1, 2, 3 ...: no two alike, and none of them what fresh memory holds."""
    return np.arange(1, 1 + np.prod(shape), dtype=np.int32).reshape(shape)


def floats(*shape):
    return ints(*shape).astype(np.float32)


def empty(*shape):
    """What `torch.empty` gives in a lesson's test: nobody has written there."""
    return np.full(shape, FRESH).view(np.float32)


def zeros(*shape, dtype=np.int32):
    return np.zeros(shape, dtype)


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text().split("\n")


@cache
def stretches(path: Path) -> dict[str, tuple[int, int]]:
    """Of each kernel, its first and last line; what stands before it belongs to it."""
    found, first, kernel = {}, 1, ""
    for number, line in enumerate(_lines(path), 1):
        if head := re.match(r'extern "C" __global__ void (\w+)', line):
            kernel = head[1]
        elif line == "}" and kernel:
            found[kernel] = (first, number)
            first, kernel = number + 1, ""
    return found
