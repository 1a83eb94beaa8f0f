"""What is known of an undefined value that matters: where it comes from, and what it decides.

A value is undefined if nobody has given it one. It may be copied, added and thrown away; it is a
fault when something hangs on it.
"""

from dataclasses import dataclass
from enum import Enum, auto


class Matter(Enum):
    """What hangs on an undefined value."""

    DECISION = auto()  # a branch, a guard, whom a warp instruction names
    ADDRESS = auto()
    STORE = auto()  # to global memory
    ATOMIC = auto()  # what an atomic adds, or puts there
    UPDATE = auto()  # what was there before an atomic
    PRINT = auto()


class Origin(Enum):
    """What nobody has given a value."""

    VARIABLE = auto()
    MASKED_LOAD = auto()  # the lanes that its mask leaves out
    LOCAL_ARRAY = auto()
    MEMORY = auto()  # an element of a fresh buffer
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Undefined:
    """One undefined value.

    line     of the origin: the load, or the first use of the variable; None where no line is known
    element  of a fresh buffer, as it is written: "partial[3]"
    """

    matter: Matter
    origin: Origin
    line: int | None = None
    element: str = ""
