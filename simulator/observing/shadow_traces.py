"""What a shadow keeps of each granule: the last access of one way, and who came before it."""

import mmap
import sys

import numpy as np
from numpy.typing import NDArray

from simulator.running.lanes import WARP

WHO = np.int64(0xFFFF_FFFF)  # the thread in a stamp, or a group; the moment stands above
_BLOCK = np.int64(0x8000_0000)  # set in the group of a block
_MANY = WHO  # the group of several blocks
_NO_RESERVE = 0x4000  # MAP_NORESERVE of Linux, which Python's mmap does not name yet
Stamps = NDArray[np.int64]


class Trace:
    """The last accesses of one way, [granules] each; 0: none.

    one       moment << 32 | thread
    others    moment << 32 | group: of accesses by other threads, before that one. The group is
              their warp + 1, or their block + 1 and the bit above, or the value of several blocks
    low, high where any access has been
    """

    __slots__ = ("one", "others", "low", "high")

    def __init__(self, size: int) -> None:
        self.one = zeros(size)
        self.others: NDArray[np.int64] | None = None
        self.low, self.high = size, 0

    def refined(self, factor: int, size: int) -> "Trace":
        """The same for granules that are smaller."""
        made, touched = Trace(size), slice(self.low, self.high)
        made.low, made.high = self.low * factor, min(self.high * factor, size)
        count = max(0, made.high - made.low)
        made.one[made.low : made.high] = np.repeat(self.one[touched], factor)[:count]
        if self.others is not None:
            made.others = zeros(size)
            made.others[made.low : made.high] = np.repeat(self.others[touched], factor)[:count]
        return made


def group_of(threads: Stamps) -> Stamps:
    """[count] the smallest group that holds a thread: its warp."""
    return (threads >> 5) + 1


def members(group: Stamps, padded: int) -> tuple[Stamps, Stamps]:
    """([count] the block of a group, -1: several; its warp, -1: several).

    padded  threads of a block, up to whole warps
    """
    warps = np.where(group < _BLOCK, group - 1, -1)
    blocks = np.where(group < _BLOCK, (group - 1) * WARP // padded, (group ^ _BLOCK) - 1)
    return np.where(group == _MANY, -1, blocks), warps


def joined(one: Stamps, other: Stamps, padded: int) -> Stamps:
    """[count] the group that holds two; 0 holds nobody."""
    block = members(one, padded)[0]
    apart = (block < 0) | (block != members(other, padded)[0])
    wider = np.where(one == other, one, np.where(apart, _MANY, _BLOCK | (block + 1)))
    return np.where(one == 0, other, np.where(other == 0, one, wider))


def zeros(size: int) -> NDArray[np.int64]:
    """Zeros that take memory only where they are touched, though they be more than there is."""
    try:
        return np.zeros(size, np.int64)
    except MemoryError:
        if not sys.platform.startswith("linux"):
            raise
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        return np.frombuffer(mmap.mmap(-1, 8 * size, flags=flags), np.int64)
