"""Shared memory between two barriers: what was accessed, looked at once when the barrier comes.

Between two barriers of a whole block nothing orders its threads, if no warp meets and no flag is
raised. Then it does not matter who came first: a place that one thread writes and another one
touches is a race. So accesses are only written down, and at the barrier one scatter and one gather
for each of them tell whether there is such a place. Most epochs only read, and cost nothing.

A shuffle or a vote gives the lanes that meet there no order either. But two accesses between which
it stands get a note and no fault, so what came before it is kept apart from what came behind.
"""

from bisect import bisect

import numpy as np
from numpy.typing import NDArray

from simulator.observing.race_stamps import ALL, Mask, Note, Placed, Stamped, Stamps
from simulator.observing.race_ways import CONFLICTS, Way
from simulator.observing.shadow_log import Touch
from simulator.running.lanes import Lanes
from simulator.running.wave import Wave

_TOO_MANY = 1 << 22  # lanes written down; each keeps some 16 bytes alive
_PLAIN_WRITES = (Way.WRITE, Way.VOLATILE_WRITE)
_STRONG_WRITES = (Way.STRONG_WRITE, Way.UPDATE)
_NEVER = np.iinfo(np.int64).max


class Epochs:
    """What the blocks of a wave have accessed since the last barrier of each.

    note  hears of lanes of one access that write the same bits to one place: that is no race
    """

    def __init__(self, wave: Wave, note: Note) -> None:
        self._note = note
        self._stamped = Stamped(len(wave.shared))
        self.touches: list[Touch] = []
        self._wave = wave
        self._lanes = 0
        self._meetings: list[int] = []  # moments at which lanes met, since the first touch
        # Reads that were written down, and of each the last one that was the very same.
        self._repeated: dict[tuple[int, int, int], Touch | None] = {}
        self._met_since = False  # whether lanes have met since that began anew

    @property
    def full(self) -> bool:
        return self._lanes > _TOO_MANY

    def add(self, touch: Touch) -> None:
        event = touch.event
        if touch.way is Way.READ:
            key = (id(event.addresses), event.offset, event.access.bytes)
            if key in self._repeated:
                self._repeated[key] = touch
                return  # the very same again; the first one keeps the addresses alive
            self._repeated[key] = None
        elif self._met_since:
            self._end_repetitions()
        self._write_down(touch)

    def _write_down(self, touch: Touch) -> None:
        self.touches.append(touch)
        self._lanes += touch.event.lanes.count

    def _end_repetitions(self) -> None:
        """Write down the last of reads that are the same, if lanes have met among them.

        What was written earlier has come before the last one if it came before the first, and what
        is written later comes behind the first one if it comes behind the last.
        """
        if self._met_since:
            for last in self._repeated.values():
                if last is not None:
                    self._write_down(last)
        self._repeated.clear()
        self._met_since = False

    def warps_met(self, moment: int) -> None:
        """Lanes have met, and CUDA promises them no order by it."""
        if self.touches:
            self._meetings.append(moment)
            self._met_since = True

    def clear(self) -> None:
        self.touches.clear()
        self._repeated.clear()
        self._meetings.clear()
        self._lanes, self._met_since = 0, False

    def in_order_of_code(self, whole: NDArray[np.int64]) -> list[Touch]:
        """What each block has accessed since its last barrier; whole [blocks]: the moment of it.

        What lies before is ordered, and was looked at: among accesses in the order of the code it
        would seem to come after what lies behind. So it is with a meeting of lanes: a later access
        must not hide an earlier one of its thread from those that it alone comes after.
        """

        def place(touch: Touch) -> tuple[int, int, int, int]:
            index = touch.event.lanes.index
            first = 0 if index is None else int(index[0])
            met = bisect(self._meetings, touch.moment)
            return met, touch.event.access.instruction.index, first, touch.moment

        self._end_repetitions()
        touches = []
        for touch in self.touches:
            late = whole < touch.moment
            here = _those_of(self._wave, touch.event.lanes, late)
            if here is not None:
                touches.append(touch if here is ALL else touch.of(here))
        return sorted(touches, key=place)

    def keep(self, whole: NDArray[np.int64]) -> None:
        """Some blocks have passed a barrier: forget what is past for all; whole [blocks]."""
        # Who has returned was looked at together with those who passed.
        latest = np.where(self._wave.live == 0, _NEVER, whole)
        self._end_repetitions()  # what is repeated behind the barrier is another access
        touches, self.touches, self._lanes = self.touches, [], 0
        oldest: dict[int, int] = {}
        for touch in touches:
            lanes = touch.event.lanes
            if id(lanes) not in oldest:
                oldest[id(lanes)] = int(latest[self._wave.slots_with(lanes)].min())
            if touch.moment > oldest[id(lanes)]:
                self.touches.append(touch)
                self._lanes += lanes.count
        earliest = min((touch.moment for touch in self.touches), default=_NEVER)
        del self._meetings[: bisect(self._meetings, earliest)]

    def suspicious(self, blocks: Mask | None, whole: NDArray[np.int64]) -> bool:
        """Whether two threads of a block have touched one place and one of them has written it.

        blocks  [blocks of the wave] those to look at; None: all
        whole   [blocks] the last barrier of each: what came before was looked at
        """
        look = _Look(self._wave, blocks, whole, self._stamped)
        placed = look.placed(_near_writes(self.touches))
        present = {party.touch.way for party in placed}
        if not any(c.earlier in present for way in present for c in CONFLICTS[way]):
            return False
        return look.finds(placed, self._note)


