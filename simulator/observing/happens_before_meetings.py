"""Meetings of some threads of a block: who learns of whom, and up to which moment.

A barrier that all threads of a block pass is the simple case, and `happens_before.py` keeps one
moment a block for it. Here are the others: lanes of a warp, threads at a named barrier.

What a thread knows is an array `known` [threads of its block, padded to whole warps]: of each
thread, the last moment that lies before its own present. It is worked out backwards: at the latest
meeting first, whoever knows of a participant's moment behind it knows all participants up to it.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simulator.running.lanes import WARP, Lanes

Known = NDArray[np.int64]  # [threads of a block, padded]


class Meeting(Protocol):
    """moment  when it took place; promised: whether CUDA promises that it orders memory."""

    moment: int
    promised: bool

    def spread(self, known: Known, begin: int) -> None:
        """Let who knows of the meeting know its participants; begin: the block's first lane."""


@dataclass(slots=True)
class WarpMeeting:
    """bar.warp.sync, or a shuffle, vote, match or sum of a warp (which promise no order).

    mask  whom each lane names: a scalar or [lanes.count]
    gone  [warps of the wave] those who had returned; they have come all the same
    """

    moment: int
    promised: bool
    lanes: Lanes
    mask: Any
    gone: NDArray[np.uint32] | None

    def spread(self, known: Known, begin: int) -> None:
        local, masks = self._of_block(begin, len(known))
        aware = np.flatnonzero(known[local] >= self.moment)
        if not len(aware):
            return
        for warp in np.unique(local[aware] >> 5).tolist():
            here = local >> 5 == warp
            present = int(np.bitwise_or.reduce(np.uint32(1) << (local[here] & 31).astype("u4")))
            if self.gone is not None:
                present |= int(self.gone[(begin >> 5) + warp])
            for mask in np.unique(masks[aware[local[aware] >> 5 == warp]]).tolist():
                members = warp * WARP + bits(present & mask)
                known[members] = np.maximum(known[members], self.moment)

    def _of_block(self, begin: int, size: int) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
        """(places in the block of the lanes that met, the mask of each)."""
        if self.lanes.index is None:
            places = slice(begin, begin + size)
            local = np.arange(size)
        else:
            first, end = np.searchsorted(self.lanes.index, (begin, begin + size))
            places = slice(first, end)
            local = self.lanes.index[places] - begin
        mask = np.asarray(self.mask, np.uint32)
        masks = np.full(len(local), mask) if mask.ndim == 0 else mask[places]
        return local, masks

    def joins(self, lanes: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.bool_]:
        """[count] whether each of these lanes met the other one, of the same warp, here."""
        index = self.lanes.index
        mask = np.asarray(self.mask, np.uint32)
        if index is None:
            here = np.ones(len(lanes), bool)
            named = mask if mask.ndim == 0 else mask[lanes]
        else:
            place = np.minimum(np.searchsorted(index, lanes), len(index) - 1)
            there = np.minimum(np.searchsorted(index, others), len(index) - 1)
            here = (index[place] == lanes) & (index[there] == others)
            named = mask if mask.ndim == 0 else mask[place]
        met: NDArray[np.bool_] = here & (named >> (others & 31).astype(np.uint32) & 1 != 0)
        return met


@dataclass(slots=True)
class NamedMeeting:
    """A barrier that some threads of a block pass, and that others only arrive at.

    lanes    those that waited for each other, rising
    arrived  those that had arrived and gone on, and when each did
    """

    moment: int
    lanes: NDArray[np.intp]
    arrived: list[tuple[NDArray[np.intp], NDArray[np.int64]]]
    promised: bool = True

    def spread(self, known: Known, begin: int) -> None:
        met = _inside(self.lanes, begin, len(known))
        if not (known[met] >= self.moment).any():
            return
        known[met] = np.maximum(known[met], self.moment)
        for lanes, moments in self.arrived:
            here = (lanes >= begin) & (lanes < begin + len(known))
            local = lanes[here] - begin
            known[local] = np.maximum(known[local], moments[here])


def _inside(lanes: NDArray[np.intp], begin: int, size: int) -> NDArray[np.intp]:
    first, end = np.searchsorted(lanes, (begin, begin + size))
    return lanes[first:end] - begin


def bits(mask: int) -> NDArray[np.intp]:
    """The places of the bits that are set in a mask of 32."""
    return np.flatnonzero(mask >> np.arange(WARP) & 1)
