"""Which bytes of a buffer a launch has touched, each counted once: an ideal cache.

One mark for each 4 bytes, or for each byte of a buffer that narrower accesses touch. Marks are
lazily backed, so a buffer of gigabytes of which a kernel touches little costs little.
"""

import numpy as np
from numpy.typing import NDArray

from simulator.observing.address_rows import rows_of
from simulator.observing.counters import Traffic
from simulator.observing.events import Kind, MemoryEvent

_CHUNK = 1 << 16  # marks that are counted together
_MANY = 256  # rows; of so many it pays to look for equal ones
_REPEATED = 2  # rows that occur so often on average are marked once


class Footprint:
    """The marks of one buffer of `size` bytes: those read, and those written."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._marks: dict[str, NDArray[np.bool_]] = {}
        self._chunks: dict[str, NDArray[np.bool_]] = {}  # stretches of marks that may hold any
        self._unit = 4  # bytes for each mark

    def touch(self, event: MemoryEvent) -> None:
        access = event.access
        if access.element.itemsize < self._unit:
            self._refine(access.element.itemsize)
        for direction, wanted in (
            ("read", access.kind is not Kind.STORE),
            ("written", access.kind is not Kind.LOAD),
        ):
            if wanted:
                self._mark(direction, event)

    def _mark(self, direction: str, event: MemoryEvent) -> None:
        known = event.addresses
        key = ("touched", direction, event.offset, event.access.bytes, self._unit)
        if key in known.memo and known.memo[key] is self:
            return  # the same addresses again
        known.memo[key] = self
        marks = self._marks.get(direction)
        if marks is None:
            count = -(-self._size // self._unit)
            marks = self._marks[direction] = np.zeros(count, bool)
            self._chunks[direction] = np.zeros(-(-count // _CHUNK), bool)
        origin = known.origin
        low = (known.low - origin + event.offset) // self._unit
        high = (known.high - origin + event.offset + event.access.bytes - 1) // self._unit
        self._chunks[direction][low // _CHUNK : high // _CHUNK + 1] = True
        if known.uniform or self._is_contiguous(event):
            marks[low : high + 1] = True
            return
        shift = self._unit.bit_length() - 1
        index, moved = self._index(event, shift)
        for k in range(max(1, event.access.bytes // self._unit)):
            marks[index + (moved + k) if moved + k else index] = True

    def _index(self, event: MemoryEvent, shift: int) -> tuple[NDArray[np.int64], int]:
        """(the marks of the lanes' first bytes, marks that are to be added to each)."""
        known, offset = event.addresses, event.offset
        rows = rows_of(known, event.lanes)
        if rows.alike and len(rows.start) > _MANY:  # blocks that read the same have the same rows
            start = np.sort(rows.start)
            new = np.ones(len(start), bool)
            np.not_equal(start[1:], start[:-1], out=new[1:])
            if np.count_nonzero(new) * _REPEATED < len(start):
                return ((start[new] + offset)[:, None] + rows.shape[0]).ravel() >> shift, 0
        if offset % self._unit:
            return (known.offsets() + offset) >> shift, 0
        return known.index(shift), offset >> shift

    @staticmethod
    def _is_contiguous(event: MemoryEvent) -> bool:
        """Every byte between the lowest and the highest address is touched."""
        known, size = event.addresses, event.access.bytes
        if known.high - known.low != (event.lanes.count - 1) * size:
            return False
        if "contiguous" not in known.memo:
            offsets = known.offsets()
            known.memo["contiguous"] = bool((offsets[1:] - offsets[:-1] == size).all())
        return bool(known.memo["contiguous"])

    def _refine(self, unit: int) -> None:
        """Go over to smaller marks."""
        factor = self._unit // unit
        self._unit = unit
        for direction, marks in self._marks.items():
            self._marks[direction] = np.repeat(marks, factor)[: -(-self._size // unit)]
            count = len(self._marks[direction])
            self._chunks[direction] = np.ones(-(-count // _CHUNK), bool)

    def traffic(self, hottest_updates: int = 0) -> Traffic:
        return Traffic(self._bytes("read"), self._bytes("written"), hottest_updates)

    def _bytes(self, direction: str) -> int:
        marks = self._marks.get(direction)
        if marks is None:
            return 0
        chunks = np.flatnonzero(self._chunks[direction])
        count = sum(int(np.count_nonzero(marks[c * _CHUNK : (c + 1) * _CHUNK])) for c in chunks)
        last = bool(marks[-1]) if len(marks) else False
        return count * self._unit - (-self._size % self._unit if last else 0)
