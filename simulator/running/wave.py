"""The blocks that run together: who each lane is, and what belongs to a block or a thread."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simulator.faults import Coordinate, Place
from simulator.running.lanes import WARP, Lanes
from simulator.vocabulary import CUDA, Vocabulary

SMS = 132  # multiprocessors of the virtual device, as on an H100 or H200
POISON = 0xFF  # each byte that nobody has written: NaN in a float, -1 in an int
Dimensions = tuple[int, int, int]
Order = Literal["forward", "reversed", "shuffled"]  # of blocks, warps apart, turns of an atomic


class Wave:
    """Some blocks of a grid, one lane for each thread, each block padded to whole warps.

    blocks  linear ids of the blocks, in the order of their lanes
    slot    [lanes] place of the lane's block in `blocks`
    thread  [lanes] linear id of the thread in its block; padding lies at or past the block's end
    later   linear ids of the blocks that start only when all of this wave have ended
    words   the language in which faults are told
    """

    def __init__(
        self,
        blocks: NDArray[np.int64],
        grid: Dimensions,
        block: Dimensions,
        shared_bytes: int,
        local_bytes: int,
        dynamic_bytes: int = 0,
        later: NDArray[np.int64] | None = None,
        words: Vocabulary = CUDA,
    ) -> None:
        self.grid, self.block, self.blocks = grid, block, blocks
        self.words = words
        self.threads = block[0] * block[1] * block[2]  # in a block
        self.padded = -(-self.threads // WARP) * WARP
        self.size = len(blocks) * self.padded  # lanes
        self.lane = np.arange(self.size, dtype=np.int64)
        self.slot = self.lane // self.padded
        self.thread = self.lane - self.slot * self.padded
        self.all = Lanes(None, self.size)
        if self.padded == self.threads:
            self.alive = np.ones(self.size, bool)  # [lanes] has not returned
            self.start = self.all
        else:
            self.alive = self.thread < self.threads
            self.start = Lanes(np.flatnonzero(self.alive), self.size)
        self.live = np.full(len(blocks), self.threads)  # [blocks] threads that have not returned
        self.left: list[tuple[Lanes, int]] = []  # who took an early way out, at which line
        self.later = blocks[:0] if later is None else later
        self.shared_bytes, self.dynamic_bytes = shared_bytes, dynamic_bytes
        self.shared_stride = max(16, -(-shared_bytes // 128) * 128)
        self.shared = np.full(len(blocks) * self.shared_stride, POISON, np.uint8)
        self.local_bytes = self.local_stride = local_bytes  # of each lane: used, and held
        self.local = np.full(self.size * local_bytes, POISON, np.uint8)
        self._special: dict[str, Any] = {}
        self._live_in_warp: NDArray[np.int64] | None = None
        self._returned: NDArray[np.uint32] | None = None

    def reach_local(self, end: int) -> None:
        """Let each lane's local memory have `end` bytes, a multiple of 16, for calls."""
        if end > self.local_stride:
            stride = max(end, 2 * self.local_stride)
            grown = np.full((self.size, stride), POISON, np.uint8)
            grown[:, : self.local_stride] = self.local.reshape(self.size, self.local_stride)
            self.local, self.local_stride = grown.reshape(-1), stride
        self.local_bytes = end

    def special(self, name: str) -> Any:
        """A special register: uint32 [lanes], or a scalar where all lanes agree."""
        found = self._special.get(name)
        if found is None:
            values = np.asarray(_SPECIAL_REGISTERS[name](self))
            dtype = np.uint64 if name in _WIDE else np.uint32
            narrow = values.astype(dtype)
            agree = narrow.ndim == 0 or (narrow == narrow[0]).all()
            found = self._special[name] = narrow.reshape(-1)[0] if agree else narrow
        return found

    def place(self, lane: int) -> Place:
        """Which thread of which block a lane is."""
        thread = unravel(int(self.thread[lane]), self.block)
        return Place(self.block_at(int(self.slot[lane])), thread, self.words)

    def place_of(self, block: int, thread: int) -> Place:
        """The same from the linear ids of a block of the grid and of a thread in it."""
        return Place(unravel(block, self.grid), unravel(thread, self.block), self.words)

    def block_at(self, slot: int) -> Coordinate:
        return unravel(int(self.blocks[slot]), self.grid)

    def slots_of(self, lanes: Lanes) -> NDArray[np.int64]:
        """[count] the place in `blocks` of each lane's block; the same array for the same set."""
        if lanes.index is None:
            return self.slot
        found: NDArray[np.int64] | None = lanes.memo.get("slots")
        if found is None:
            found = lanes.memo["slots"] = self.slot.take(lanes.index)
        return found

    def slots_with(self, lanes: Lanes) -> NDArray[np.int64]:
        """The places in `blocks` of those blocks that have any of these lanes, rising."""
        found: NDArray[np.int64] | None = lanes.memo.get("slots with")
        if found is None:
            slots = self.slots_of(lanes)
            new = slots[1:] != slots[:-1]
            found = np.concatenate([slots[:1], slots[1:][new]])  # lanes rise, and so do blocks
            lanes.memo["slots with"] = found
        return found

    def live_in_warp(self) -> NDArray[np.int64]:
        """[warps] threads of each warp that have not returned."""
        if self._live_in_warp is None:
            self._live_in_warp = self.alive.reshape(-1, WARP).sum(axis=1)
        return self._live_in_warp

    def returned(self) -> NDArray[np.uint32] | None:
        """[warps] the lanes that have returned, or never were, one bit each; None: no lane has."""
        if self._returned is None:
            gone = np.packbits(~self.alive.reshape(-1, WARP), axis=1, bitorder="little")
            self._returned = gone.view(np.uint32).reshape(-1)
            self._any_returned = bool(self._returned.any())
        return self._returned if self._any_returned else None

    def leave(self, lanes: Lanes) -> None:
        """These lanes have returned."""
        self._live_in_warp = self._returned = None
        if lanes.index is None:
            self.alive[:] = False
            self.live[:] = 0
        else:
            self.alive[lanes.index] = False
            self.live -= np.bincount(self.slot[lanes.index], minlength=len(self.live))


