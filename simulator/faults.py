"""What can be wrong with a kernel, and the exception that says so.

Memory raises what hardware would trap on; observers raise what hardware lets slip. A new kind has
programs in tests/simulator/programs/, and an entry in the gallery there, from which docs/faults.md
is written.
"""

from dataclasses import dataclass, field
from enum import Enum

from simulator.undefined import Undefined
from simulator.vocabulary import CUDA, Coordinate, Vocabulary, short

__all__ = ["Coordinate", "FaultKind", "KernelFault", "Place", "short"]


DIVERGENT_EXPECTED = "Every thread of a block reaches the same __syncthreads()."
DIVERGENT_ADVICE = "Move the barrier out of the if or the loop that only some threads enter."


class FaultKind(Enum):
    """What can be wrong with a kernel; the value is how a report begins."""

    OUT_OF_BOUNDS = "out of bounds"
    MISALIGNED = "misaligned address"
    WRITE_TO_CONST = "write to a const input"
    RACE = "data race"
    UNFINISHED_COPY = "copy not waited for"
    UNINITIALISED_READ = "uninitialised shared read"
    UNDEFINED_VALUE = "undefined value"
    ENDLESS_LOOP = "endless loop"
    DEADLOCK = "deadlock"
    DIVERGENT_BARRIER = "divergent barrier"
    ABSENT_LANES = "absent lanes"
    DIVERGENT_WARP = "divergent warp"
    ASSERTION = "assertion failed"
    TRAP = "trap"
    STACK_OVERFLOW = "stack overflow"
    ILLEGAL_CALL = "call through a bad pointer"


@dataclass(frozen=True, slots=True)
class Place:
    """One thread of the grid."""

    block: Coordinate
    thread: Coordinate
    words: Vocabulary = field(default=CUDA, compare=False, repr=False)

    def __str__(self) -> str:
        return self.words.place(self.block, self.thread)


@dataclass(frozen=True, slots=True)
class BarrierBetween:
    """A barrier that stands in the code between two accesses that race.

    barrier    its basic block
    line       where it stands; None: not known
    condition  the line of the branch that decides who comes there; None: all who come so far
    behind     from the later access no way leads back to it
    accesses   the two, in words
    """

    barrier: int
    line: int | None
    condition: int | None
    behind: bool
    accesses: str = ""

    @property
    def aside(self) -> str:
        """By which condition threads go round it, if any stands in front of it."""
        return f" (the condition of line {self.condition})" if self.condition else ""


class KernelFault(Exception):
    """A kernel did what it must not do.

    kind      what went wrong
    what      one sentence: who did what, as buffer[index], thread and block
    line      the learner's line, or None where the compiler gives none
    expected  what should have been true
    advice    what to try next
    output    what the kernel had printed before
    between   of a race: the barrier that one of the two may have gone round
    undefined  of an undefined value: where it comes from, and what hangs on it
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
        self.between: BarrierBetween | None = None
        self.undefined: Undefined | None = None
