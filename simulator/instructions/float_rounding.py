"""How a float result is rounded: once, in the direction that the instruction names.

An exact function returns (value, lost): the float64 nearest to the true result, and a float64 with
the sign of what that rounding lost. float64 holds every product of two float32 exactly, so for
float32 only a sum can lose anything.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.types import Values, choose

Exact = tuple[Values, Values]
SPLITTER = np.float64(2**27 + 1)
ZERO = np.float64(0)


def wide(lanes: Values) -> Values:
    return lanes.astype(np.float64)


def two_sum(a: Values, b: Values) -> Exact:
    """Knuth: a + b == total + lost, exactly."""
    total = a + b
    b_part = total - a
    lost = (a - (total - b_part)) + (b - b_part)
    return total, lost


def two_product(a: Values, b: Values) -> Exact:
    """Dekker: a * b == product + lost, exactly, while nothing over- or underflows."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, lost


def _split(a: Values) -> Exact:
    scaled = a * SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def to_odd(value: Values, lost: Values) -> Values:
    """Where something was lost, the neighbour with an odd significand: it cannot be a tie.

    Rounding that to a narrower type gives what rounding the true result would have given.
    """
    even = (value.view(np.uint64) & np.uint64(1)) == 0
    inexact = even & (lost != 0) & np.isfinite(value)
    return choose(inexact, np.nextafter(value, np.copysign(np.inf, lost)), value)


def exact_sum(a: Values, b: Values) -> Exact:
    total, lost = two_sum(wide(a), wide(b))
    return total, _of_overflow(total, lost, np.isfinite(a) & np.isfinite(b))


def exact_difference(a: Values, b: Values) -> Exact:
    return exact_sum(a, -b)


def exact_product(a: Values, b: Values) -> Exact:
    if a.dtype.itemsize < 8:
        return wide(a) * wide(b), ZERO
    return exact_fused(a, b, -ZERO)  # +0 would lose the sign of a product that is zero


def exact_fused(a: Values, b: Values, c: Values) -> Exact:
    """a * b + c; in float64 by Boldo and Melquiond, on significands, so nothing overflows early."""
    if a.dtype.itemsize < 8:
        return two_sum(wide(a) * wide(b), wide(c))
    (x, x_exponent), (y, y_exponent), (z, z_exponent) = np.frexp(a), np.frexp(b), np.frexp(c)
    scale = x_exponent + y_exponent
    # Past 200 binary places one of the two summands is too small to do more than break ties.
    distance = np.clip(z_exponent - scale, -200, 200)
    no_product = (a == 0) | (b == 0)
    scale = choose(no_product | ((c != 0) & (distance == 200)), z_exponent - distance, scale)
    high, low = two_product(x, y)
    total, rest = two_sum(np.ldexp(z, distance), low)
    upper, middle = two_sum(high, total)
    odd, odd_lost = two_sum(rest, middle)
    value, lost = two_sum(upper, to_odd(odd, odd_lost))
    value, lost = _scaled(value, choose(lost == 0, odd_lost, lost), scale)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    value = choose(no_product | (value == 0) & (lost == 0), a * b + c, value)  # the sign of a zero
    value, lost = choose(finite, value, x * y + c), choose(finite, lost, ZERO)
    return value, _of_overflow(value, lost, finite)


def _scaled(value: Values, lost: Values, exponent: Values) -> Exact:
    """value * 2**exponent; below the normal range it is rounded again, minding what was lost."""
    units = np.ldexp(value, exponent + 1074)  # in units of the smallest float64
    whole = np.rint(units)
    tie = (np.abs(units - whole) == 0.5) & (lost != 0)
    whole = choose(tie, np.floor(units) + (lost > 0), whole)
    rest = units - whole
    rest = choose(rest == 0, choose(units == 0, value, lost), rest)
    subnormal = np.abs(units) < 2.0**52
    plain = np.ldexp(value, exponent)
    return choose(subnormal, np.ldexp(whole, -1074), plain), choose(subnormal, rest, lost)


def _of_overflow(value: Values, lost: Values, finite: Values) -> Values:
    """An infinity that came from finite operands lies beyond the true result."""
    return choose(np.isinf(value) & finite, -value, lost)


def _sign(exact: Exact) -> Values:
    value, lost = exact
    return np.sign(choose(value == 0, lost, value))


def exact_quotient(a: Values, b: Values) -> Exact:
    """A float32 quotient that is no float32 cannot look like one in float64."""
    quotient = wide(a) / wide(b)
    if a.dtype.itemsize < 8:
        return quotient, ZERO
    remainder = _sign(exact_fused(-quotient, b, a))
    finite = np.isfinite(a) & np.isfinite(b) & (b != 0)
    lost = choose(np.isfinite(quotient) & finite, remainder * np.sign(b), ZERO)
    return quotient, _of_overflow(quotient, lost, finite)


def exact_reciprocal(a: Values) -> Exact:
    return exact_quotient(a.dtype.type(1), a)


def exact_square_root(a: Values) -> Exact:
    root = np.sqrt(wide(a))
    if a.dtype.itemsize < 8:
        return root, ZERO
    remainder = _sign(exact_fused(-root, root, a))
    return root, choose(np.isfinite(root), remainder, ZERO)


def directed(exact: Exact, dtype: np.dtype[Any], direction: str) -> Values:
    """Round down (rm), up (rp) or towards zero (rz): a step back from the nearest, if need be."""
    value, lost = exact
    nearest = value.astype(dtype)
    if direction != "rm":
        too_low = _is_below(nearest, value, lost)
        nearest = _step(nearest, too_low if direction == "rp" else too_low & (value < 0), 1)
    if direction != "rp":
        too_high = _is_below(-nearest, -value, -lost)
        nearest = _step(nearest, too_high if direction == "rm" else too_high & (value > 0), -1)
    return nearest


def _is_below(rounded_value: Values, value: Values, lost: Values) -> Values:
    back = wide(rounded_value)
    below = back < value
    return below | ((back == value) & (lost > 0)) if lost.ndim or lost > 0 else below


def _step(values: Values, where: Values, towards: int) -> Values:
    """The next float up (1) or down (-1) in some lanes. Bits count up from zero on either side of
    it, so an integer sum will do, several times as fast as `nextafter`."""
    width = values.dtype.itemsize
    number = np.dtype(f"i{width}").type
    bits = values.view(number)
    away_from_zero = (bits >> number(8 * width - 1)) | number(1)  # -1 below zero, else 1
    moved = (bits + away_from_zero * where * number(towards)).view(values.dtype)
    across = where & (values == 0)
    if across.any():
        smallest = np.finfo(values.dtype).smallest_subnormal
        moved = choose(across, smallest * values.dtype.type(towards), moved)
    return moved


def rounded(function: Callable[..., Exact], dtype: Any, direction: str) -> Callable[..., Values]:
    """The exact function, rounded in one direction."""
    if direction == "rm" and function in (exact_sum, exact_difference, exact_fused):
        # Down is up in a mirror. It matters where a sum is exactly zero: rounded down, it is -0.
        return lambda a, *rest: -directed(function(-a, *rest[:-1], -rest[-1]), dtype, "rp")
    return lambda *operands: directed(function(*operands), dtype, direction)
