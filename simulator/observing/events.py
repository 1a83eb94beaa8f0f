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


# In an opcode: what makes an access strong, and scopes that reach no further than the own block.
STRONG_WORDS = frozenset(("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"))
NARROW_SCOPES = frozenset(("cta", "cluster"))


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One memory instruction, as it stands in the code."""

    instruction: Instruction
    space: Space
    kind: Kind
    element: np.dtype[Any]
    count: int  # elements for each lane: 1, 2 or 4
    strong: bool  # atomic, volatile, relaxed or stronger
    reads: bool  # whether what was there before matters to anybody
    wanted: bool = True  # an atomic: whether any instruction reads the old value
    copies: bool = False  # one side of a cp.async: told when it is waited for
    volatile: bool = False
    narrow: bool = False  # a strong one whose scope is its own block
    acquires: bool = False
    releases: bool = False

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


@dataclass(slots=True, eq=False)
class Copy:
    """A cp.async that some lanes have started, and what becomes of it until they wait for it.

    destination  the store into shared memory; what is not copied is zero
    sources      the loads from global memory, one for each number of bytes and each buffer; none
                 where no lane copies anything
    reading      all lanes' loads as if each copied all its bytes: for counters
    reaching     [destination.lanes] which lanes copy anything; None: all of them do
    committed    to a group, by all lanes that have come that far
    left         (N, line) of the last wait_group N that left it under way; None: there was none
    """

    destination: MemoryEvent
    sources: tuple[MemoryEvent, ...]
    reading: MemoryEvent
    reaching: NDArray[np.bool_] | None = None
    committed: bool = False
    left: tuple[int, int] | None = None


class Observer:
    """Override what you want to hear; the machine skips the methods that you leave alone."""

    def wave_started(self, wave: "Wave") -> None: ...

    def memory_accessed(self, event: MemoryEvent) -> None: ...

    def storing(self, event: MemoryEvent, values: tuple[Any, ...]) -> None:
        """A store is about to take place; `memory_accessed` has told of it.

        values  an array [count] or a scalar for each element of a lane's access
        """

    def updated(
        self,
        event: MemoryEvent,
        wrote: NDArray[np.bool_] | None,
        turns: NDArray[np.intp] | None,
    ) -> None:
        """An atomic has taken place.

        wrote  [count] the lanes that wrote: all (None), but for a compare and swap
        turns  [count] places in the set, who was first at the front; None: as they stand
        """

    def fenced(self, instruction: Instruction, lanes: Lanes) -> None:
        """membar or fence."""

    def barrier_arrived(self, barrier: int, lanes: Lanes) -> None:
        """These lanes are counted at a barrier of their block and do not wait there."""

    def barrier_passed(
        self, barrier: int, lanes: Lanes, whole: NDArray[np.bool_] | None, ahead: list[Lanes]
    ) -> None:
        """These lanes have met at a barrier of their block and go on.

        whole  [blocks of the wave] all threads that a block has left have met; None: all blocks'
        ahead  lanes of the same blocks that had arrived before and gone on
        """

    def warp_met(self, instruction: Instruction, mask: Any, lanes: Lanes) -> None:
        """Lanes have met at a warp instruction; mask, a scalar or [count]: whom each names."""

    def wave_ended(self) -> None:
        """All threads of the wave have returned."""

    def copy_started(self, copy: Copy) -> None:
        """Lanes started a copy; `memory_accessed` tells of its accesses when they wait for it."""

    def copy_waited_for(self, copy: Copy, lanes: Lanes) -> None:
        """Some or all lanes of a copy have waited for it; its accesses are told next."""

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
