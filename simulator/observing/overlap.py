"""How much of the tensor cores' work is done while copies are on their way.

A product counts when threads of its block have started copies (cp.async) that they have not waited
for yet. That follows from the order of the program and of its barriers; how far a copy had come by
then, no simulator knows.
"""

import numpy as np
from numpy.typing import NDArray

from simulator.instructions.tensor_opcodes import is_product, product
from simulator.observing.events import Copy
from simulator.reading.ptx import Instruction
from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import Wave


class Overlap:
    """Follows the copies of one wave after another.

    _under_way  [blocks of the wave] copies, counted by thread, that nobody has waited for
    """

    def wave_started(self, wave: Wave) -> None:
        self._padded = wave.padded
        self._under_way = np.zeros(wave.size // wave.padded, np.int64)

    def copy_started(self, copy: Copy) -> None:
        self._under_way += self._by_block(copy.reading.lanes)

    def copy_waited_for(self, lanes: Lanes) -> None:
        self._under_way -= self._by_block(lanes)

    def products(self, instruction: Instruction, lanes: Lanes) -> int:
        """Of what whole warps issue for a product: how much while copies are under way."""
        if not self._under_way.any() or not is_product(instruction):
            return 0
        overlapped = self._by_block(lanes)[self._under_way > 0].sum() // WARP
        return int(overlapped) * product(instruction).issued

    def _by_block(self, lanes: Lanes) -> NDArray[np.int64]:
        """[blocks of the wave] how many of these lanes each has."""
        if lanes.index is None:
            return np.full(len(self._under_way), self._padded)
        return np.bincount(lanes.index // self._padded, minlength=len(self._under_way))
