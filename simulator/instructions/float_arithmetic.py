"""Float arithmetic where PTX and NumPy disagree, and the modifiers .ftz .sat .relu.

Values that PTX calls approximate are computed in float64 and rounded once: a GPU differs from
them by a few units in the last place.

Which NaN a NaN is: an H200 gives 0x7fffffff for every float32 NaN that it computes. That is
followed where it costs little, not in sums, products, quotients and roots: a look for NaN adds
7 µs to the 9 µs of a sum of 65,536 lanes, and no kernel should ask. float64 keeps a payload on a
GPU too.
"""

from collections.abc import Callable

import numpy as np

from simulator.instructions.float_rounding import (
    Exact,
    directed,
    exact_fused,
    to_odd,
    two_product,
    two_sum,
    wide,
)
from simulator.instructions.rows import Compute
from simulator.types import Values, choose

# A float64 sum that is a tie for float32 ends in a one and 28 zeros; if the result is subnormal,
# the one stands further up. So most sums are cleared by their low 28 bits alone.
MAY_TIE = np.uint64(2**28 - 1)
TIE, ROUNDED_OFF = np.uint64(2**28), np.uint64(2**29 - 1)
ONE = np.uint64(1)
SMALLEST_NORMAL = np.float64(2.0**-126).view(np.uint64) << ONE  # of float32; as _break_ties has it
FRACTION = np.uint64(2**52 - 1)
NAN = np.uint32(0x7FFFFFFF).view(np.float32)
INFINITY = np.float32(np.inf)
UPPER_WORD = np.uint64(0xFFFFFFFF00000000)
UPPER_NAN = np.uint64(0x7FFFFFFF00000000).view(np.float64)
TINY = np.finfo(np.float32).tiny  # the smallest normal float32
SCALE = np.float32(2.0**64)
# Between these a float64 product and what it lost are both exact.
SMALL, LARGE = np.float64(2.0**-900), np.float64(2.0**900)


def fused_multiply_add(a: Values, b: Values, c: Values) -> Values:
    """PTX rounds a * b + c once. float64 holds a float32 product exactly, so only the sum rounds
    on the way; that decides the result only where it looks like a tie, so those are looked at."""
    if a.dtype.itemsize == 8:
        return _fused_multiply_add_double(a, b, c)
    total = wide(a)
    total *= b
    total += c
    rounded = total.astype(a.dtype)
    if np.minimum.reduce(total.view(np.uint64) & MAY_TIE, axis=None, initial=MAY_TIE):
        return rounded
    return _break_ties(rounded, total, a, b, c)


def _fused_multiply_add_double(a: Values, b: Values, c: Values) -> Values:
    """Adds up what the product and the sum lost; where that ends in a tie, or is out of the range
    where it works, the slow way decides."""
    product, product_lost = two_product(a, b)
    total, total_lost = two_sum(product, c)
    rest, rest_lost = two_sum(total_lost, product_lost)
    result, lost = two_sum(total, rest)
    result = choose(result == 0, total, result)  # a sum of zeros knows its sign
    tie = (lost.view(np.uint64) & FRACTION) == 0
    doubtful = (tie & (rest_lost != 0)) | ~(np.abs(result) < LARGE) | ~(np.abs(product) > SMALL)
    if not doubtful.any():
        return result
    if result.ndim == 0:
        return exact_fused(a, b, c)[0]
    a, b, c = (np.broadcast_to(operand, result.shape)[doubtful] for operand in (a, b, c))
    result[doubtful] = exact_fused(a, b, c)[0]
    return result


def _break_ties(rounded: Values, total: Values, a: Values, b: Values, c: Values) -> Values:
    """Let what the float64 sum lost decide the ties among its roundings to float32."""
    bits = total.view(np.uint64)
    doubtful = (bits & ROUNDED_OFF) == TIE
    size = (bits << ONE) - ONE  # grows with the absolute value, but zero comes out as the largest
    if np.minimum.reduce(size, axis=None) < SMALLEST_NORMAL:
        doubtful |= (size < SMALLEST_NORMAL) & ((bits & MAY_TIE) == 0)
    if not doubtful.any():
        return rounded
    if total.ndim == 0:
        return to_odd(*exact_fused(a, b, c)).astype(rounded.dtype)
    where = np.flatnonzero(doubtful)
    a, b, c = (o if o.ndim == 0 else o[where] for o in (a, b, c))
    exact, lost = exact_fused(a, b, c)
    wrong = np.flatnonzero(lost)  # a sum that lost nothing is a tie indeed
    if len(wrong):
        rounded[where[wrong]] = to_odd(exact[wrong], lost[wrong])
    return rounded


def has_nan(values: Values) -> bool:
    """Of float32. The least of values with a NaN among them is one: half as dear as to ask each."""
    return bool(np.isnan(np.minimum.reduce(values, axis=None, initial=INFINITY)))


def canonical(result: Values) -> Values:
    """float32 with the one NaN that the hardware writes; float64 keeps its own."""
    if result.dtype.itemsize > 4 or not has_nan(result):
        return result
    return choose(result != result, NAN, result)


def minimum(a: Values, b: Values) -> Values:
    """A NaN loses; and -0 < +0."""
    return _settled(np.fmin(a, b), a, b, -1)


