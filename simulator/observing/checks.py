"""The observers that find what hardware lets slip.

They hear of an access before it takes place, so a fault leaves memory as it was.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind, KernelFault
from simulator.observing.events import Kind, MemoryEvent, Observer, Space
from simulator.observing.shared_names import shared_element
from simulator.running.buffers import Buffer
from simulator.running.wave import Wave, unravel


class WritesToConst(Observer):
    """A store into a buffer that the kernel only declares const."""

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave

    def memory_accessed(self, event: MemoryEvent) -> None:
        buffer = event.buffer
        if buffer is None or not buffer.read_only or event.access.kind is Kind.LOAD:
            return
        place = self.wave.place(int(event.lanes.indices()[0]))
        raise KernelFault(
            FaultKind.WRITE_TO_CONST,
            f"{place} writes to {buffer.name}, which the kernel declares const",
            line=event.access.instruction.line,
            expected=f"{buffer.name} is an input: every pointer to it is const.",
            advice="Write to the output, or take const away where writing is meant.",
            place=place,
        )


class UninitialisedShared(Observer):
    """A read of shared memory that no thread of the block has written.

    arrays  the `__shared__` variables and their offsets
    tell    takes the fault and the lane: whoever looks for races knows first whether it is one
    """

    def __init__(self, arrays: dict[str, int], tell: Callable[[KernelFault, int], None]) -> None:
        self._arrays = arrays
        self._tell = tell

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave
        self._written = Buffer("written", np.zeros(len(wave.shared), np.uint8))  # 1 for each byte
        # [bytes of a block's memory + 1] how many before each are not written in every block; what
        # has been looked at since that was counted, in bytes; and whether marks have changed since.
        self._missing: NDArray[np.int32] | None = None
        self._looked_at = 0
        self._changed = True

    def memory_accessed(self, event: MemoryEvent) -> None:
        if event.access.space is not Space.SHARED or self._is_written(event):
            return
        # What is written stays written: the same addresses need no second look.
        key = ("written", event.offset, event.access.bytes)
        if key in event.addresses.memo:
            return
        event.addresses.memo[key] = True
        wave, lanes = self.wave, event.lanes
        # Accesses are aligned, so the marks of a lane's bytes are read as one word, or as a few.
        width = min(event.access.bytes, 8)
        every = _ALL_WRITTEN >> 8 * (8 - width)
        shift, index = _place(event, width)
        words = [
            self._written.view(np.dtype(f"u{width}"), shift + k)
            for k in range(0, event.access.bytes, width)
        ]
        if not event.access.reads:
            for word in words:
                word[index] = every
            self._changed = True
            return
        missing = np.zeros(lanes.count, bool)
        for word in words:
            missing |= word.take(index, mode="wrap") != every
        if missing.any():
            lane = int(lanes.indices()[np.argmax(missing)])
            place = wave.place(lane)
            byte = int(event.addresses.offsets()[np.argmax(missing)]) + event.offset
            where = shared_element(self._arrays, byte, event.access)
            gone = who_left(wave, int(wave.slot[lane]), where)
            advice = "Write this element first, and let a barrier stand between write and read."
            if gone:
                advice = "Let no thread return before it has written its share: guard the work."
            fault = KernelFault(
                FaultKind.UNINITIALISED_READ,
                f"{place} reads {where}, which no thread of its block has written{gone}",
                line=event.access.instruction.line,
                expected="Shared memory holds whatever the last block left: write before reading.",
                advice=advice,
                place=place,
            )
            self._tell(fault, lane)

    def _is_written(self, event: MemoryEvent) -> bool:
        """Whether every block has written all bytes between the lowest and the highest lane's.

        Then neither a write nor a read changes anything. To know it costs a look at all bytes, so
        it is looked for once as many have been looked at one by one.
        """
        known, offset, size = event.addresses, event.offset, event.access.bytes
        begin, end = known.low + offset, known.high + offset + size
        if self._missing is not None and self._missing[end] == self._missing[begin]:
            return True
        self._looked_at += event.lanes.count * size
        if not self._changed or self._looked_at < len(self._written.data):
            return False
        self._missing = np.zeros(self.wave.shared_stride + 1, np.int32)
        every = self._written.data.reshape(-1, self.wave.shared_stride).all(axis=0)
        np.cumsum(~every, out=self._missing[1:])
        self._looked_at, self._changed = 0, False
        return bool(self._missing[end] == self._missing[begin])


def who_left(wave: Wave, slot: int, where: str) -> str:
    """Which threads of a block have taken an early way out, if any have.

    The thread whose number is the element's index is named rather than another: most tiles are
    filled so.
    """
    lines: dict[int, int] = {}  # by thread
    for lanes, line in wave.left:
        own = lanes.indices()[wave.slot[lanes.indices()] == slot]
        lines |= dict.fromkeys(wave.thread[own].tolist(), line)
    if not lines:
        return ""
    index = re.search(r"\[(\d+)\]", where)
    named = int(index[1]) if index and int(index[1]) in lines else min(lines)
    at = f" at line {lines[named]}" if lines[named] else ""
    more = wave.words.and_more(len(lines) - 1)
    return f"; {wave.words.neighbour(unravel(named, wave.block))} had returned{at}{more}"


_ALL_WRITTEN = 0x0101_0101_0101_0101  # marks of 8 bytes


def _place(event: MemoryEvent, width: int) -> tuple[int, Any]:
    """(byte shift of a view, index into it of each lane's first word of `width` bytes)."""
    addresses, offset = event.addresses, event.offset
    scale = width.bit_length() - 1
    if offset >= 0 and addresses.low >= 0 and not addresses.bits & (width - 1):
        return offset, addresses.place(scale)
    assert addresses.stretches is not None
    starts = addresses.stretches.starts(event.lanes, 0)
    return 0, (addresses.offsets() + offset + starts) >> scale
