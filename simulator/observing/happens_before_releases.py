"""What a strong write releases: what its thread knew at its last fence, or knows now.

Fences of other threads of the block count too, if a barrier or a meeting of the warp puts them
before the write.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Access
from simulator.observing.happens_before_accesses import StrongAccess
from simulator.observing.happens_before_clocks import NOTHING, Clock, Clocks, Item
from simulator.observing.happens_before_meetings import Known
from simulator.running.wave import Wave

if TYPE_CHECKING:
    from simulator.observing.happens_before import HappensBefore

_Indices = NDArray[np.intp]
_NEVER = np.iinfo(np.int64).max


class Fences:
    """The fences of a wave.

    last  by whether the fence must reach the grid: [lanes] the moment of the last one, 0: none
    first  the same of the first one
    view  the same: [lanes] the clock of what the lane had acquired by then
    """

    def __init__(self, lanes: int) -> None:
        self.last = {wide: np.zeros(lanes, np.int64) for wide in (False, True)}
        self.first = {wide: np.zeros(lanes, np.int64) for wide in (False, True)}
        self.view = {wide: np.zeros(lanes, np.int32) for wide in (False, True)}
        self._all: list[tuple[int, _Indices, bool, Clock]] = []

    def __len__(self) -> int:
        return len(self._all)

    def add(self, moment: int, lanes: _Indices, wide: bool, acquired: Clock) -> None:
        views = acquired[lanes]
        self._all.append((moment, lanes, wide, views))
        for reach in (False, True) if wide else (False,):
            self.last[reach][lanes] = moment
            first = self.first[reach][lanes]
            self.first[reach][lanes] = np.where(first == 0, moment, first)
            self.view[reach][lanes] = views

    def before(
        self, lanes: _Indices, moments: NDArray[np.int64], wide: bool
    ) -> tuple[NDArray[np.int64], Clock]:
        """([count] each lane's last fence up to a moment, or 0; the clock of that fence)."""
        found, views = self.last[wide][lanes], self.view[wide][lanes]
        late = np.flatnonzero(found > moments)
        found[late], views[late] = 0, NOTHING
        for moment, those, reach, clocks in reversed(self._all):
            if not len(late):
                break
            if wide and not reach:
                continue
            place = np.minimum(np.searchsorted(those, lanes[late]), len(those) - 1)
            hit = (those[place] == lanes[late]) & (moment <= moments[late])
            found[late[hit]] = moment
            views[late[hit]] = clocks[place[hit]]
            late = late[~hit]
        return found, views


class Releases:
    """What the writes of a wave release."""

    def __init__(
        self,
        order: "HappensBefore",
        wave: Wave,
        fences: Fences,
        clocks: Clocks,
        acquired: Callable[[], Clock],
    ) -> None:
        self._order, self._wave, self._fences, self._clocks = order, wave, fences, clocks
        self._acquired = acquired
        self._kept: dict[tuple[int, int, int, bool], int] = {}

    def possible(self, access: Access) -> bool:
        return access.releases or len(self._fences) > 0

    def lanes(self, access: Access, lanes: _Indices) -> NDArray[np.bool_]:
        """[count] which of these lanes may release anything by an access."""
        if access.releases:
            return np.ones(len(lanes), bool)
        wave, first = self._order.wave, self._fences.first[False]
        begun = np.where(first > 0, first, _NEVER).reshape(-1, wave.padded).min(axis=1)
        others = begun[wave.slot[lanes]] <= self._order.last_meetings(lanes)
        found: NDArray[np.bool_] = (first[lanes] > 0) | others
        return found

    def of(self, what: StrongAccess, position: int) -> list[Item]:
        """What one lane's strong write releases: at most to the grid, and more to its block."""
        wave, access, lane = self._wave, what.access, int(what.lanes[position])
        block = int(wave.blocks[wave.slot[lane]])
        if access.releases:
            views, own = (int(self._acquired()[lane]),), (lane % wave.padded, what.moment)
            known: Known | int = int(what.before[position])
            if known < 0:
                known = np.maximum(self._order.reach(lane, what.moment), 0)
            clock = self._clocks.release(block, known, views, own)
            return [Item(clock, not access.narrow, block)]
        to_grid = NOTHING if access.narrow else self._by_fences(lane, block, True)
        items = [Item(to_grid, True, block)] if to_grid else []
        begin = lane - lane % wave.padded
        narrow, wide = (self._fences.last[w][begin : begin + wave.padded] for w in (False, True))
        if access.narrow or (narrow > wide).any():
            to_block = self._by_fences(lane, block, False)
            if to_block:
                items.append(Item(to_block, False, block))
        return items

    def _by_fences(self, lane: int, block: int, wide: bool) -> int:
        order, last = self._order, self._fences.last[wide]
        fence, met = int(last[lane]), int(order.last_meetings(np.array([lane]))[0])
        if fence > met:
            # Nobody's fence tells more: what others knew by the last meeting, this lane knew too.
            key = (lane, fence, 0, False)
            if key not in self._kept:
                view = int(self._fences.view[wide][lane])
                known = order.reach(lane, fence)
                self._kept[key] = self._clocks.release(block, known, (view,))
            return self._kept[key]
        begin = int(order.wave.slot[lane]) * order.wave.padded
        first = self._fences.first[wide][begin : begin + order.wave.padded]
        if not ((first > 0) & (first <= met)).any():
            return NOTHING
        key = (lane, met, len(self._fences), wide)
        if key not in self._kept:
            self._kept[key] = self._by_others(lane, block, wide)
        return self._kept[key]

    def _by_others(self, lane: int, block: int, wide: bool) -> int:
        """By the fences of a block that come before this lane's present."""
        order, padded = self._order, self._order.wave.padded
        begin = int(order.wave.slot[lane]) * padded
        reach = order.reach(lane, order.now)
        fenced = np.flatnonzero(self._fences.last[wide][begin : begin + padded])
        moments, views = self._fences.before(begin + fenced, reach[fenced], wide)
        fenced, views, moments = fenced[moments > 0], views[moments > 0], moments[moments > 0]
        if not len(fenced):
            return NOTHING
        known = np.zeros(padded, np.int64)
        if order.only_whole_blocks_met():
            known[:] = order.reach(begin + int(fenced[-1]), int(moments.max())).min()
            known[fenced] = moments
        else:
            for thread, moment in zip(fenced.tolist(), moments.tolist(), strict=True):
                np.maximum(known, order.reach(begin + thread, moment), out=known)
        return self._clocks.release(block, known, tuple(set(views.tolist())))
