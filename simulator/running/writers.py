"""Who last wrote each word of memory: a report on a deadlock tells.

Kept only for programs with a loop that waits for others. Words have 4 bytes: of smaller elements in
one word, the last writer of any is told.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import MemoryEvent, Space
from simulator.running.buffers import Buffer
from simulator.running.wave import Wave

_SHIFT = 2  # log2 of a word's bytes


@dataclass(frozen=True, slots=True)
class Writer:
    """A thread of the launch and its line."""

    block: int  # linear id
    thread: int  # linear id in the block
    line: int


class Writers:
    """The last writers of a wave's words, and of those before it in the same launch."""

    def __init__(self) -> None:
        self._of: dict[Buffer, tuple[NDArray[np.int64], NDArray[np.int32]]] = {}
        self._keys: NDArray[np.int64] = np.empty(0, np.int64)  # [lanes]
        self._padded = 1

    def wave_started(self, wave: Wave) -> None:
        self._keys = wave.blocks[wave.slot] * wave.padded + wave.thread + 1
        self._padded = wave.padded

    def wrote(self, event: MemoryEvent, mask: NDArray[np.bool_] | None = None) -> None:
        """Lanes have written; mask [count]: only these have changed anything."""
        if event.access.space not in (Space.GLOBAL, Space.SHARED):
            return
        who, line = self._shadow(buffer_of(event))
        keys = self._keys[event.lanes.indices()]
        words = bytes_of(event) >> _SHIFT
        if mask is not None:
            keys, words = keys[mask], words[mask]
        for step in range(-(-event.access.bytes >> _SHIFT) or 1):
            who[words + step] = keys
            line[words + step] = event.access.instruction.line

    def of(self, event: MemoryEvent, byte: int) -> Writer | None:
        """Who last wrote a byte of the memory that an event is about."""
        found = self._of.get(buffer_of(event))
        if found is None or not (key := int(found[0][byte >> _SHIFT])):
            return None
        block, thread = divmod(key - 1, self._padded)
        return Writer(block, thread, int(found[1][byte >> _SHIFT]))

    def _shadow(self, buffer: Buffer) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        found = self._of.get(buffer)
        if found is None:
            words = (buffer.bytes >> _SHIFT) + 1
            found = self._of[buffer] = (np.zeros(words, np.int64), np.zeros(words, np.int32))
        return found


def bytes_of(event: MemoryEvent) -> NDArray[np.int64]:
    """[count] the first byte of each lane's access in its buffer, or in all shared memory."""
    known = event.addresses
    found: Any = known.offsets() + event.offset
    if known.stretches is not None:
        found = found + known.stretches.starts(known.lanes, 0)
    return np.broadcast_to(np.asarray(found, np.int64), (event.lanes.count,))


def buffer_of(event: MemoryEvent) -> Buffer:
    stretches = event.addresses.stretches
    if stretches is not None:
        return stretches.buffer
    assert event.buffer is not None
    return event.buffer
