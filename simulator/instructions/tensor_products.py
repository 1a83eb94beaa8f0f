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
from simulator.instructions.half_arithmetic import from_bfloat
from simulator.instructions.half_conversion import from_half, to_half
from simulator.instructions.tensor_fragments import BITS, Fragment
from simulator.instructions.tensor_opcodes import ProductOpcode

_WARP = 32
_LINES, _RUN = 8, 4  # in a register of a warp: lines of a matrix, lanes of each
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
        return self.of(self.left(a, count), self.right(b, count), c, count)

    def left(self, a: Sequence[Any], count: int) -> Array:
        """The factor [warps, m, k] that registers hold."""
        return _matrix(a, self.a, self.opcode.a, count)

    def right(self, b: Sequence[Any], count: int) -> Array:
        """The factor [warps, k, n] that registers hold."""
        return _matrix(b, self.b, self.opcode.b, count)

    def of(self, left: Array, right: Array, c: Sequence[Any], count: int) -> tuple[Array, ...]:
        """The registers of d from two factors and the registers of c."""
        opcode = self.opcode
        added = _numbers(c, opcode.c, count)
        if opcode.d == "f64":
            return tuple(self._fused(left, right, np.stack(added)))
        if opcode.combine == "xor":  # a bit that one of the two has, and not both
            ones = left.sum(axis=2)[:, :, None] + right.sum(axis=1)[:, None, :]
            product = ones - 2 * (left @ right)
        else:
            product = left @ right
        # float64, wide enough for a product and a number of any type.
        totals = [
            part + number.reshape(part.shape)
            for part, number in zip(_in_lanes(product, self.d), added, strict=True)
        ]
        if opcode.d == "s32":
            return tuple(self._integers(total) for total in totals)
        if opcode.d == "f16":
            pairs = zip(totals[::2], totals[1::2], strict=True)
            return tuple(
                to_half(np.stack(pair, axis=-1)).view(np.uint32).reshape(-1) for pair in pairs
            )
        return tuple(canonical(total.astype(np.float32).reshape(-1)) for total in totals)

    def _integers(self, total: Array) -> Array:
        if self.opcode.saturates:
            total = np.clip(total, _INT32.min, _INT32.max)
        return total.astype(np.int64).astype(np.int32).reshape(-1)

    def _fused(self, left: Array, right: Array, added: Array) -> Array:
        """added [elements of a lane, count]"""
        total = added
        for k in range(left.shape[2]):
            one, other = (
                np.stack([part.reshape(-1) for part in _in_lanes(factor, self.d)])
                for factor in np.broadcast_arrays(left[:, :, k, None], right[:, k, None, :])
            )
            total = fused_multiply_add(one, other, total)
        return total


def _matrix(registers: Sequence[Any], fragment: Fragment, type_: str, count: int) -> Array:
    """[warps, rows, columns] float64, row by row."""
    words = [_every_lane(word, count) for word in registers[: fragment.registers]]
    lines, length = fragment.rows, fragment.columns
    if fragment.turned:
        lines, length = length, lines
    # Four lanes hold a run of one line: copied as one item, in its place.
    run = np.dtype((np.void, _RUN * words[0].itemsize))
    runs = len(words) * _LINES // lines  # of a line
    per = length // runs
    held = np.empty((count // _WARP, lines, runs), run)
    for word, (first, begin) in zip(words, fragment.tiles, strict=True):
        held[:, first : first + _LINES, begin // per] = word.view(run).reshape(-1, _LINES)
    raw = held.view(np.float64 if type_ == "f64" else np.uint32).reshape(count // _WARP, lines, -1)
    exact = _exact(_unpacked(raw, type_), type_)
    if fragment.turned:
        exact = exact.transpose(0, 2, 1)
    return np.ascontiguousarray(exact, np.float64)


def _every_lane(word: Any, count: int) -> Array:
    """[count], one after another in memory."""
    return np.full(count, word) if word.ndim == 0 else np.ascontiguousarray(word)


def _numbers(registers: Sequence[Any], type_: str, count: int) -> list[Array]:
    """Of an accumulator, each number of a lane: [count]."""
    words = [_every_lane(word, count) for word in registers]
    if type_ != "f16":
        return words
    pairs = [from_half(word.view(np.float16)).reshape(-1, 2) for word in words]
    return [pair[:, k] for pair in pairs for k in (0, 1)]


def _in_lanes(matrix: Array, fragment: Fragment) -> list[Array]:
    """[warps, m, n] of an accumulator -> each number of a lane: [warps, 8, 4]."""
    if fragment.turned:
        matrix = matrix.transpose(0, 2, 1)
    warps, lines, length = matrix.shape
    # A run of four lanes has two neighbours in each.
    apart = matrix.reshape(warps, lines, length // (2 * _RUN), _RUN, 2)
    return [
        apart[:, first : first + _LINES, begin // (2 * _RUN), :, (begin + k) % 2]
        for first, begin in fragment.tiles
        for k in range(fragment.row.shape[2])
    ]


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
    """As float32 where that is quick to make, else as it is."""
    exact = {"bf16": from_bfloat, "f16": from_half}.get(type_)
    found: Array = raw if exact is None else exact(raw)
    return found