def unravel(linear: int, sizes: Dimensions) -> Coordinate:
    """A linear id as coordinates, x first."""
    x, y, _ = sizes
    return linear % x, linear // x % y, linear // (x * y)


def _block(wave: Wave) -> NDArray[np.int64]:
    return wave.blocks[wave.slot]


def _bit(wave: Wave, value: int) -> NDArray[np.int64]:
    """value shifted left by the lane's place in its warp."""
    return np.int64(value) << (wave.lane % WARP)


# fmt: off
_SPECIAL_REGISTERS: dict[str, Callable[[Wave], Any]] = {
    "%tid.x":       lambda w: w.thread % w.block[0],
    "%tid.y":       lambda w: w.thread // w.block[0] % w.block[1],
    "%tid.z":       lambda w: w.thread // (w.block[0] * w.block[1]),
    "%ntid.x":      lambda w: w.block[0],
    "%ntid.y":      lambda w: w.block[1],
    "%ntid.z":      lambda w: w.block[2],
    "%ctaid.x":     lambda w: _block(w) % w.grid[0],
    "%ctaid.y":     lambda w: _block(w) // w.grid[0] % w.grid[1],
    "%ctaid.z":     lambda w: _block(w) // (w.grid[0] * w.grid[1]),
    "%nctaid.x":    lambda w: w.grid[0],
    "%nctaid.y":    lambda w: w.grid[1],
    "%nctaid.z":    lambda w: w.grid[2],
    "%laneid":      lambda w: w.lane % WARP,
    "%warpid":      lambda w: w.thread // WARP,
    "%nwarpid":     lambda w: w.padded // WARP,
    "%smid":        lambda w: _block(w) % SMS,
    "%nsmid":       lambda w: SMS,
    "%gridid":      lambda w: 0,
    "%dynamic_smem_size": lambda w: w.dynamic_bytes,
    "%total_smem_size": lambda w: -(-w.shared_bytes // 128) * 128,  # allocated in 128 bytes
    "%clock_hi":    lambda w: 0,  # the other clocks are read from Execution
    "WARP_SZ":      lambda w: WARP,
    "%lanemask_eq": lambda w: _bit(w, 1),
    "%lanemask_lt": lambda w: _bit(w, 1) - 1,
    "%lanemask_le": lambda w: _bit(w, 2) - 1,
    "%lanemask_gt": lambda w: (1 << 32) - _bit(w, 2),
    "%lanemask_ge": lambda w: (1 << 32) - _bit(w, 1),
}
# fmt: on
_WIDE = frozenset(("%clock64", "%globaltimer", "%gridid"))
CLOCKS = frozenset(("%clock", "%clock64", "%globaltimer"))
# The upper and the lower word of an address: where the blocks of a cooperative launch meet.
GRID_WORKSPACE = ("%envreg1", "%envreg2")
GRID_BARRIER = "the grid's barrier"  # the name of the memory there
GRID_BARRIER_BYTES = 64
SPECIAL_REGISTERS = CLOCKS | frozenset(_SPECIAL_REGISTERS) | frozenset(GRID_WORKSPACE)


def special_type(name: str) -> str:
    return "u64" if name in _WIDE else "u32"
