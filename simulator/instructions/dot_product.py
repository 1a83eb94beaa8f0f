"""dp4a and dp2a: dot products of the small integers packed in a word, lowest first."""

from typing import Any

import numpy as np

from simulator.instructions.rows import Operation, Spelling, Unit
from simulator.types import Values


def _parts(word: Values, bits: int, signed: bool) -> list[Values]:
    """A word [lanes] as its signed or unsigned parts, each widened to int64."""
    dtype: Any = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
    shifts = range(0, 32, bits)
    return [(word >> np.uint32(shift)).astype(dtype).astype(np.int64) for shift in shifts]


def dot_product(spelling: Spelling) -> Operation:
    """`dp4a.atype.btype d, a, b, c` and `dp2a.lo|hi.atype.btype`: c + the products, wrapping.

    dp2a multiplies the two halves of a by the two lower (or upper) bytes of b.
    """
    if len(spelling.types) != 2 or not set(spelling.types) <= {"u32", "s32"}:
        raise spelling.unknown()
    a_signed, b_signed = (name == "s32" for name in spelling.types)
    result = "s32" if a_signed or b_signed else "u32"
    a_bits = 8 if spelling.name == "dp4a" else 16
    skipped = 0
    if spelling.name == "dp2a":
        skipped = {"lo": 0, "hi": 2}[spelling.one_of(("lo", "hi"))]
    elif spelling.modifiers:
        raise spelling.unknown()

    def compute(a: Values, b: Values, c: Values) -> Values:
        total = c.astype(np.int64)
        b_parts = _parts(b, 8, b_signed)[skipped:]
        for x, y in zip(_parts(a, a_bits, a_signed), b_parts, strict=False):
            total = total + x * y
        return total.astype(c.dtype)

    return Operation(compute, ("b32", "b32", result), (result,), Unit.FMA)
