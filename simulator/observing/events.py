"""What the machine tells its observers, and the observer that ignores it all.

The core knows no observer: counters and checks listen here. Every event names lanes of the
current wave; `Wave` says which thread of which block a lane is.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulator.reading.ptx import Instruction
from simulator.running.lanes import Lanes

if TYPE_CHECKING:
    from simulator.running.addresses import Addresses
    from simulator.running.buffers import Buffer
    from simulator.running.wave import Wave


class Space(Enum):
    __hash__ = object.__hash__  # Enum's own is slow, and each access looks up some by it

    GLOBAL = auto()
    SHARED = auto()
    LOCAL = auto()
    CONST = auto()
    GENERIC = auto()  # only in PTX: resolved before an observer sees it


class Kind(Enum):
    __hash__ = object.__hash__

    LOAD = auto()
    STORE = auto()
    ATOMIC = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One memory instruction, as it stands in the code."""

    instruction: Instruction
    space: Space
    kind: Kind
    element: np.dtype[Any]
    count: int  # elements for each lane: 1, 2 or 4
    strong: bool  # atomic, volatile, relaxed or stronger: the race checker to come asks for it
    reads: bool  # whether what was there before matters to anybody
    wanted: bool = True  # an atomic: whether any instruction reads the old value

    @property
    def bytes(self) -> int:
        """Bytes for each lane."""
        return self.element.itemsize * self.count


@dataclass(frozen=True, slots=True, eq=False)
class MemoryEvent:
    """One memory instruction, executed by some lanes."""

    access: Access  # its space is never generic: the lanes' addresses have told
    addresses: "Addresses"
    offset: int  # bytes, added to every address
    lanes: Lanes
    buffer: "Buffer | None"  # in global and constant memory


class Observer:
    """Override what you want to hear; the machine skips the methods that you leave alone."""

    def wave_started(self, wave: "Wave") -> None: ...

    def memory_accessed(self, event: MemoryEvent) -> None: ...

    def basic_block_ran(self, number: int, lanes: Lanes) -> None:
        """Basic block `number` ran for these lanes."""

    def branched(self, instruction: Instruction, taken: NDArray[np.bool_], lanes: Lanes) -> None:
        """A conditional branch; taken [count], not uniform over the lanes."""


def listeners(observers: list[Observer], method: str) -> list[Any]:
    """The bound methods of those observers that override `method`."""
    return [
        getattr(o, method)
        for o in observers
        if getattr(type(o), method) is not getattr(Observer, method)
    ]
