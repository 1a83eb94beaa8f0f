"""The observers that find what hardware lets slip.

They hear of an access before it takes place, so a fault leaves memory as it was.
"""

import numpy as np

from simulator.faults import FaultKind, KernelFault
from simulator.observing.events import Kind, MemoryEvent, Observer, Space
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
    """A read of shared memory that no thread of the block has written."""

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave
        self._written = np.zeros(len(wave.shared), bool)  # [bytes]
        self._complete = wave.shared_bytes == 0

    def memory_accessed(self, event: MemoryEvent) -> None:
        if event.access.space is not Space.SHARED or self._complete:
            return
        # What is written stays written: the same addresses need no second look.
        key = ("written", event.offset, event.access.bytes)
        if key in event.addresses.memo:
            return
        wave, lanes = self.wave, event.lanes
        slot = wave.slot if lanes.index is None else wave.slot[lanes.index]
        first = slot * wave.shared_stride + event.addresses.offsets() + event.offset
        event.addresses.memo[key] = True
        if not event.access.reads:
            for k in range(event.access.bytes):
                self._written[first + k] = True
            stretches = self._written.reshape(-1, wave.shared_stride)[:, : wave.shared_bytes]
            self._complete = bool(stretches.all())
            return
        missing = np.zeros(lanes.count, bool)
        for k in range(event.access.bytes):
            missing |= ~self._written[first + k]
        if missing.any():
            lane = int(lanes.indices()[np.argmax(missing)])
            place = wave.place(lane)
            byte = int(first[np.argmax(missing)]) - int(wave.slot[lane]) * wave.shared_stride
            raise KernelFault(
                FaultKind.UNINITIALISED_READ,
                f"{place} reads byte {byte} of its block's shared memory, "
                "which no thread has written",
                line=event.access.instruction.line,
                expected="Shared memory holds whatever the last block left: write before reading.",
                advice="Write this element first, and let a barrier stand between write and read.",
                place=place,
            )
