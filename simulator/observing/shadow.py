"""Who has touched each place of a memory last, and does the next one come after that?

For each granule (the smallest access that the memory has seen) and each way of access, the shadow
keeps the last thread and its moment, and of all others that came before it the last moment and
their block. Where each access comes after those it conflicts with, the last one stands for all:
the test of FastTrack (Flanagan and Freund, 2009), for all lanes of an access at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.observing.happens_before import HappensBefore
from simulator.observing.race_ways import CONFLICTS, Between, Conflict, Way
from simulator.observing.shadow_log import ShadowLog, Touch
from simulator.observing.shadow_places import Index, granules, part, read, write
from simulator.observing.shadow_traces import WHO, Trace, group_of, joined, members, zeros

_LARGEST = 3  # shift of a granule; no element is larger


@dataclass(frozen=True, slots=True)
class Suspects:
    """Lanes of an access that come after nobody's order: each with one earlier access.

    positions  [count] the lanes, as places in the access's set
    granules   [count] where
    threads, moments  [count] of the earlier access; thread -1: not known any more
    """

    conflict: Conflict
    positions: NDArray[np.intp]
    granules: NDArray[np.int64]
    threads: NDArray[np.int64]
    moments: NDArray[np.int64]

    def where(self, mask: NDArray[np.bool_]) -> "Suspects":
        return Suspects(
            self.conflict,
            self.positions[mask],
            self.granules[mask],
            self.threads[mask],
            self.moments[mask],
        )


class Shadow:
    """The shadow of one memory of `size` bytes.

    shift  of the granules: 1 << shift bytes each
    live   what it looks at takes place now; else it has been, and nothing is forgotten
    """

    def __init__(self, order: HappensBefore, size: int, live: bool = True) -> None:
        self.order = order
        self.live = live
        self.shift = _LARGEST
        self.log = ShadowLog()
        self._size = size
        self._traces: dict[Way, Trace] = {}

    def touch(self, touch: Touch) -> Iterator[Suspects]:
        """Look at an access, and remember it once what is found has been taken."""
        access = touch.event.access
        shift = access.element.itemsize.bit_length() - 1
        if shift < self.shift:
            self._refine(shift)
        moved, index = granules(touch.event, self.shift)
        pieces = access.bytes >> self.shift
        span = self._span(touch)
        for conflict in CONFLICTS[touch.way]:
            trace = self._traces.get(conflict.earlier)
            if trace is None or trace.low >= span[1] or trace.high <= span[0]:
                continue
            for k in range(pieces):
                yield from self._last(touch, conflict, trace, moved + k, index)
                if trace.others is not None:
                    yield from self._others(touch, conflict, trace.others, moved + k, index)
        yield from self._remember(touch, moved, index, pieces, span)

    def _span(self, touch: Touch) -> tuple[int, int]:
        """Between which granules an access lies."""
        known, event = touch.event.addresses, touch.event
        if known.stretches is not None:
            return 0, -(-self._size >> self.shift)
        begin = known.low - known.origin + event.offset
        end = known.high - known.origin + event.offset + event.access.bytes
        return begin >> self.shift, end >> self.shift

    def _refine(self, shift: int) -> None:
        factor = 1 << self.shift - shift
        self.shift = shift
        size = -(-self._size >> shift)
        self._traces = {w: trace.refined(factor, size) for w, trace in self._traces.items()}

    # ---- looking

    def _last(
        self, touch: Touch, conflict: Conflict, trace: Trace, moved: int, index: Index
    ) -> Iterator[Suspects]:
        """The last thread that was there."""
        stamps = read(trace.one, moved, index)
        if not stamps.any():
            return
        positions = np.flatnonzero((stamps ^ touch.threads) & WHO)
        stamps = stamps[positions]
        some = np.flatnonzero(stamps)
        if len(some) < len(stamps):
            positions, stamps = positions[some], stamps[some]
        if len(positions):
            threads, moments = stamps & WHO, stamps >> 32
            found = self._unordered(touch, conflict, positions, threads, moments)
            if len(found.positions):
                places = part(moved, index, found.positions)
                yield Suspects(conflict, found.positions, places, found.threads, found.moments)

    def _others(
        self,
        touch: Touch,
        conflict: Conflict,
        others: NDArray[np.int64],
        moved: int,
        index: Index,
    ) -> Iterator[Suspects]:
        """Those who were there before the last one."""
        stamps = read(others, moved, index)
        positions = np.flatnonzero(stamps)
        if not len(positions):
            return
        group, moments = stamps[positions] & WHO, stamps[positions] >> 32
        blocks, warps = members(group, self.order.wave.padded)
        lanes = touch.event.lanes.indices()[positions]
        left = np.flatnonzero(~self.order.knows_group(lanes, blocks, warps, moments))
        if not len(left):
            return
        positions = positions[left]
        places = part(moved, index, positions)
        wanted = np.unique(places)
        parties = self.log.who(wanted, conflict.earlier, self.shift, int(moments[left].max()))
        # Every pair of a lane and somebody who was at the same place.
        rising = np.argsort(parties.granules, kind="stable")
        sorted_places = parties.granules[rising]
        first = np.searchsorted(sorted_places, places)
        counts = np.searchsorted(sorted_places, places, side="right") - first
        lane = np.repeat(np.arange(len(places)), counts)
        nth = np.arange(len(lane)) - np.repeat(np.cumsum(counts) - counts, counts)
        pairs = rising[first[lane] + nth]
        found = self._unordered(
            touch, conflict, positions[lane], parties.threads[pairs], parties.moments[pairs]
        )
        if len(found.positions):
            at = part(moved, index, found.positions)
            yield Suspects(conflict, found.positions, at, found.threads, found.moments)
        elif not self.log.complete and self.order.simple:
            # The one who was there is forgotten; without finer orders he cannot have been ordered.
            gone = np.flatnonzero(counts == 0)
            if len(gone) and conflict.between is not Between.WARP:
                nobody = np.full(len(gone), -1, np.int64)
                when = moments[left[gone]]
                yield Suspects(conflict, positions[gone], places[gone], nobody, when)

    def _unordered(
        self,
        touch: Touch,
        conflict: Conflict,
        positions: NDArray[np.intp],
        threads: NDArray[np.int64],
        moments: NDArray[np.int64],
    ) -> Suspects:
        """Of pairs of a lane and an earlier access, those that conflict and have no order."""
        own = touch.threads[positions]
        counted = own != threads
        if conflict.between is Between.BLOCKS:
            padded = self.order.wave.padded
            counted &= own // padded != threads // padded
        elif conflict.between is Between.WARP:
            counted &= own >> 5 == threads >> 5
        some = np.flatnonzero(counted)
        if len(some):
            lanes = touch.event.lanes.indices()[positions[some]]
            some = some[~self.order.knows(lanes, threads[some], moments[some])]
        nowhere = np.zeros(len(some), np.int64)
        return Suspects(conflict, positions[some], nowhere, threads[some], moments[some])

    # ---- remembering

    def _remember(
        self, touch: Touch, moved: int, index: Index, pieces: int, span: tuple[int, int]
    ) -> Iterator[Suspects]:
        trace = self._traces.get(touch.way)
        if trace is None:
            trace = self._traces[touch.way] = Trace(-(-self._size >> self.shift))
        fresh = trace.low >= span[1] or trace.high <= span[0]
        stamps = touch.threads | np.int64(touch.moment << 32)
        itself = [c for c in CONFLICTS[touch.way] if c.earlier is touch.way]
        memo = touch.event.addresses.memo
        apart = isinstance(index, slice) or memo.get("apart", False)
        for k in range(pieces):
            if not fresh:
                self._push(trace, touch, moved + k, index)
            write(trace.one, moved + k, index, stamps)
            if apart:
                continue
            winners = read(trace.one, moved + k, index)
            lost = np.flatnonzero(winners != stamps)
            memo["apart"] = not len(lost)
            if not len(lost):
                continue
            self._push_lost(trace, touch, lost, part(moved + k, index, lost))
            for conflict in itself:
                some, threads = lost, winners[lost] & WHO
                if conflict.between is Between.WARP:
                    places = part(moved + k, index, np.arange(len(stamps)))
                    some, threads = _neighbours(places, touch.threads)
                moments = np.full(len(some), touch.moment)
                found = self._unordered(touch, conflict, some, threads, moments)
                if len(found.positions):
                    at = part(moved + k, index, found.positions)
                    yield Suspects(conflict, found.positions, at, found.threads, found.moments)
        trace.low, trace.high = min(trace.low, span[0]), max(trace.high, span[1])
        self.log.add(touch, for_good=not self.live)

    def _push(self, trace: Trace, touch: Touch, moved: int, index: Index) -> None:
        """Keep of the last one at each place that others were there, if it is not the same."""
        stamps = read(trace.one, moved, index)
        if not stamps.any():
            return
        positions = np.flatnonzero((stamps ^ touch.threads) & WHO)
        stamps = stamps[positions]
        wave = self.order.wave
        lanes = touch.event.lanes.indices()[positions]
        blocks, slots = (stamps & WHO) // wave.padded, wave.slot[lanes]
        # Whoever comes after this access comes after what its block did before its last barrier.
        past = (blocks == wave.blocks[slots]) & (stamps >> 32 < self.order.whole[slots])
        some = np.flatnonzero(~past & (stamps != 0))
        if not len(some):
            return
        if trace.others is None:
            trace.others = zeros(len(trace.one))
        places = part(moved, index, positions[some])
        kept = trace.others[places]
        group = joined(kept & WHO, group_of(stamps[some] & WHO), wave.padded)
        # What is replayed in the order of the code need not rise in its moments.
        trace.others[places] = _moments_of(np.maximum(kept, stamps[some])) | group

    def _push_lost(
        self, trace: Trace, touch: Touch, lost: NDArray[np.intp], places: NDArray[np.int64]
    ) -> None:
        """Lanes of one access that were at the same place as another of it."""
        if trace.others is None:
            trace.others = zeros(len(trace.one))
        others = trace.others
        moment = _moments_of(np.maximum(others[places], np.int64(touch.moment << 32)))
        padded = self.order.wave.padded
        group = joined(others[places] & WHO, group_of(touch.threads[lost]), padded)
        others[places] = moment | group
        while True:  # lanes of several groups at one place: until the group there holds them all
            kept = others[places] & WHO
            wider = joined(kept, group, padded)
            late = np.flatnonzero(wider != kept)
            if not len(late):
                break
            others[places[late]] = moment[late] | wider[late]


def _moments_of(stamps: NDArray[np.int64]) -> NDArray[np.int64]:
    """[count] stamps without their threads."""
    return stamps >> 32 << 32


def _neighbours(
    places: NDArray[np.int64], threads: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """(positions, the next lower thread at the same place) of those that are not alone there."""
    order = np.lexsort((threads, places))
    same = np.flatnonzero(places[order][1:] == places[order][:-1])
    return order[same + 1], threads[order[same]]
