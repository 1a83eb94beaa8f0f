"""Half precision: f16, bf16 and pairs of them, computed wider and rounded once.

A bf16 is the upper half of a float32 and stays raw bits; a pair is a word, lower element first.
"""

from collections.abc import Callable

import numpy as np

from simulator.instructions.float_arithmetic import rectify, saturate
from simulator.instructions.float_rounding import two_sum, wide
from simulator.instructions.half_conversion import from_half, to_half
from simulator.instructions.rows import Compute
from simulator.types import Values, choose

Convert = Callable[[Values], Values]
SCALE = np.float32(2.0**12)
LOWER_HALF = np.uint32(0xFFFF)
BFLOAT_TIE = np.uint32(0x8000)
BFLOAT_NAN = np.uint16(0x7FFF)


def from_bfloat(raw: Values) -> Values:
    return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_bfloat(values: Values) -> Values:
    """Round float32 to the nearest bf16, ties to even; a NaN stays one."""
    word = values.view(np.uint32)
    odd = word >> np.uint32(16) & np.uint32(1)
    rounded = (word + (np.uint32(0x7FFF) + odd) >> np.uint32(16)).astype(np.uint16)
    nan = values != values
    return choose(nan, BFLOAT_NAN, rounded) if nan.any() else rounded


def as_halves(words: Values) -> Values:
    """[lanes] -> [lanes, 2], and a scalar -> [2]."""
    return np.asarray(words).reshape((*words.shape, 1)).view(np.uint16)


def as_words(halves: Values) -> Values:
    return np.ascontiguousarray(halves).view(np.uint32)[..., 0][()]


# How each type becomes float32, and how float32 (for f16 also float64) becomes the type again.
READ: dict[str, Convert] = {
    "f16": from_half,
    "bf16": from_bfloat,
    "f16x2": lambda raw: from_half(as_halves(raw).view(np.float16)),
    "bf16x2": lambda raw: from_bfloat(as_halves(raw)),
}
WRITE: dict[str, Convert] = {
    "f16": to_half,
    "bf16": to_bfloat,
    "f16x2": lambda values: as_words(to_half(values)),
    "bf16x2": lambda values: as_words(to_bfloat(values)),
}
SMALLEST_NORMAL = {"f16": np.float32(2.0**-14), "bf16": np.float32(2.0**-126)}
CLAMPS: dict[str, Convert] = {"sat": saturate, "relu": rectify}


def flush_half(values: Values, type_name: str) -> Values:
    """float32 that was a half: `.ftz` makes the subnormals of that type zeros of their sign."""
    return values * (np.abs(values) >= SMALLEST_NORMAL[type_name.removesuffix("x2")])


def in_half(function: Compute, type_name: str, modifiers: frozenset[str] = frozenset()) -> Compute:
    """A float32 function on values of a half type.

    float32 keeps more than twice a half's digits, so rounding a sum or a product first to float32
    and then to the half changes nothing.
    """
    read, write = READ[type_name], WRITE[type_name]
    clamps = [clamp for name, clamp in CLAMPS.items() if name in modifiers]

    def compute(*operands: Values) -> Values:
        return write(function(*map(read, operands)))

    def compute_clamped(*operands: Values) -> Values:
        values = [read(operand) for operand in operands]
        if "ftz" in modifiers:
            values = [flush_half(value, type_name) for value in values]
        result = function(*values)
        if "ftz" in modifiers:
            # Subnormal is what is so rounded as though exponents went on below: scaled up.
            rounded = read(write(result * SCALE)) / SCALE
            result = result * ~(flush_half(rounded, type_name) == 0)  # NaN stays
        for clamp in clamps:
            result = clamp(result)
        return write(result)

    return compute_clamped if clamps or "ftz" in modifiers else compute


def fused(a: Values, b: Values, c: Values) -> Values:
    """f16: float64 never loses the digit that decides, because f16 spans so few exponents."""
    return wide(a) * b + c


def bfloat_fused(a: Values, b: Values, c: Values) -> Values:
    """bf16 spans as many exponents as float32: where the sum looks like a tie, what float64 and
    float32 lost decides on which side it is."""
    nearest = (wide(a) * b + c).astype(np.float32)
    tie = (nearest.view(np.uint32) & LOWER_HALF) == BFLOAT_TIE
    if not tie.any():
        return nearest
    if nearest.ndim == 0:
        return to_odd_float(*two_sum(wide(a) * b, wide(c)))
    a, b, c = (np.broadcast_to(operand, nearest.shape)[tie] for operand in (a, b, c))
    nearest[tie] = to_odd_float(*two_sum(wide(a) * b, wide(c)))
    return nearest


def to_odd_float(value: Values, lost: Values) -> Values:
    """float64 (and the sign of what it lost) to the float32 neighbour whose last bit says
    "inexact": rounding that to a half gives what rounding the true result would have given."""
    nearest = value.astype(np.float32)
    back = nearest.astype(np.float64)
    too_low = (back < value) | ((back == value) & (lost > 0))
    too_high = (back > value) | ((back == value) & (lost < 0))
    even = (nearest.view(np.uint32) & np.uint32(1)) == 0
    step = even & (too_low | too_high) & np.isfinite(value)
    towards = choose(too_low, np.float32(np.inf), np.float32(-np.inf))
    return choose(step, np.nextafter(nearest, towards), nearest)
