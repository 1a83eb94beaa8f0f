"""What the tensor cores compute: d = a b + c, of all warps of a set at once.

Products are exact. They and c are added in float64 and rounded once to the type of d: at most as
far from the true sum as the hardware, which adds in a wider format than float32 and cuts off what
does not fit, in an order of its own (PTX ISA, "mma": "at least single precision"). float64
products are fused one after another, along k. Integers are exact: they wrap, or saturate.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.instructions.float_arithmetic import canonical, fused_multiply_add
from simulator.instructions.half_arithmetic import from_bfloat, to_half
from simulator.instructions.tensor_fragments import BITS, Fragment
from simulator.instructions.tensor_opcodes import ProductOpcode

_WARP = 32
_SEEN_BY_TF32 = np.uint32(0xFFFF_E000)  # the upper 19 bits; hardware leaves the others out
_INT32 = np.iinfo(np.int32)
Array = NDArray[Any]


class Product:
    """One product instruction, ready to be computed for any number of warps."""

    def __init__(self, opcode: ProductOpcode) -> None:
        self.opcode = opcode
        self.d, self.a, self.b, self.c = opcode.fragments

    def __call__(
        self, a: Sequence[Any], b: Sequence[Any], c: Sequence[Any], count: int
    ) -> tuple[Array, ...]:
        """The registers of d, each [count], from those of a, b and c: [count] or scalars.

        count  lanes: whole warps
        """
        opcode = self.opcode
        left = _matrix(a, self.a, opcode.a, count)
        right = _matrix(b, self.b, opcode.b, count)
        added = _elements(c, opcode.c, count)
        if opcode.d == "f64":
            return _rounded(self._fused(left, right, added), opcode.d)
        if opcode.combine == "xor":  # a bit that one of the two has, and not both
            ones = left.sum(axis=2)[:, :, None] + right.sum(axis=1)[:, None, :]
            product = ones - 2 * (left @ right)
        else:
            product = left @ right
        total = self._in_lanes(product) + added
        if opcode.d == "s32":
            if opcode.saturates:
                total = np.clip(total, _INT32.min, _INT32.max)
            return tuple(total.astype(np.int64).astype(np.int32))
        return _rounded(total, opcode.d)

    def _in_lanes(self, product: Array) -> Array:
        """[warps, m, n] -> [elements of a lane, count]"""
        warps = len(product)
        flat = product.reshape(warps, -1).take(self.d.place, axis=1, mode="wrap")
        lanes = flat.reshape(warps, self.d.registers, _WARP, -1).transpose(1, 3, 0, 2)
        return lanes.reshape(-1, warps * _WARP)

    def _fused(self, left: Array, right: Array, added: Array) -> Array:
        total = added
        for k in range(left.shape[2]):
            one, other = np.broadcast_arrays(left[:, :, k, None], right[:, k, None, :])
            total = fused_multiply_add(self._in_lanes(one), self._in_lanes(other), total)
        return total


def _matrix(registers: Sequence[Any], fragment: Fragment, type_: str, count: int) -> Array:
    """[warps, rows, columns] float64"""
    some = registers[: fragment.registers]
    words = np.stack([_per_warp(word, count) for word in some], axis=1)
    raw = _unpacked(words, type_).reshape(len(words), -1)
    chosen = raw.take(fragment.gather, axis=1, mode="wrap")
    return _exact(chosen, type_).reshape(len(words), fragment.rows, fragment.columns)


def _per_warp(word: Any, count: int) -> Array:
    return np.broadcast_to(word, (count,)).reshape(-1, _WARP)


def _elements(registers: Sequence[Any], type_: str, count: int) -> Array:
    """[elements of a lane, count] float64, of an accumulator."""
    words = np.stack([np.broadcast_to(word, (count,)) for word in registers])
    if type_ != "f16":
        return words.astype(np.float64)
    pairs = words.view(np.float16).reshape(len(words), count, 2)
    return pairs.transpose(0, 2, 1).reshape(-1, count).astype(np.float64)


def _rounded(total: Array, type_: str) -> tuple[Array, ...]:
    """The registers of elements [elements of a lane, count]."""
    if type_ == "f64":
        return tuple(total)
    if type_ == "f32":
        return tuple(canonical(total.astype(np.float32)))
    halves = to_half(total).reshape(-1, 2, total.shape[1])
    pairs = np.ascontiguousarray(halves.transpose(0, 2, 1))
    return tuple(pairs.view(np.uint32)[:, :, 0])


def _unpacked(words: Array, type_: str) -> Array:
    """[..., lanes] -> [..., elements], which keep their order; bf16 as its bits."""
    if type_ == "f64":
        return words
    if type_ == "tf32":
        return (words & _SEEN_BY_TF32).view(np.float32)
    if type_ == "b1":
        return np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")
    if BITS[type_] == 4:
        bytes_ = words.view(np.uint8)
        nibbles = np.stack([bytes_ & 15, bytes_ >> 4], axis=-1).reshape(*words.shape[:-1], -1)
        return ((nibbles ^ 8).astype(np.int8) - np.int8(8)) if type_ == "s4" else nibbles
    return words.view({"f16": "f2", "bf16": "u2", "s8": "i1", "u8": "u1"}[type_])


def _exact(raw: Array, type_: str) -> Array:
    wide: Array = (from_bfloat(raw) if type_ == "bf16" else raw).astype(np.float64)
    return wide
