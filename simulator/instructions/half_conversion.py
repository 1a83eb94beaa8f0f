"""f16 to float32 and back, by integer arithmetic where NumPy's own conversions are slow.

NumPy converts halves one by one: 2 ns a value to float32, 5 ns back. The same in operations on
whole arrays takes 0.5 and 2 ns. Below some thousand values the fixed cost of an operation decides,
and a table or NumPy itself is faster. The results are the same bits (NaN: `to_half`).
"""

import numpy as np

from simulator.types import Values

HALF_NAN = np.uint16(0x7FFF).view(np.float16)  # what the hardware writes
_FEW = 4096  # values

_EVERY_HALF = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
_INFINITY = np.uint16(0x7C00)  # and NaN: these bits of the exponent are set
_FRACTION_BITS = 23 - 10  # of float32, less those of a half
_KEPT = np.uint32(0x8FFF_E000)  # sign, and exponent and fraction of a half, shifted
_REBIAS = np.float32(2.0**112)  # from exponents that count from 127 to those that count from 15

_MAGNITUDE = np.int32(0x7FFF_FFFF)
_LARGEST = np.int32(0x7F80_0000)  # float32's infinity
# Of a magnitude: to exponents of a half, and half of the last place that stays, but one.
_ROUND = np.int32(0xFFF - (112 << 23))
_ONE = np.int32(1)
_STEP = np.float32(0.5)  # what added to it rounds a float32 to multiples of 2^-24
_STEP_BITS = np.int32(np.float32(0.5).view(np.int32))
_SMALLEST_NORMAL = np.int32(0x400)


def from_half(raw: Values) -> Values:
    """float32 of f16, exactly."""
    if raw.ndim == 0 or raw.size <= _FEW:
        return _EVERY_HALF.take(raw.view(np.uint16), mode="wrap")
    if (raw.view(np.uint16) & _INFINITY).max() == _INFINITY:
        wide: Values = raw.astype(np.float32)
        return wide
    word = raw.view(np.int16).astype(np.int32)
    word <<= _FRACTION_BITS
    bits = word.view(np.uint32)
    bits &= _KEPT
    values = bits.view(np.float32)
    values *= _REBIAS  # also what makes subnormal halves normal
    return values


def to_half(values: Values) -> Values:
    """Round float32 or float64 to the nearest f16, ties to even; a NaN becomes HALF_NAN."""
    if values.ndim == 0 or values.size <= _FEW or values.dtype.itemsize != 4:
        rounded = values.astype(np.float16)
        nan = values != values
        return np.where(nan, HALF_NAN, rounded)[()] if nan.any() else rounded
    word = values.view(np.int32)
    magnitude = word & _MAGNITUDE
    # Of a subnormal half the last place is 2^-24: float32 addition rounds there.
    small = magnitude.view(np.float32) + _STEP
    subnormal = small.view(np.int32)
    subnormal -= _STEP_BITS
    half = magnitude >> _FRACTION_BITS
    half &= _ONE  # the last bit that stays: a tie goes to even
    half += magnitude
    half += _ROUND
    half >>= _FRACTION_BITS
    # Below the smallest normal half `half` lies below 0x400, and `subnormal` not above it; from
    # there on `subnormal` is not below `half`.
    np.maximum(half, _SMALLEST_NORMAL, out=half)
    np.minimum(half, subnormal, out=half)
    np.minimum(half, np.int32(_INFINITY), out=half)
    sign = word >> 16
    sign &= np.int32(-0x8000)
    half |= sign
    rounded = half.astype(np.uint16).view(np.float16)
    if magnitude.max() > _LARGEST:
        rounded[values != values] = HALF_NAN
    return rounded
