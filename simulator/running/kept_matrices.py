"""Factors of products, found again by the identity of the registers that hold them.

A warp multiplies one matrix by several, and Triton keeps a tile in registers through a loop: taking
a matrix out of its registers costs as much as the product.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_KEPT = 6  # factors, each 64 bytes a lane for 16 x 16 elements

Matrix = NDArray[np.float64]  # [warps, rows, columns]


class KeptMatrices:
    """The last factors that were used.

    Arrays of registers are not written in place, but for few: whoever does so says `forget`.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[Sequence[Any], Matrix]] = {}  # last used: last

    def get(
        self, how: object, count: int, registers: Sequence[Any], make: Callable[[], Matrix]
    ) -> Matrix:
        """What `make` gives, of `count` lanes. how: the object that tells in which way registers
        hold a matrix."""
        key = (id(how), count, *map(id, registers))
        found = self._known.pop(key, None)
        if found is None:
            if len(self._known) == _KEPT:
                del self._known[next(iter(self._known))]
            found = (registers, make())  # the registers are kept, so that their identity stays
        self._known[key] = found
        return found[1]

    def forget(self, register: Any) -> None:
        """The array is about to change in place."""
        for key in [key for key in self._known if id(register) in key[2:]]:
            del self._known[key]