def maximum(a: Values, b: Values) -> Values:
    return _settled(np.fmax(a, b), a, b, 1)


def minimum_or_nan(a: Values, b: Values) -> Values:
    """`.NaN`: a NaN wins; and -0 < +0."""
    return _order_zeros(canonical(np.minimum(a, b)), a, b, -1)


def maximum_or_nan(a: Values, b: Values) -> Values:
    return _order_zeros(canonical(np.maximum(a, b)), a, b, 1)


def magnitudes_with_sign(choose_one: Compute) -> Compute:
    """`.xorsign.abs`: of the magnitudes, with the exclusive or of the two signs."""

    def compute(a: Values, b: Values) -> Values:
        result = choose_one(np.abs(a), np.abs(b))
        signed = choose(np.signbit(a) ^ np.signbit(b), -result, result)
        return choose(result != result, result, signed)

    return compute


XORSIGN_MINIMUM, XORSIGN_MAXIMUM, XORSIGN_MINIMUM_OR_NAN, XORSIGN_MAXIMUM_OR_NAN = map(
    magnitudes_with_sign, (minimum, maximum, minimum_or_nan, maximum_or_nan)
)


def _settled(result: Values, a: Values, b: Values, sign: int) -> Values:
    """NumPy leaves signalling NaNs and the order of zeros to chance: see to both where they are."""
    if (np.abs(result) > 0).all():
        return result
    lost = (result != result) & ((a == a) | (b == b))
    if lost.any():
        result = choose(lost, choose(a == a, a, b), result)
    return _order_zeros(canonical(result), a, b, sign)


def _order_zeros(result: Values, a: Values, b: Values, sign: int) -> Values:
    """Of two zeros a sum prefers the positive one; negated, the negative one."""
    zeros = (a == 0) & (b == 0)
    if not zeros.any():
        return result
    return choose(zeros, a + b if sign > 0 else -(-a + -b), result)


def copy_sign(sign: Values, magnitude: Values) -> Values:
    """PTX names the sign first, NumPy the magnitude."""
    return np.copysign(magnitude, sign)


def reciprocal(a: Values) -> Values:
    return a.dtype.type(1) / a


def reciprocal_root(a: Values) -> Values:
    return canonical((1 / np.sqrt(wide(a))).astype(a.dtype))


def exponential_2(a: Values) -> Values:
    return canonical(np.exp2(wide(a)).astype(a.dtype))


def logarithm_2(a: Values) -> Values:
    return canonical(np.log2(wide(a)).astype(a.dtype))


def sine(a: Values) -> Values:
    return canonical(np.sin(wide(a)).astype(a.dtype))


def cosine(a: Values) -> Values:
    return canonical(np.cos(wide(a)).astype(a.dtype))


def hyperbolic_tangent(a: Values) -> Values:
    return canonical(np.tanh(wide(a)).astype(a.dtype))


def reciprocal_upper(a: Values) -> Values:
    """`rcp.approx.ftz.f64`: only the upper words are read and written."""
    return _upper_word(1 / flush(_upper_word(a)))


def reciprocal_root_upper(a: Values) -> Values:
    return _upper_word(1 / np.sqrt(flush(_upper_word(a))))


def _upper_word(a: Values) -> Values:
    """float64 with its lower word cleared, and a NaN as the hardware writes it."""
    upper = flush((a.view(np.uint64) & UPPER_WORD).view(np.float64))
    return choose(upper != upper, UPPER_NAN, upper)


def flush(a: Values) -> Values:
    """`.ftz`: a subnormal becomes a zero of its sign."""
    normal = np.abs(a) >= np.finfo(a.dtype).tiny  # False for NaN, and NaN * 0 is NaN
    return a * normal


def saturate(a: Values) -> Values:
    """`.sat`: clamp to [+0, 1]; a NaN becomes +0."""
    zero, one = a.dtype.type(0), a.dtype.type(1)
    clamped = np.minimum(np.maximum(a, zero), one) + zero
    nan = clamped != clamped
    return choose(nan, zero, clamped) if nan.any() else clamped


def rectify(a: Values) -> Values:
    """`.relu`: negative results become +0; a NaN stays."""
    zero = a.dtype.type(0)
    return np.maximum(a, zero) + zero


def flushed(function: Compute, exact: Callable[..., Exact] | None, direction: str) -> Compute:
    """The function of float32, with its operands and its result flushed.

    A result counts as subnormal if it is, rounded as though exponents went on below: one that only
    the coarse last place of subnormals lifts to the smallest normal becomes zero. So where that
    number comes out, `exact` tells what it was; the bits of an H200 bear it out.
    """

    def compute(*operands: Values) -> Values:
        operands = tuple(map(flush, operands))
        result = function(*operands)
        size = np.abs(result)
        kept = size >= TINY
        edge = size == TINY
        if exact is not None and edge.any():
            value, lost = exact(*operands)
            scaled = (value * SCALE, lost)
            if direction == "rn":
                unbounded = to_odd(*scaled).astype(np.float32)
            else:
                unbounded = directed(scaled, np.dtype(np.float32), direction)
            kept &= ~edge | (np.abs(unbounded) >= TINY * SCALE)
        return result * kept

    return compute


def saturated(function: Compute) -> Compute:
    return lambda *operands: saturate(function(*operands))
