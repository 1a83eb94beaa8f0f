"""The observers that find what hardware lets slip.

They hear of an access before it takes place, so a fault leaves memory as it was.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.faults import FaultKind, KernelFault
from simulator.observing.events import Kind, MemoryEvent, Observer, Space
from simulator.observing.shared_names import shared_element
from simulator.running.buffers import Buffer
from simulator.running.wave import Wave


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
        self._complete = wave.shared_bytes == 0

    def memory_accessed(self, event: MemoryEvent) -> None:
        if event.access.space is not Space.SHARED or self._complete:
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
            stretches = self._written.data.reshape(-1, wave.shared_stride)
            self._complete = bool(stretches[:, : wave.shared_bytes].all())
            return
        missing = np.zeros(lanes.count, bool)
        for word in words:
            missing |= word.take(index, mode="wrap") != every
        if missing.any():
            lane = int(lanes.indices()[np.argmax(missing)])
            place = wave.place(lane)
            byte = int(event.addresses.offsets()[np.argmax(missing)]) + event.offset
            where = shared_element(self._arrays, byte, event.access)
            fault = KernelFault(
                FaultKind.UNINITIALISED_READ,
                f"{place} reads {where}, which no thread of its block has written",
                line=event.access.instruction.line,
                expected="Shared memory holds whatever the last block left: write before reading.",
                advice="Write this element first, and let a barrier stand between write and read.",
                place=place,
            )
            self._tell(fault, lane)


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
