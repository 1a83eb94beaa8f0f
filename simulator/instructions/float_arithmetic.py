"""Float arithmetic where PTX and NumPy disagree, and the modifiers .ftz .sat .relu.

Values that PTX calls approximate are computed in float64 and rounded once: a GPU differs from
them by a few units in the last place. Which NaN a NaN is, is not modelled.
"""

import numpy as np

from simulator.instructions.float_rounding import exact_fused, to_odd, two_product, two_sum, wide
from simulator.instructions.rows import Compute
from simulator.types import Values, choose

# A float64 sum whose low 28 bits are all zero may be a tie for float32 (or a small result).
MAY_TIE = np.uint64(2**28 - 1)
FRACTION = np.uint64(2**52 - 1)
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
    if not (total.view(np.uint64) & MAY_TIE).min(initial=MAY_TIE):
        total = _break_ties(total, a, b, c)
    return total.astype(a.dtype)


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


def _break_ties(total: Values, a: Values, b: Values, c: Values) -> Values:
    """Let what the float64 sum lost decide the ties among its roundings to float32."""
    tie = (total.view(np.uint64) & np.uint64(2**29 - 1)) == np.uint64(2**28)
    tiny = (np.abs(total) < np.finfo(np.float32).tiny) & (total != 0)
    doubtful = tie | tiny
    if not doubtful.any():
        return total
    if total.ndim == 0:
        return to_odd(*exact_fused(a, b, c))
    a, b, c = (np.broadcast_to(operand, total.shape)[doubtful] for operand in (a, b, c))
    total[doubtful] = to_odd(*exact_fused(a, b, c))
    return total


def minimum(a: Values, b: Values) -> Values:
    """A NaN loses; and -0 < +0."""
    return _settled(np.fmin(a, b), a, b, -1)


def maximum(a: Values, b: Values) -> Values:
    return _settled(np.fmax(a, b), a, b, 1)


def minimum_or_nan(a: Values, b: Values) -> Values:
    """`.NaN`: a NaN wins; and -0 < +0."""
    return _order_zeros(np.minimum(a, b), a, b, -1)


def maximum_or_nan(a: Values, b: Values) -> Values:
    return _order_zeros(np.maximum(a, b), a, b, 1)


def _settled(result: Values, a: Values, b: Values, sign: int) -> Values:
    """NumPy leaves signalling NaNs and the order of zeros to chance: see to both where they are."""
    if (np.abs(result) > 0).all():
        return result
    lost = (result != result) & ((a == a) | (b == b))
    if lost.any():
        result = choose(lost, choose(a == a, a, b), result)
    return _order_zeros(result, a, b, sign)


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
    return (1 / np.sqrt(wide(a))).astype(a.dtype)


def exponential_2(a: Values) -> Values:
    return np.exp2(wide(a)).astype(a.dtype)


def logarithm_2(a: Values) -> Values:
    return np.log2(wide(a)).astype(a.dtype)


def sine(a: Values) -> Values:
    return np.sin(wide(a)).astype(a.dtype)


def cosine(a: Values) -> Values:
    return np.cos(wide(a)).astype(a.dtype)


def hyperbolic_tangent(a: Values) -> Values:
    return np.tanh(wide(a)).astype(a.dtype)


def flush(a: Values) -> Values:
    """`.ftz`: a subnormal becomes a zero of its sign.

    Bound: a result that only its rounding lifts to the smallest normal is kept; a GPU flushes it.
    """
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


def flushed(function: Compute) -> Compute:
    """The function, with its operands and its result flushed."""
    return lambda *operands: flush(function(*map(flush, operands)))


def saturated(function: Compute) -> Compute:
    return lambda *operands: saturate(function(*operands))
