"""What can be wrong with a kernel, and the exception that says so.

Memory raises what hardware would trap on; observers raise what hardware lets slip.
"""

from dataclasses import dataclass
from enum import Enum


class FaultKind(Enum):
    """What can be wrong with a kernel; the value is how a report begins."""

    OUT_OF_BOUNDS = "out of bounds"
    MISALIGNED = "misaligned address"
    WRITE_TO_CONST = "write to a const input"
    RACE = "data race"
    UNFINISHED_COPY = "copy not waited for"
    UNINITIALISED_READ = "uninitialised shared read"
    ENDLESS_LOOP = "endless loop"
    DEADLOCK = "deadlock"
    DIVERGENT_BARRIER = "divergent barrier"
    ABSENT_LANES = "absent lanes"
    DIVERGENT_WARP = "divergent warp"
    ASSERTION = "assertion failed"
    TRAP = "trap"
    STACK_OVERFLOW = "stack overflow"
    ILLEGAL_CALL = "call through a bad pointer"


Coordinate = tuple[int, int, int]  # x, y, z


@dataclass(frozen=True, slots=True)
class Place:
    """One thread of the grid."""

    block: Coordinate
    thread: Coordinate

    def __str__(self) -> str:
        return f"thread {short(self.thread)} of block {short(self.block)}"


def short(coordinate: Coordinate) -> str:
    """(104, 0, 0) is written 104; a true 2-D or 3-D coordinate keeps its parts."""
    x, y, z = coordinate
    if (y, z) == (0, 0):
        return str(x)
    return f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


class KernelFault(Exception):
    """A kernel did what it must not do.

    kind      what went wrong
    what      one sentence: who did what, as buffer[index], thread and block
    line      the learner's line, or None where the compiler gives none
    expected  what should have been true
    advice    what to try next
    output    what the kernel had printed before
    """

    def __init__(
        self,
        kind: FaultKind,
        what: str,
        *,
        line: int | None = None,
        expected: str = "",
        advice: str = "",
        place: Place | None = None,
    ):
        super().__init__(f"{kind.value}: {what}")
        self.kind = kind
        self.what = what
        self.line = line or None
        self.expected = expected
        self.advice = advice
        self.block = place.block if place else None
        self.thread = place.thread if place else None
        self.output = ""
