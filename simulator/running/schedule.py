"""Which lanes run next.

In lock step, all lanes of a wave that are at the lowest basic block run: fast, and one of many
orders that a GPU may take. A kernel without the barrier that it needs can be right in that one.
So warps can be let apart: they are dealt to groups, up to two of blocks and four of each block's
warps, and a group runs as far as it can, to a barrier or into a wait, before another one does. The
order of the launch says who is first: low blocks and low warps, high ones, or whom the seed draws,
anew for every block and behind every barrier.
"""

import numpy as np
from numpy.typing import NDArray

from simulator.running.frames import Point
from simulator.running.lanes import WARP, Lanes, merge
from simulator.running.wave import Order, Wave

_BLOCK_PARTS, _WARP_PARTS = 2, 4  # the most groups of a wave's blocks, and of a block's warps


class Schedule:
    """The lanes that may run now, by the points that they are at.

    group  whose queue was taken from last; 0 in lock step
    """

    def __init__(
        self, wave: Wave, order: Order = "forward", seed: int = 0, apart: bool = False
    ) -> None:
        self.group = 0
        self._order = order
        self._random = np.random.default_rng((seed, int(wave.blocks[0])))
        self._start = wave.start
        self._stay = False  # with the group that ran last, as long as it can run
        self._groups: NDArray[np.intp] | None = None  # [warps] whose queue a warp is in
        self._dealt: list[tuple[int, Lanes]] = []  # all lanes
        count = 1
        if apart:
            self._groups, count = self._deal(wave)
            self._dealt = self._parts(wave.start)
        self._queues: list[dict[Point, list[Lanes]]] = [{} for _ in range(count)]
        self.add((0,), wave.start)

    def __bool__(self) -> bool:
        """Whether any lane may run."""
        return any(self._queues)

    def add(self, point: Point, lanes: Lanes) -> None:
        if self._groups is None:
            self._queues[0].setdefault(point, []).append(lanes)
            return
        if not lanes.count:
            return
        for group, some in self._parts(lanes):
            self._queues[group].setdefault(point, []).append(some)

    def take(self) -> tuple[Point, Lanes]:
        """The lanes that run next."""
        if self._groups is not None:
            self.group = self._next_group()
        queue = self._queues[self.group]
        point = min(queue)
        return point, merge(queue.pop(point))

    def take_at(self, number: int) -> list[tuple[Point, Lanes]]:
        """All others of the same group that are at a basic block, along other paths."""
        queue = self._queues[self.group]
        return [(p, merge(queue.pop(p))) for p in list(queue) if p[-1] == number]

    def released(self) -> None:
        """A barrier has let lanes go: who is first is open again."""
        self._stay = False

    def _next_group(self) -> int:
        if self._order == "shuffled" and self._stay and self._queues[self.group]:
            return self.group
        able = [group for group, queue in enumerate(self._queues) if queue]
        if self._order != "shuffled":
            return able[0] if self._order == "forward" else able[-1]
        self._stay = True
        return able[int(self._random.integers(len(able)))]

    def _deal(self, wave: Wave) -> tuple[NDArray[np.intp], int]:
        """([warps] a group for each, how many groups)."""
        blocks, warps = len(wave.blocks), wave.padded // WARP
        of_block, parts = np.arange(blocks), min(blocks, _BLOCK_PARTS)
        of_warp, pieces = np.tile(np.arange(warps), (blocks, 1)), min(warps, _WARP_PARTS)
        if self._order == "shuffled":
            of_block = self._random.permutation(blocks)
            of_warp = self._random.permuted(of_warp, axis=1)
        high = of_block * parts // blocks
        low = of_warp * pieces // warps
        return (high[:, None] * pieces + low).reshape(-1).astype(np.intp), parts * pieces

    def _parts(self, lanes: Lanes) -> list[tuple[int, Lanes]]:
        """The lanes of each group."""
        if self._dealt and (lanes.index is None or lanes is self._start):
            return self._dealt  # the same sets again: what is known of them stays known
        if lanes.group:
            return [(lanes.group - 1, lanes)]
        assert self._groups is not None
        groups = self._groups[lanes.indices() >> 5]
        present = np.flatnonzero(np.bincount(groups)).tolist()
        parts = [(group, lanes.select(groups == group)) for group in present]
        for group, some in parts:
            some.group = group + 1
        return parts
