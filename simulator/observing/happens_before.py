"""Which access happens before which: by program order, barriers, warps that meet, and flags.

Every access and every synchronisation of a launch has a *moment*, counted up from 1. A thread of
the grid is known by its number: block * threads of a block (padded to whole warps) + its own. One
access happens before another if the second one's thread *knows* the first one's thread up to its
moment. Most questions are answered by one comparison for all lanes: the same thread; the same
block, before its last barrier; the same warp, before it last met. The others go to
`happens_before_meetings.py` (inside a block) and `happens_before_flags.py` (releases and acquires).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.happens_before_flags import Flags
from simulator.observing.happens_before_meetings import Known, Meeting, NamedMeeting, WarpMeeting
from simulator.reading.ptx import Instruction
from simulator.running import warp
from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import Wave

_ASKED_ONE_BY_ONE = 64  # moments of lanes for which an order that is only noted is searched for
_Moments = NDArray[np.int64]


class HappensBefore:
    """The order of a launch, as far as it has come.

    now           the last moment that was given
    whole         [blocks of the wave] the last barrier that all of a block have passed
    thread        [lanes of the wave] the number of each lane's thread in the grid
    about_to_order  called before lanes learn of others in any way but a barrier of whole blocks
    """

    def __init__(self, flags: Flags | None, about_to_order: Callable[[], None]) -> None:
        self.now = 0
        self.flags = flags
        self.about_to_order = about_to_order
        if flags is not None:
            flags.order = self

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave
        self.first = int(wave.blocks[0]) if len(wave.blocks) else 0
        self.thread = (wave.blocks * wave.padded)[wave.slot] + wave.thread
        self.whole: _Moments = np.zeros(len(wave.blocks), np.int64)
        self._barriers: list[tuple[int, NDArray[np.bool_] | None]] = []  # of whole blocks
        self._meetings: list[Meeting] = []  # that some of a block have had, oldest first
        self._named: _Moments = np.zeros(len(wave.blocks), np.int64)  # the last named barrier
        self._met: _Moments | None = None  # [lanes] the last meeting of its warp …
        self._with: NDArray[np.uint32] | None = None  # … and the lanes that took part
        self._apart: _Moments | None = None  # [warps] the last meeting without some of its lanes
        self._arrivals: dict[int, _Moments] = {}  # by barrier: [lanes] when each arrived there
        self._known: dict[tuple[int, bool], Known] = {}
        if self.flags is not None:
            self.flags.wave_started(wave)

    def tick(self) -> int:
        self.now += 1
        return self.now

    # ---- what is told

    def barrier_arrived(self, barrier: int, lanes: Lanes) -> None:
        moments = self._arrivals.setdefault(barrier, np.zeros(self.wave.size, np.int64))
        moments[lanes.indices()] = self.tick()
        if self.flags is not None:
            self.flags.arrived(barrier, lanes.indices())

    def barrier_passed(
        self, barrier: int, lanes: Lanes, whole: NDArray[np.bool_] | None, ahead: list[Lanes]
    ) -> None:
        indices = lanes.indices()
        if whole is not None and (ahead or not whole[self.wave.slot[indices]].all()):
            self._passed_by_some(barrier, indices[~whole[self.wave.slot[indices]]], ahead)
        moment = self.tick()
        if whole is None:
            self.whole[:] = moment
        else:
            self.whole[whole] = moment
        if self.flags is not None:
            self._barriers.append((moment, whole))
            self.flags.whole_blocks_met(whole)
        elif whole is None or whole.all():
            self._meetings.clear()
        self._known.clear()

    def _passed_by_some(self, barrier: int, met: NDArray[np.intp], ahead: list[Lanes]) -> None:
        self.about_to_order()
        moment = self.tick()
        when = self._arrivals.get(barrier)
        gone_on = [some.indices() for some in ahead if some.count]
        arrived = [(some, when[some]) for some in gone_on] if when is not None else []
        self._named[self.wave.slot[met]] = moment
        self._meetings.append(NamedMeeting(moment, met, arrived))
        self._known.clear()
        if self.flags is not None:
            self.flags.some_of_blocks_met(barrier, met, gone_on)

    def warp_met(self, instruction: Instruction, mask: Any, lanes: Lanes) -> None:
        promised = instruction.parts[0] == "bar"
        if promised:
            self.about_to_order()
        gone = self.wave.returned()
        if not promised and self._meetings and self._meetings[-1].moment == self.now:
            last = self._meetings[-1]
            if isinstance(last, WarpMeeting) and last.lanes is lanes and last.mask is mask:
                return  # the same again, and nothing has happened in between
        moment = self.tick()
        self._meetings.append(WarpMeeting(moment, promised, lanes, mask, gone))
        self._known.clear()
        if promised:
            self._remember(moment, mask, lanes, gone)

    def _remember(
        self, moment: int, mask: Any, lanes: Lanes, gone: NDArray[np.uint32] | None
    ) -> None:
        """Keep of each lane with whom it has met last; that answers most questions."""
        if self._met is None or self._with is None or self._apart is None:
            self._met = np.zeros(self.wave.size, np.int64)
            self._with = np.zeros(self.wave.size, np.uint32)
            self._apart = np.zeros(self.wave.size // WARP, np.int64)
            living = (self.wave.thread < self.wave.threads).reshape(-1, WARP)
            self._everyone = warp.as_masks(living)  # [warps] all lanes that are threads
        here = warp.present(lanes)
        if gone is not None:
            here = here | gone
        indices = lanes.indices()
        warps = indices >> 5
        members = here[warps] & np.asarray(mask, np.uint32)
        self._met[indices] = moment
        self._with[indices] = members
        self._apart[warps[members != self._everyone[warps]]] = moment
        if self.flags is not None:
            self.flags.warps_met(indices, members)

    # ---- what is asked

    def knows(
        self, lanes: NDArray[np.intp], threads: NDArray[np.int64], moments: _Moments
    ) -> NDArray[np.bool_]:
        """[count] whether each lane knows the other thread up to the moment."""
        wave, own = self.wave, self.thread[lanes]
        known: NDArray[np.bool_] = threads == own
        slot = wave.slot[lanes]
        block = threads // wave.padded
        together = block == wave.blocks[slot]
        known |= together & (moments < self.whole[slot])
        if self._met is not None and self._with is not None:
            known |= (
                (threads >> 5 == own >> 5)
                & (moments < self._met[lanes])
                & (self._with[lanes] >> (threads & 31).astype(np.uint32) & 1 != 0)
            )
        left = np.flatnonzero(~known)
        if len(left) and self.flags is not None:
            known[left] = self.flags.knows(lanes[left], block[left], threads[left], moments[left])
            left = left[~known[left]]
        if len(left) and self._meetings:
            left = left[together[left] & self._may_have_met(lanes[left], threads[left])]
            for lane in np.unique(lanes[left]).tolist():
                some = left[lanes[left] == lane]
                reach = self.reach(lane, self.now)
                known[some] = reach[threads[some] % wave.padded] >= moments[some]
        return known

    def _may_have_met(
        self, lanes: NDArray[np.intp], threads: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """[count] whether there were meetings that the last one of the lane does not tell of."""
        slot = self.wave.slot[lanes]
        may: NDArray[np.bool_] = self._named[slot] > self.whole[slot]
        if self._apart is not None:
            same_warp = threads >> 5 == self.thread[lanes] >> 5
            may |= same_warp & (self._apart[lanes >> 5] > self.whole[slot])
        return may

    def knows_group(
        self,
        lanes: NDArray[np.intp],
        blocks: NDArray[np.int64],
        warps: NDArray[np.int64],
        moments: _Moments,
    ) -> NDArray[np.bool_]:
        """[count] whether each lane knows all threads of a warp, or a block, up to a moment.

        It may know them and not be found to: then ask for each.
        blocks  of the grid; -1: all of the launch
        warps   of the grid; -1: all of the block
        """
        slot = self.wave.slot[lanes]
        known: NDArray[np.bool_] = (blocks == self.wave.blocks[slot]) & (moments < self.whole[slot])
        if self._met is not None and self._with is not None:
            known |= (
                (warps == self.thread[lanes] >> 5)
                & (moments < self._met[lanes])
                & (self._with[lanes] == self._everyone[lanes >> 5])
            )
        left = np.flatnonzero(~known)
        if len(left) and self.flags is not None:
            known[left] = self.flags.knows_blocks(lanes[left], blocks[left], moments[left])
        return known

    def met_without_promise(
        self, lanes: NDArray[np.intp], moment: int, threads: NDArray[np.int64], moments: _Moments
    ) -> NDArray[np.bool_]:
        """[count] whether only a shuffle or a vote stands between: works, and is not promised.

        Between an access of each lane at `moment` and one of another thread at a moment of its own,
        whichever came first: lanes that meet behind both have put neither before the other.
        """
        wave = self.wave
        together = threads // wave.padded == wave.blocks[wave.slot[lanes]]
        # Their lanes, as far as they are of the same block.
        others: NDArray[np.intp] = (lanes + threads - self.thread[lanes]).astype(np.intp)
        turned = moments > moment
        first, last = np.where(turned, lanes, others), np.where(turned, others, lanes)
        begin, end = np.minimum(moments, moment), np.maximum(moments, moment)
        found = np.zeros(len(lanes), bool)
        left = np.flatnonzero(together)
        for meeting in reversed(self._meetings):
            left = left[begin[left] < meeting.moment]
            if not len(left):
                break
            if isinstance(meeting, WarpMeeting):
                near = left[(lanes[left] >> 5 == others[left] >> 5) & (meeting.moment < end[left])]
                found[near] |= meeting.joins(lanes[near], others[near])
                left = left[~found[left]]
        left = np.flatnonzero(together & ~found)
        asked = np.unique(np.stack([last[left], end[left]]), axis=1).T[:_ASKED_ONE_BY_ONE]
        for lane, until in asked.tolist():
            some = left[(last[left] == lane) & (end[left] == until)]
            reach = self.reach(lane, until, promised=False)
            found[some] = reach[wave.thread[first[some]]] >= begin[some]
        return found

    def reach(self, lane: int, until: int, promised: bool = True) -> Known:
        """What a lane's thread knows of its block at a moment, without flags. Do not change it."""
        present = until == self.now
        slot = int(self.wave.slot[lane])
        begin = slot * self.wave.padded
        if present and (lane, promised) in self._known:
            known = self._known[lane, promised]
            if known[lane - begin] != until:  # it has gone on since, and met nobody
                known = known.copy()
                known[lane - begin] = until
                self._known[lane, promised] = known
            return known
        before = self._whole_before(slot, until)
        known = np.full(self.wave.padded, before, np.int64)
        known[lane - begin] = until
        for meeting in reversed(self._meetings):
            if meeting.moment <= before:
                break
            if meeting.moment <= until and (meeting.promised or not promised):
                meeting.spread(known, begin)
        if present:
            self._known[lane, promised] = known
        return known

    def _whole_before(self, slot: int, until: int) -> int:
        """The last barrier of a whole block, up to a moment."""
        if self.whole[slot] <= until:
            return int(self.whole[slot])
        for moment, whole in reversed(self._barriers):
            if moment <= until and (whole is None or whole[slot]):
                return moment
        return 0

    def last_meetings(self, lanes: NDArray[np.intp]) -> _Moments:
        """[count] the last moment at which each lane can have learned of others of its block."""
        slots = self.wave.slot[lanes]
        last: _Moments = np.maximum(self.whole[slots], self._named[slots])
        return last if self._met is None else np.maximum(last, self._met[lanes])

    def met_nobody_since(self, lanes: NDArray[np.intp]) -> _Moments:
        """[count] the last barrier of each lane's whole block, -1: it has learned of some since.

        If not, it knows itself up to now, and everybody else in its block up to that barrier.
        """
        whole = self.whole[self.wave.slot[lanes]]
        return np.where(self.last_meetings(lanes) > whole, -1, whole)

    @property
    def simple(self) -> bool:
        """Whether nothing orders accesses but barriers of whole blocks."""
        return self.flags is None and self.only_whole_blocks_met()

    def only_whole_blocks_met(self) -> bool:
        """Whether there was no order of memory in the wave but barriers of whole blocks."""
        return self._met is None and not self._named.any()