def _those_of(wave: Wave, lanes: Lanes, blocks: Mask) -> Mask | None:
    """[count] which lanes belong to some blocks, [blocks of the wave]; ALL; None: none of them."""
    if blocks.all():
        return ALL
    here = blocks[wave.slots_with(lanes)]
    if here.all():
        return ALL
    return blocks[wave.slots_of(lanes)] if here.any() else None


def _near_writes(touches: list[Touch]) -> list[Touch]:
    """Those that write, and those that may touch what is written: by their ranges."""
    writes = list({_range(touch) for touch in touches if touch.way is not Way.READ})
    if not writes:
        return []
    lowest, highest = min(low for low, _ in writes), max(high for _, high in writes)
    found = []
    for touch in touches:
        if touch.way is Way.READ:
            low, high = _range(touch)
            if low >= highest or high <= lowest:
                continue
            if not any(low < end and begin < high for begin, end in writes):
                continue
        found.append(touch)
    return found


def _range(touch: Touch) -> tuple[int, int]:
    """Between which bytes of a block's shared memory an access lies."""
    event = touch.event
    known, offset = event.addresses, event.offset
    return known.low + offset, known.high + offset + event.access.bytes


class _Look:
    """One look at an epoch. A stamp tells of a lane; a granule has that of who wrote it last."""

    def __init__(
        self, wave: Wave, blocks: Mask | None, whole: NDArray[np.int64], stamped: Stamped
    ) -> None:
        self._wave, self._whole, self._stamped = wave, whole, stamped
        self._blocks = np.ones(len(whole), bool) if blocks is None else blocks
        self._here: dict[tuple[int, int], Mask | None] = {}  # by set of lanes and barrier
        self._stamps: dict[int, Stamps] = {}  # by set of lanes

    def placed(self, touches: list[Touch]) -> list[Placed]:
        """Those lanes of each access that are to be looked at."""
        barriers = np.unique(self._whole)  # a touch lies between two of them
        behind = np.searchsorted(barriers, [touch.moment for touch in touches]).tolist()
        found = []
        for touch, epoch in zip(touches, behind, strict=True):
            lanes = touch.event.lanes
            key = (id(lanes), epoch)
            if key not in self._here:
                late = (self._whole < touch.moment) & self._blocks
                self._here[key] = _those_of(self._wave, lanes, late)
            if (here := self._here[key]) is not None:
                found.append(Placed(touch, here))
        return found

    def finds(self, placed: list[Placed], note: Note) -> bool:
        # Accesses are aligned, so two of them meet where they have a granule of the narrowest.
        shift = min(p.touch.event.access.bytes for p in placed).bit_length() - 1
        last, below = self._stamped.of("last", shift, self._wave.size)
        for party in placed:
            party.locate(shift, below, self._stamps_of(party.touch.event.lanes, below))
        writes = [p for p in placed if p.touch.way in _PLAIN_WRITES]
        if writes and self._plain_writes_meet(placed, writes, last, note):
            return True
        updates = [p for p in placed if p.touch.way in _STRONG_WRITES]
        reads = [p for p in placed if p.touch.way is Way.READ]
        if not (updates and reads):
            return False
        last = np.zeros(len(last), np.uint32)
        for party in updates:
            party.stamp(last)
        for party in updates:
            party.mark_several(last)
        return any(party.meets_other(last) for party in reads)

    def _plain_writes_meet(
        self, placed: list[Placed], writes: list[Placed], last: Stamps, note: Note
    ) -> bool:
        together: list[Placed] = []  # whose lanes write several to one place, and the same
        for party in writes:
            party.stamp(last)
            lost = party.lost(last)
            if lost is not None:
                if not party.write_alike(lost, last, note):
                    return True
                together.append(party)
        if together:
            shift = writes[0].shift
            shared, below = self._stamped.of("shared", shift, len(together))
            for number, party in enumerate(together, below + 1):
                party.share(shared, number)
            if any(party.meets_party(shared, below) for party in placed):
                return True
        return any(party.meets_other(last) for party in placed)

    def _stamps_of(self, lanes: Lanes, below: int) -> Stamps:
        stamps = self._stamps.get(id(lanes))
        if stamps is None:
            stamps = (lanes.indices() + (below + 1)).astype(np.uint32)
            self._stamps[id(lanes)] = stamps
        return stamps
