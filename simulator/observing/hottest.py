"""How many atomic updates each address of a buffer got: the one that got most is the bottleneck."""

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import MemoryEvent
from simulator.running.wave import Wave

_CHUNK = 1 << 16  # addresses that are looked at together
_PART = 1 << 13  # lanes whose addresses are made together: they stay in the cache


class UpdateCounts:
    """The updates of one buffer, or of the shared memory of a wave's blocks.

    Counts are lazily backed, so a buffer of gigabytes of which a kernel updates little costs
    little. Updates of different widths are counted apart.
    """

    def __init__(self, size: int) -> None:
        self._size = size  # bytes
        self._counts: dict[int, NDArray[np.int64]] = {}  # bytes of an update -> [addresses]
        self._chunks: dict[int, NDArray[np.bool_]] = {}  # stretches of addresses that may have any
        self._starts: NDArray[np.int64] | None = None  # [lanes] of their blocks' shared memory

    def touch(self, event: MemoryEvent) -> None:
        """Atomics on a buffer in global memory."""
        addresses, shift = event.addresses, event.access.bytes.bit_length() - 1
        first, last = (
            (end - addresses.origin + event.offset) >> shift
            for end in (addresses.low, addresses.high)
        )
        counts = self._of(event.access.bytes, first, last)
        if addresses.uniform:
            counts[first] += event.lanes.count
            return
        index, moved = addresses.index(shift), event.offset >> shift
        np.add.at(*((counts, index + moved) if moved < 0 else (counts[moved:], index)), 1)

    def touch_shared(self, event: MemoryEvent, wave: Wave) -> None:
        """Atomics on shared memory, of which each block of the wave has a stretch."""
        addresses, lanes, shift = event.addresses, event.lanes, event.access.bytes.bit_length() - 1
        counts = self._of(event.access.bytes, 0, (self._size - 1) >> shift)
        if self._starts is None:
            self._starts = wave.slot * wave.shared_stride
        starts = self._starts if lanes.index is None else self._starts[lanes.index]
        offsets = None if addresses.uniform else addresses.offsets()
        for first in range(0, lanes.count, _PART):
            some = slice(first, first + _PART)
            where = starts[some] + (addresses.low if offsets is None else offsets[some])
            where += event.offset
            where >>= shift
            np.add.at(counts, where, 1)

    def _of(self, width: int, first: int, last: int) -> NDArray[np.int64]:
        """The counts of updates of `width` bytes, about to change from address first to last."""
        counts = self._counts.get(width)
        if counts is None:
            count = -(-self._size // width)
            counts = self._counts[width] = np.zeros(count, np.int64)
            self._chunks[width] = np.zeros(-(-count // _CHUNK), bool)
        self._chunks[width][first // _CHUNK : last // _CHUNK + 1] = True
        return counts

    def hottest(self) -> int:
        """How many updates the address got that got most."""
        most = 0
        for width, counts in self._counts.items():
            for chunk in np.flatnonzero(self._chunks[width]):
                most = max(most, int(counts[chunk * _CHUNK : (chunk + 1) * _CHUNK].max()))
        return most
