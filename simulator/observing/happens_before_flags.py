"""Flags: who releases what it knows by a strong write, and who acquires it by a strong read.

A release is a strong write that is one itself (`st.release`), or one behind a fence; an acquire is
a strong read that is one itself, or one before a fence. "Behind" and "before" go through the
barriers of a block too: where every thread has a fence of its own and one of them, behind the
barrier, raises the flag, what all had written before their fences is released. A word keeps what
was released to it through all updates, until somebody stores to it. Sources: PTX ISA, "Memory
Consistency Model", release and acquire patterns, observation through read-modify-writes.

Each lane has three clocks: what it has *acquired*, and what it has *seen* and would acquire with a
fence for its block, or for the grid.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import NARROW_SCOPES, Kind, MemoryEvent, Space
from simulator.observing.happens_before_clocks import NOTHING, Clock, Clocks, History
from simulator.observing.happens_before_releases import Fences, Releases
from simulator.reading.ptx import Instruction
from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import Wave

if TYPE_CHECKING:
    from simulator.observing.happens_before import HappensBefore

_Word = tuple[int, int]  # a buffer, or 0 for shared memory; the byte in it
_Indices = NDArray[np.intp]


class Flags:
    """Releases and acquires of one launch.

    order     the order that barriers give; it asks here for the rest
    acquired  [lanes of the wave] clocks
    """

    order: "HappensBefore"

    def __init__(self, blocks: int, padded: int, threads: int, launched: NDArray[np.int64]) -> None:
        """blocks of the grid; padded, threads of a block; launched: the blocks that run."""
        self.clocks = Clocks(blocks, threads)
        self._padded = padded
        self._launched = launched
        self._words: dict[_Word, History] = {}
        self._buffers: dict[int, object] = {}  # kept, so that their identity stays theirs

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave
        self.acquired: Clock = np.zeros(wave.size, np.int32)
        self._seen: dict[bool, Clock] = {}  # by the fence that it needs: for the grid?
        for wide in (False, True):
            self._seen[wide] = np.zeros(wave.size, np.int32)
        self._any = False  # whether any clock of the wave is not NOTHING
        self._arrived: dict[int, Clock] = {}  # by barrier: [lanes] acquired when it arrived there
        self._words = {word: h for word, h in self._words.items() if word[0]}
        self.fences = Fences(wave.size)
        self.releases = Releases(self.order, self.fences, self.clocks, lambda: self.acquired)

    # ---- barriers and meetings hand on what lanes have acquired and seen

    def whole_blocks_met(self, whole: NDArray[np.bool_] | None) -> None:
        if not self._any:
            return
        for clocks in (self.acquired, *self._seen.values()):
            rows = clocks.reshape(-1, self._padded)
            differ = (rows != rows[:, :1]).any(axis=1)
            for slot in np.flatnonzero(differ if whole is None else differ & whole).tolist():
                rows[slot] = self.clocks.join_all(rows[slot])

    def some_of_blocks_met(self, barrier: int, met: _Indices, gone_on: list[_Indices]) -> None:
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
        clocks = self._arrived.setdefault(barrier, np.zeros(self.wave.size, np.int32))
        clocks[lanes] = self.acquired[lanes]

    def warps_met(self, lanes: _Indices, members: NDArray[np.uint32]) -> None:
        """Lanes of warps met; members [count]: with whom each did."""
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
        wide = not NARROW_SCOPES & set(instruction.parts)
        indices = lanes.indices()
        if not len(indices):
            return
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
        reads = access.kind is Kind.LOAD or (access.kind is Kind.ATOMIC and access.wanted)
        writes = access.kind is not Kind.LOAD
        if not (self._words or (writes and access.strong and self.releases.possible(access))):
            return
        base = 0
        if access.space is Space.GLOBAL:
            base = id(event.buffer)
            self._buffers[base] = event.buffer
        places = _places(event)
        if not writes:
            self._look(event, base, lanes, places)
            return
        concerned = self._with_history(base, places)
        releasing = np.zeros(len(lanes), bool)
        if access.strong and self.releases.possible(access):
            releasing = self.releases.lanes(access, lanes)
            if wrote is not None:
                releasing &= wrote
            concerned |= np.isin(places, places[releasing])  # lanes see each other's updates
        order = np.arange(len(lanes)) if turns is None else turns
        order = order[concerned[order]]
        for place in np.unique(places[order]).tolist():
            here = order[places[order] == place]
            self._take_turns(event, (base, place), lanes[here], releasing[here], reads)

    def _take_turns(
        self,
        event: MemoryEvent,
        word: _Word,
        lanes: _Indices,
        releasing: NDArray[np.bool_],
        reads: bool,
    ) -> None:
        """Lanes write one word, one after another; those between two releases see the same."""
        access, atomic = event.access, event.access.kind is Kind.ATOMIC
        if not atomic:
            self._words.pop(word, None)
        begin = 0
        for end in [*np.flatnonzero(releasing).tolist(), len(lanes)]:
            history = self._words.get(word)
            if reads and history is not None and begin < len(lanes):
                self._see(event, lanes[begin : end + 1], history)
            if end == len(lanes):
                break
            items = self.releases.of(access, int(lanes[end]))
            if not atomic:
                self._words.pop(word, None)
            if items:
                history = self._words.setdefault(word, History())
                for item in items:
                    history.add(item)
            begin = end + 1

    def _with_history(self, base: int, places: _Indices) -> NDArray[np.bool_]:
        """[count] which of these places anybody has released anything to."""
        known = [word[1] for word in self._words if word[0] == base]
        return np.isin(places, known) if known else np.zeros(len(places), bool)

    def _look(self, event: MemoryEvent, base: int, lanes: _Indices, places: _Indices) -> None:
        """Strong reads: many lanes may look at few words."""
        concerned = self._with_history(base, places)
        for place in sorted(set(places[concerned].tolist())):
            self._see(event, lanes[places == place], self._words[base, place])

    def _see(self, event: MemoryEvent, lanes: _Indices, history: History) -> None:
        """Lanes see the last write to a word."""
        access, count = event.access, len(history.items)
        slots = self.wave.slot[lanes]
        groups = [(int(slots[0]), lanes)]
        if not history.all_wide or len(np.unique(slots)) > 1:
            groups = [(int(s), lanes[slots == s]) for s in np.unique(slots)]
        for slot, some in groups:
            block = int(self.wave.blocks[slot])
            own = self.clocks.prefix(history, count, block, own=True)
            every = own if access.narrow else self.clocks.prefix(history, count, block, own=False)
            self._any = True
            if access.acquires:
                self._acquire(some, np.full(len(some), every, np.int32))
                continue
            for wide, clock in ((False, own), (True, every)):
                seen = self._seen[wide]
                if clock:
                    new = np.full(len(some), clock, np.int32)
                    seen[some] = self.clocks.join_each(seen[some], new)

    def _acquire(self, lanes: _Indices, clocks: Clock) -> None:
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
        if not self._any:
            return np.zeros(len(lanes), bool)
        return self.clocks.knows(self.acquired[lanes], blocks, threads % self._padded, moments)

    def knows_blocks(
        self, lanes: _Indices, blocks: NDArray[np.int64], moments: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """[count] whether lanes have acquired all that a block did up to a moment.

        blocks  -1: all blocks of the launch
        """
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
        block, clocks = np.array([thread // self._padded]), self._seen[True][lane : lane + 1]
        place, when = np.array([thread % self._padded]), np.array([moment])
        return self._any and bool(self.clocks.knows(clocks, block, place, when)[0])


def _places(event: MemoryEvent) -> _Indices:
    """[count] the byte of its memory at which each lane's access begins."""
    places = event.addresses.offsets() + event.offset
    if event.addresses.stretches is not None:
        places = places + event.addresses.stretches.starts(event.lanes, 0)
    return places
