"""Flags: who releases what it knows by a strong write, and who acquires it by a strong read.

A release is a strong write that is one itself (`st.release`), or one behind a fence; an acquire is
a strong read that is one itself, or one before a fence. "Behind" and "before" go through the
barriers of a block too: where every thread has a fence of its own and one of them, behind the
barrier, raises the flag, what all had written before their fences is released. A word keeps what
was released to it through all updates, until somebody stores to it. Sources: PTX ISA, "Memory
Consistency Model", release and acquire patterns, observation through read-modify-writes.

Nothing of this is worked out before somebody asks: until then, what hands on waits in a list, where
it needs nothing but itself. In a kernel whose accesses need no flags nobody ever asks.

Each lane has three clocks: what it has *acquired*, and what it has *seen* and would acquire with a
fence for its block, or for the grid.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import NARROW_SCOPES, Access, Kind, MemoryEvent, Space
from simulator.observing.happens_before_accesses import StrongAccess, places_of
from simulator.observing.happens_before_clocks import NOTHING, Clock, Clocks, History
from simulator.observing.happens_before_releases import Fences, Releases
from simulator.reading.ptx import Instruction
from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import Wave

if TYPE_CHECKING:
    from simulator.observing.happens_before import HappensBefore

_Indices = NDArray[np.intp]


class Flags:
    """Releases and acquires of one launch.

    order     the order that barriers give; it asks here for the rest
    acquired  [lanes of the wave] clocks
    """

    order: "HappensBefore"

    def __init__(
        self,
        blocks: int,
        padded: int,
        threads: int,
        launched: NDArray[np.int64],
        patient: bool = False,
    ) -> None:
        """blocks of the grid; padded, threads of a block; launched: the blocks that run.

        patient  nobody has to be told at once when lanes acquire something
        """
        self.clocks = Clocks(blocks, threads, padded)
        self._padded = padded
        self._launched = launched
        self._patient = patient
        self._waiting: list[Callable[[], None]] = []  # what has been done, and not taken up yet
        self._all_meet = partial(self._meet, None)
        self._words: dict[int, dict[int, History]] = {}  # by their base, and their place
        self._released_in: dict[int, object] = {}  # base -> buffer, so that its identity stays its

    def wave_started(self, wave: Wave) -> None:
        self.fences = Fences(wave.size)
        self.releases = Releases(self.order, wave, self.fences, self.clocks, lambda: self.acquired)
        self._do(partial(self._begin, wave), may_wait=bool(self._waiting))

    def _begin(self, wave: Wave) -> None:
        self.wave = wave
        self.acquired: Clock = np.zeros(wave.size, np.int32)
        self._seen: dict[bool, Clock] = {}  # by the fence that it needs: for the grid?
        for wide in (False, True):
            self._seen[wide] = np.zeros(wave.size, np.int32)
        self._any = False  # whether any clock of the wave is not NOTHING
        self._arrived: dict[int, Clock] = {}  # by barrier: [lanes] acquired when it arrived there
        self._words.pop(0, None)

    # ---- barriers and meetings hand on what lanes have acquired and seen

    def whole_blocks_met(self, whole: NDArray[np.bool_] | None) -> None:
        if whole is None and self._waiting and self._waiting[-1] is self._all_meet:
            return  # the same again, and nothing has happened in between
        meet = self._all_meet if whole is None else partial(self._meet, whole.copy())
        self._do(meet, may_wait=bool(self._waiting))

    def _meet(self, whole: NDArray[np.bool_] | None) -> None:
        if not self._any:
            return
        for clocks in (self.acquired, *self._seen.values()):
            rows = clocks.reshape(-1, self._padded)
            differ = (rows != rows[:, :1]).any(axis=1)
            for slot in np.flatnonzero(differ if whole is None else differ & whole).tolist():
                rows[slot] = self.clocks.join_all(rows[slot])

    def some_of_blocks_met(self, barrier: int, met: _Indices, gone_on: list[_Indices]) -> None:
        self._catch_up()
        if not self._any:
            return
        when = self._arrived.get(barrier, self.acquired)
        slots = self.wave.slot[met]
        for slot in np.unique(slots).tolist():
            some = met[slots == slot]
            handed = [when[a[self.wave.slot[a] == slot]] for a in gone_on]
            self.acquired[some] = self.clocks.join_all(
                np.concatenate([self.acquired[some], *handed])
            )
            for seen in self._seen.values():
                seen[some] = self.clocks.join_all(seen[some])

    def arrived(self, barrier: int, lanes: _Indices) -> None:
        self._catch_up()
        clocks = self._arrived.setdefault(barrier, np.zeros(self.wave.size, np.int32))
        clocks[lanes] = self.acquired[lanes]

    def warps_met(self, lanes: _Indices, members: NDArray[np.uint32]) -> None:
        """Lanes of warps met; members [count]: with whom each did."""
        self._catch_up()
        if not self._any:
            return
        for clocks in (self.acquired, *self._seen.values()):
            rows = clocks.reshape(-1, WARP)
            differ = (rows != rows[:, :1]).any(axis=1)
            some = np.flatnonzero(differ[lanes >> 5])
            groups = (lanes[some] >> 5).astype(np.int64) << 32 | members[some]
            for group in np.unique(groups).tolist():
                together = lanes[some[groups == group]]
                clocks[together] = self.clocks.join_all(clocks[together])

    # ---- fences and strong accesses

    def fenced(self, instruction: Instruction, lanes: Lanes) -> None:
        wide, indices = not NARROW_SCOPES & set(instruction.parts), lanes.indices()
        if not len(indices):
            return
        self._catch_up()
        if self._any:
            seen = self._seen[wide][indices]  # what a fence for the block needs, one for all has
            if seen.any():
                self._acquire(indices, seen)
            for reach in (False, True) if wide else (False,):
                self._seen[reach][indices] = NOTHING
        self.fences.add(self.order.tick(), indices, wide, self.acquired)

    def accessed(
        self,
        event: MemoryEvent,
        wrote: NDArray[np.bool_] | None = None,
        turns: NDArray[np.intp] | None = None,
    ) -> None:
        """A strong access by some lanes, or a plain store: what it releases, sees and ends."""
        access, lanes = event.access, event.lanes.indices()
        writes = access.kind is not Kind.LOAD
        may_release = writes and access.strong and self.releases.possible(access)
        base = id(event.buffer) if access.space is Space.GLOBAL else 0
        if may_release:
            self._released_in[base] = event.buffer
        elif base not in self._released_in:
            return
        releasing = np.zeros(len(lanes), bool)
        if may_release:
            releasing = self.releases.lanes(access, lanes)
            if wrote is not None:
                releasing &= wrote
        turns = np.arange(len(lanes)) if turns is None else turns
        before, moment = self.order.met_nobody_since(lanes), self.order.now
        what = StrongAccess(access, base, lanes, places_of(event), turns, releasing, before, moment)
        may_wait = self._patient and writes and what.stands_alone
        self._do(partial(self._take_up, self.releases, what), may_wait)

    def _do(self, act: Callable[[], None], may_wait: bool) -> None:
        """Do something once all before it is done: now, or when somebody asks what it has done."""
        if may_wait:
            self._waiting.append(act)
            return
        self._catch_up()
        act()

    def _catch_up(self) -> None:
        waiting, self._waiting = self._waiting, []
        for act in waiting:
            act()

    def _take_up(self, releases: Releases, what: StrongAccess) -> None:
        words = self._words.get(what.base, {})
        concerned = np.zeros(len(what.places), bool)
        if words:
            concerned = np.isin(what.places, np.fromiter(words, np.int64, len(words)))
        if what.access.kind is Kind.LOAD:
            for place, here in what.by_place(concerned):
                self._see(what.access, what.lanes[here], words[place])
            return
        if what.releasing.any():  # lanes see each other's updates
            concerned |= np.isin(what.places, what.places[what.releasing])
            words = self._words.setdefault(what.base, words)
        for place, here in what.by_place(concerned):
            self._take_turns(releases, what, words, place, here)

    def _take_turns(
        self,
        releases: Releases,
        what: StrongAccess,
        words: dict[int, History],
        place: int,
        here: _Indices,
    ) -> None:
        """Lanes write one word, one after another; those between two releases see the same."""
        atomic, lanes = what.access.kind is Kind.ATOMIC, what.lanes[here]
        history = words.get(place)
        if history is not None and not atomic:
            history = None
            del words[place]
        begin = 0
        for end in [*np.flatnonzero(what.releasing[here]).tolist(), len(lanes)]:
            if what.reads and history is not None and begin < len(lanes):
                self._see(what.access, lanes[begin : end + 1], history)
            if end == len(lanes):
                break
            items = releases.of(what, int(here[end]))
            if not atomic and history is not None:
                history = None
                del words[place]
            if items:
                history = history or words.setdefault(place, History())
                for item in items:
                    history.add(item)
            begin = end + 1

    def _see(self, access: Access, lanes: _Indices, history: History) -> None:
        """Lanes see the last write to a word."""
        slots = self.wave.slot[lanes]
        groups = [(int(slots[0]), lanes)]
        if len(lanes) > 1 and (not history.all_wide or (slots != slots[0]).any()):
            groups = [(int(s), lanes[slots == s]) for s in np.unique(slots)]
        for slot, some in groups:
            block, count = int(self.wave.blocks[slot]), len(history.items)
            prefix = partial(self.clocks.prefix, history, count, block)
            self._any = True
            if access.acquires:
                self._acquire(some, prefix(own=access.narrow))
                continue
            own = prefix(own=True)
            every = own if access.narrow else prefix(own=False)
            for wide, clock in ((False, own), (True, every)):
                if clock:
                    seen = self._seen[wide]
                    seen[some] = self.clocks.join_each(seen[some], clock)

    def _acquire(self, lanes: _Indices, clocks: Clock | int) -> None:
        self._any = True
        before = self.acquired[lanes]
        after = self.clocks.join_each(before, clocks)
        if (after != before).any():
            self.order.about_to_order()
            self.acquired[lanes] = after

    # ---- what is asked

    def knows(
        self,
        lanes: _Indices,
        blocks: NDArray[np.int64],
        threads: NDArray[np.int64],
        moments: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """[count] whether lanes have acquired what a thread of the grid did up to a moment."""
        self._catch_up()
        if not self._any:
            return np.zeros(len(lanes), bool)
        return self.clocks.knows(self.acquired[lanes], blocks, threads % self._padded, moments)

    def knows_blocks(
        self, lanes: _Indices, blocks: NDArray[np.int64], moments: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """[count] whether lanes have acquired all that a block did up to a moment.

        blocks  -1: all blocks of the launch
        """
        self._catch_up()
        known = np.zeros(len(lanes), bool)
        acquired = self.acquired[lanes]
        for clock in np.unique(acquired).tolist() if self._any else ():
            if clock:
                whole = self.clocks.whole(clock)
                some = np.flatnonzero(acquired == clock)
                reach = whole[blocks[some]]
                reach[blocks[some] < 0] = whole[self._launched].min()
                known[some] = reach >= moments[some]
        return known

    def has_seen(self, lane: int, thread: int, moment: int) -> bool:
        """Whether a fence for the grid is all that a lane lacks to know of it."""
        self._catch_up()
        block, clocks = np.array([thread // self._padded]), self._seen[True][lane : lane + 1]
        place, when = np.array([thread % self._padded]), np.array([moment])
        return self._any and bool(self.clocks.knows(clocks, block, place, when)[0])
