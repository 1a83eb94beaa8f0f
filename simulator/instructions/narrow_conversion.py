"""Conversions to types that no register holds alone: tf32, and small integers packed in a word."""

from typing import Any

import numpy as np

from simulator.instructions.float_arithmetic import rectify
from simulator.instructions.rows import Operation, Spelling, Unit
from simulator.types import DTYPES, Values, choose, unsigned

TF32_BITS = np.uint32(0xFFFFE000)
TF32_NAN = np.uint32(0x7FFFE000).view(np.float32)
TF32_LAST_PLACE = np.uint32(0x2000)
INFINITY = np.uint32(0x7F800000)
PACKED = {"u16": 16, "s16": 16, "u8": 8, "s8": 8, "u4": 4, "s4": 4, "u2": 2, "s2": 2}  # bits
NARROW = PACKED.keys() - DTYPES.keys()  # types that only `cvt.pack` knows: they read as modifiers


def pack_integers(spelling: Spelling) -> Operation:
    """`cvt.pack.sat.type.s32 d, a, b`: the clamped a above the clamped b; narrow types push c, the
    rest of the word, up before them: `cvt.pack.sat.u8.s32.b32 d, a, b, c`."""
    narrow = next((m for m in spelling.modifiers if m in NARROW), None)
    name, *types = (narrow, *spelling.types) if narrow else spelling.types
    packed = spelling.modifiers - {narrow} == {"pack", "sat"} and name in PACKED
    pushes = types == ["s32", "b32"]
    if not packed or not (pushes or types == ["s32"]) or pushes != (PACKED[name] < 16):
        raise spelling.unknown()
    bits, signed = PACKED[name], name.startswith("s")
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    part = np.uint32((1 << bits) - 1)

    def compute(a: Values, b: Values, c: Values | None = None) -> Values:
        upper, lower = (unsigned(np.clip(x, np.int32(low), np.int32(high))) & part for x in (a, b))
        word = upper << np.uint32(bits) | lower
        return word if c is None else word | c << np.uint32(2 * bits)

    operands = ("s32", "s32", "b32")[: 3 if pushes else 2]
    return Operation(compute, operands, ("b32",), Unit.CONVERT)


def to_tf32(spelling: Spelling) -> Operation:
    """tf32 is float32 with 10 fraction bits: 13 fewer. `.rna` rounds ties away from zero."""
    mode = spelling.one_of(("rna", "rn", "rz"))
    clamp = "satfinite" if mode == "rna" else "relu"  # the one that each may have
    if not spelling.modifiers <= {mode, clamp}:
        raise spelling.unknown()

    def compute(a: Values) -> Values:
        word: Any = unsigned(a)
        step = np.uint32(0)
        if mode == "rna":
            step = np.uint32(0x1000)
        elif mode == "rn":
            step = np.uint32(0xFFF) + (word >> np.uint32(13) & np.uint32(1))
        cut = choose(np.isfinite(a), word + step, word) & TF32_BITS
        if "satfinite" in spelling.modifiers:
            # The hardware takes one last place from all that is not finite, NaNs too.
            cut = cut - TF32_LAST_PLACE * ((cut & INFINITY) == INFINITY)
        rounded = cut.view(np.float32)
        if mode == "rna":  # a NaN was cut like any number, and may have become an infinity
            return rounded
        if "relu" in spelling.modifiers:
            rounded = rectify(rounded)
        nan = a != a
        return choose(nan, TF32_NAN, rounded) if nan.any() else rounded

    return Operation(compute, ("f32",), ("f32",), Unit.CONVERT)
