"""What tensor cores make of undefined elements: an undefined factor spoils its row or its column.

Zero times garbage is no zero: the garbage may be an infinity or a NaN.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.instructions.definedness import is_defined, shadow_type
from simulator.instructions.tensor_fragments import BITS, Fragment
from simulator.instructions.tensor_products import Product
from simulator.running.lanes import Lanes
from simulator.running.tensor_warps import chosen
from simulator.types import DTYPES

_WARP = 32
Array = NDArray[Any]


class UndefinedProduct:
    """The shadow of mma.sync or wmma.mma.

    result  how a register of d is held
    """

    def __init__(self, product: Product) -> None:
        self._product = product
        type_ = product.opcode.d
        self.result = DTYPES[type_ if BITS[type_] >= 32 else "b32"]

    def follow(
        self, a: Sequence[Any], b: Sequence[Any], c: Sequence[Any], lanes: Lanes, guard: Any
    ) -> tuple[Any, ...]:
        """The shadows of d's registers from those of a, b and c."""
        held = shadow_type(self.result)
        if all(is_defined(shadow) for shadow in (*a, *b, *c)):
            return (held.type(0),) * self._product.d.registers
        some = chosen(lanes, guard)
        a, b, c = ([some.part(word) for word in words] for words in (a, b, c))
        count, opcode = some.lanes.count, self._product.opcode
        rows = _elements(a, self._product.a, opcode.a, count).any(axis=2, keepdims=True)
        columns = _elements(b, self._product.b, opcode.b, count).any(axis=1, keepdims=True)
        spoilt = rows | columns | _elements(c, self._product.c, opcode.c, count)
        words = _registers(spoilt, self._product.d, opcode.d, held)
        return words if some.place is None else tuple(some.spread(word) for word in words)


def _place(fragment: Fragment) -> NDArray[np.intp]:
    """[registers * 32 * elements of a register] which element it is, counted row by row."""
    return (fragment.row * fragment.columns + fragment.column).reshape(-1)


def _elements(shadows: Sequence[Any], fragment: Fragment, type_: str, count: int) -> Array:
    """[warps, rows, columns] whether an element has an undefined bit."""
    words = [np.broadcast_to(s, (count,)).reshape(-1, _WARP) for s in shadows[: fragment.registers]]
    stacked = np.ascontiguousarray(np.stack(words, axis=1))  # [warps, registers, 32]
    bits = min(BITS[type_], 8 * stacked.itemsize)
    if bits >= 8:
        parts = stacked.view(f"u{bits // 8}") != 0
    else:  # so small that several share a byte
        single = np.unpackbits(stacked.view(np.uint8), axis=-1, bitorder="little")
        parts = single.reshape(*single.shape[:-1], -1, bits).any(axis=-1)
    matrix = np.zeros((len(stacked), fragment.rows * fragment.columns), bool)
    matrix[:, _place(fragment)] = parts.reshape(len(stacked), -1)
    return matrix.reshape(-1, fragment.rows, fragment.columns)


def _registers(
    spoilt: Array, fragment: Fragment, type_: str, held: np.dtype[Any]
) -> tuple[Array, ...]:
    """The shadows [count] of the registers that hold elements [warps, rows, columns]."""
    warps = len(spoilt)
    flat = spoilt.reshape(warps, -1).take(_place(fragment), axis=1)
    lanes = flat.reshape(warps, fragment.registers, _WARP, -1)  # the last: elements of a register
    part = np.dtype(f"u{BITS[type_] // 8}")
    ones = np.where(lanes, part.type(np.iinfo(part).max), part.type(0))
    words = np.ascontiguousarray(ones).view(held).reshape(warps, fragment.registers, _WARP)
    return tuple(np.ascontiguousarray(words[:, k]).reshape(-1) for k in range(fragment.registers))
