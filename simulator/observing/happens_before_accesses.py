"""A strong access as flags take it up: who was at which word, in which turns, and knew what.

It holds all that it needs, so that it may be taken up later than it took place.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Access, Kind, MemoryEvent

_Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class StrongAccess:
    """A strong access by some lanes, or a plain store.

    base       of the words: the identity of their buffer, or 0 for shared memory
    lanes      [count]
    places     [count] the byte of its memory at which each lane's access begins
    turns      [count] positions in `lanes`, in the order of their turns
    releasing  [count] which lanes may release anything
    before     [count] the last barrier of a lane's whole block, -1: it has met others since
    moment     when it was
    """

    access: Access
    base: int
    lanes: _Indices
    places: _Indices
    turns: _Indices
    releasing: NDArray[np.bool_]
    before: NDArray[np.int64]
    moment: int

    @property
    def stands_alone(self) -> bool:
        """Whether what it releases is told by the access itself, and by what its lanes acquired."""
        plain = not self.releasing.any()
        return plain or (self.access.releases and bool((self.before >= 0).all()))

    @property
    def reads(self) -> bool:
        return self.access.kind is Kind.LOAD or (
            self.access.kind is Kind.ATOMIC and self.access.wanted
        )

    def by_place(self, concerned: NDArray[np.bool_]) -> Iterator[tuple[int, _Indices]]:
        """(place, the positions of its lanes in their turns), for each place of those concerned."""
        order = self.turns[concerned[self.turns]]
        grouped = order[np.argsort(self.places[order], kind="stable")]
        there = self.places[grouped]
        firsts = np.flatnonzero(there[1:] != there[:-1]) + 1
        for here in np.split(grouped, firsts) if len(grouped) else ():
            yield int(self.places[here[0]]), here


def places_of(event: MemoryEvent) -> _Indices:
    """[count] the byte of its memory at which each lane's access begins."""
    places = event.addresses.offsets() + event.offset
    if event.addresses.stretches is not None:
        places = places + event.addresses.stretches.starts(event.lanes, 0)
    return places
