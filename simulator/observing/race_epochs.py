"""Shared memory between two barriers: what was accessed, looked at once when the barrier comes.

Between two barriers of a whole block nothing orders its threads, if no warp meets and no flag is
raised. Then it does not matter who came first: a place that one thread writes and another one
touches is a race. So accesses are only written down, and at the barrier one scatter and one gather
for each of them tell whether there is such a place. Most epochs only read, and cost nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.observing.race_ways import CONFLICTS, Way
from simulator.observing.shadow_log import Touch
from simulator.observing.shadow_places import granules, read, write
from simulator.running.wave import Wave

_SEVERAL = np.iinfo(np.uint32).max  # in place of a stamp: of more than one thread
_TOO_MANY = 1 << 22  # lanes written down; each keeps some 16 bytes alive
_PLAIN_WRITES = (Way.WRITE, Way.VOLATILE_WRITE)
_STRONG_WRITES = (Way.STRONG_WRITE, Way.UPDATE)
_Mask = NDArray[np.bool_]


class Epochs:
    """What the blocks of a wave have accessed since the last barrier of each."""

    def __init__(self, wave: Wave) -> None:
        self.touches: list[Touch] = []
        self._wave = wave
        self._lanes = 0
        self._repeated: set[tuple[int, int, int, Way]] = set()

    @property
    def full(self) -> bool:
        return self._lanes > _TOO_MANY

    def add(self, touch: Touch) -> None:
        event = touch.event
        if touch.way is Way.READ:
            key = (id(event.addresses), event.offset, event.access.bytes, touch.way)
            if key in self._repeated:
                return  # the very same again; the first one keeps the addresses alive
            self._repeated.add(key)
        self.touches.append(touch)
        self._lanes += event.lanes.count

    def clear(self) -> None:
        self.touches.clear()
        self._repeated.clear()
        self._lanes = 0

    def in_order_of_code(self) -> list[Touch]:
        def place(touch: Touch) -> tuple[int, int]:
            index = touch.event.lanes.index
            first = 0 if index is None else int(index[0])
            return touch.event.access.instruction.index, first

        return sorted(self.touches, key=place)

    def keep(self, whole: NDArray[np.int64]) -> None:
        """Some blocks have passed a barrier: forget what is past for all; whole [blocks]."""
        oldest = int(whole.min())
        if self.touches and self.touches[0].moment < oldest:
            self.touches = [t for t in self.touches if t.moment > oldest]
            self._lanes = sum(t.event.lanes.count for t in self.touches)
        self._repeated.clear()  # what is repeated behind the barrier is another access

    def suspicious(self, blocks: _Mask | None, whole: NDArray[np.int64]) -> bool:
        """Whether two threads of a block have touched one place and one of them has written it.

        blocks  [blocks of the wave] those to look at; None: all
        whole   [blocks] the last barrier of each: what came before was looked at
        """
        present = {touch.way for touch in self.touches}
        if not any(c.earlier in present for way in present for c in CONFLICTS[way]):
            return False
        narrowest = min(touch.event.access.element.itemsize for touch in self.touches)
        look = _Look(self._wave, blocks, whole, narrowest.bit_length() - 1)
        return look.finds(self.touches)


class _Look:
    """One look at an epoch. A stamp is a lane + 1; a granule has that of who wrote it last."""

    def __init__(
        self, wave: Wave, blocks: _Mask | None, whole: NDArray[np.int64], shift: int
    ) -> None:
        self._wave = wave
        self._blocks, self._whole, self._latest = blocks, whole, int(whole.max())
        self._shift = shift
        self._size = len(wave.shared) >> shift
        self._stamps: dict[int, NDArray[np.uint32]] = {}  # by set of lanes

    def finds(self, touches: list[Touch]) -> bool:
        placed = [self._placed(touch) for touch in touches]
        writes = [p for p in placed if p.touch.way in _PLAIN_WRITES]
        if writes:
            last = np.zeros(self._size, np.uint32)
            for party in writes:
                party.stamp(last)
            for party in placed:
                if party.meets_other(last):
                    return True
        updates = [p for p in placed if p.touch.way in _STRONG_WRITES]
        reads = [p for p in placed if p.touch.way is Way.READ]
        if not (updates and reads):
            return False
        last = np.zeros(self._size, np.uint32)
        for party in updates:
            party.stamp(last)
        for party in updates:
            party.mark_several(last)
        return any(party.meets_other(last) for party in reads)

    def _placed(self, touch: Touch) -> "_Placed":
        """The lanes of an access that are to be looked at."""
        event = touch.event
        moved, index = granules(event, self._shift)
        stamps = self._stamps.get(id(event.lanes))
        if stamps is None:
            stamps = (event.lanes.indices() + 1).astype(np.uint32)
            self._stamps[id(event.lanes)] = stamps
        pieces = event.access.bytes >> self._shift
        assert not isinstance(index, slice), "only in global memory"
        if self._blocks is not None or touch.moment <= self._latest:
            slots = self._wave.slot[event.lanes.indices()]
            mask = self._whole[slots] < touch.moment
            if self._blocks is not None:
                mask &= self._blocks[slots]
            index, stamps = index[mask], stamps[mask]
        return _Placed(touch, index, moved, pieces, stamps)


@dataclass(frozen=True, slots=True)
class _Placed:
    """Lanes of an access: the first granule of each is index + moved, and it has some pieces."""

    touch: Touch
    index: NDArray[np.intp]
    moved: int
    pieces: int
    stamps: NDArray[np.uint32]

    def stamp(self, last: NDArray[np.uint32]) -> None:
        for k in range(self.pieces):
            write(last, self.moved + k, self.index, self.stamps)

    def meets_other(self, last: NDArray[np.uint32]) -> bool:
        """Whether any lane is where another one has written."""
        for k in range(self.pieces):
            there = read(last, self.moved + k, self.index)
            differ = there != self.stamps
            if differ.any() and there[differ].any():
                return True
        return False

    def mark_several(self, last: NDArray[np.uint32]) -> None:
        """A granule that several lanes have updated is that of none of them."""
        for k in range(self.pieces):
            lost = read(last, self.moved + k, self.index) != self.stamps
            if lost.any():
                last[self.index[lost] + self.moved + k] = _SEVERAL
