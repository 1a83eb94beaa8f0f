"""Memory in which every block, or every thread, has a stretch of its own: shared and local."""

import numpy as np
from numpy.typing import NDArray

from simulator.running.buffers import Buffer
from simulator.running.lanes import Lanes


class Stretches:
    """The stretches of a wave, one after another in one buffer.

    limit  bytes of a stretch that may be used
    """

    __slots__ = ("buffer", "limit", "_owner", "_stride", "_starts", "_lanes", "_of_lanes")

    def __init__(self, buffer: Buffer, owner: NDArray[np.int64], stride: int, limit: int) -> None:
        self.buffer = buffer
        self.limit = limit
        self._owner = owner  # [lanes of the wave] which stretch a lane's is
        self._stride = stride  # bytes from the beginning of one to that of the next
        self._starts: dict[int, NDArray[np.int64]] = {}  # by shift, of all lanes
        self._lanes: Lanes | None = None  # the set that asked last
        self._of_lanes: dict[int, NDArray[np.int64]] = {}

    def starts(self, lanes: Lanes, shift: int) -> NDArray[np.int64]:
        """[count] where each lane's stretch begins, in elements of 1 << shift bytes."""
        found = self._starts.get(shift)
        if found is None:
            found = self._starts[shift] = (self._owner * self._stride) >> shift
        if lanes.index is None:
            return found
        if self._lanes is not lanes:
            self._lanes, self._of_lanes = lanes, {}
        part = self._of_lanes.get(shift)
        if part is None:
            part = self._of_lanes[shift] = found.take(lanes.index)
        return part
