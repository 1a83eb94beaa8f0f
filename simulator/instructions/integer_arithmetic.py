"""Integer arithmetic where PTX and NumPy disagree. Sums and products wrap in both."""

from typing import Any

import numpy as np

from simulator.instructions.half_arithmetic import as_halves, as_words
from simulator.instructions.rows import Compute
from simulator.types import Values, choose, unsigned

LOW_HALF = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def widened(lanes: Values) -> Values:
    """The same numbers at twice the width, so that a product keeps all its bits."""
    return lanes.astype(f"{lanes.dtype.kind}{2 * lanes.dtype.itemsize}")


def add_saturated(a: Values, b: Values) -> Values:
    """`.sat` stops at the ends of the type, where a NumPy sum wraps."""
    return _into(a.dtype, widened(a) + b)


def subtract_saturated(a: Values, b: Values) -> Values:
    return _into(a.dtype, widened(a) - b)


def _into(dtype: np.dtype[Any], exact: Values) -> Values:
    range_ = np.iinfo(dtype)
    return np.clip(exact, exact.dtype.type(range_.min), exact.dtype.type(range_.max)).astype(dtype)


def multiply_high(a: Values, b: Values) -> Values:
    """The upper half of the double-width product."""
    if a.dtype.itemsize == 8:
        return _multiply_high_64(a, b)
    product = widened(a) * b
    return (product >> product.dtype.type(8 * a.dtype.itemsize)).astype(a.dtype)


def _multiply_high_64(a: Values, b: Values) -> Values:
    """Schoolbook in 32-bit halves: NumPy has no 128-bit integer."""
    x, y = unsigned(a), unsigned(b)
    x_low, x_high, y_low, y_high = x & LOW_HALF, x >> HALF, y & LOW_HALF, y >> HALF
    middle = x_high * y_low + (x_low * y_low >> HALF)
    other = x_low * y_high + (middle & LOW_HALF)
    high = x_high * y_high + (middle >> HALF) + (other >> HALF)
    if a.dtype.kind == "i":  # a negative factor was read as itself plus 2**64
        high = high - y * (a < 0) - x * (b < 0)
    return high.view(a.dtype)


def multiply_wide(a: Values, b: Values) -> Values:
    return widened(a) * b


def multiply_add(a: Values, b: Values, c: Values) -> Values:
    return a * b + c


def multiply_add_high(a: Values, b: Values, c: Values) -> Values:
    return multiply_high(a, b) + c


def multiply_add_high_saturated(a: Values, b: Values, c: Values) -> Values:
    return add_saturated(multiply_high(a, b), c)


def multiply_add_wide(a: Values, b: Values, c: Values) -> Values:
    return widened(a) * b + c


def _low_24_bits(lanes: Values) -> Values:
    return lanes << lanes.dtype.type(8) >> lanes.dtype.type(8)  # signed: bit 23 is the sign


def multiply_24_low(a: Values, b: Values) -> Values:
    """Bits 0..31 of the 48-bit product of the low 24 bits."""
    return _low_24_bits(a) * _low_24_bits(b)


def multiply_24_high(a: Values, b: Values) -> Values:
    """Bits 16..47 of the 48-bit product of the low 24 bits."""
    product = widened(_low_24_bits(a)) * _low_24_bits(b)
    return (product >> product.dtype.type(16)).astype(a.dtype)


def multiply_add_24_low(a: Values, b: Values, c: Values) -> Values:
    return multiply_24_low(a, b) + c


def multiply_add_24_high(a: Values, b: Values, c: Values) -> Values:
    return multiply_24_high(a, b) + c


def multiply_add_24_saturated(a: Values, b: Values, c: Values) -> Values:
    return add_saturated(multiply_24_high(a, b), c)


def divide(a: Values, b: Values) -> Values:
    """PTX rounds a quotient towards zero; NumPy rounds it down. Nothing traps: see `_over_zero`."""
    quotient = a // b
    if a.dtype.kind == "i":
        quotient = quotient + (((a ^ b) < 0) & (quotient * b != a) & (b != 0))
    return _over_zero(quotient, b)


def remainder(a: Values, b: Values) -> Values:
    """The sign of a, as in C: NumPy's `fmod`, not its `%`."""
    return _over_zero(np.fmod(a, b), b)


def _over_zero(result: Values, b: Values) -> Values:
    """PTX leaves x / 0 and x % 0 open; an H200 gives all ones for both, NumPy 0."""
    zero = b == 0
    return choose(zero, ~b, result) if zero.any() else result


def sum_of_absolute_differences(a: Values, b: Values, c: Values) -> Values:
    return c + (np.maximum(a, b) - np.minimum(a, b))


def minimum_rectified(a: Values, b: Values) -> Values:
    """`.relu`: what is negative becomes 0."""
    return np.maximum(np.minimum(a, b), a.dtype.type(0))


def maximum_rectified(a: Values, b: Values) -> Values:
    return np.maximum(np.maximum(a, b), a.dtype.type(0))


def in_pairs(function: Compute, dtype: np.dtype[Any]) -> Compute:
    """The function on both 16-bit halves of a word, each by itself."""

    def compute(*operands: Values) -> Values:
        result = function(*(as_halves(operand).view(dtype) for operand in operands))
        return as_words(result)

    return compute


def is_zero(a: Values) -> Values:
    """`cnot`: C's `!`, as a number."""
    return (a == 0).astype(a.dtype)


def add_carry_out(a: Values, b: Values) -> tuple[Values, Values]:
    total = a + b
    return total, unsigned(total) < unsigned(a)


def add_carry(a: Values, b: Values, carry: Values) -> tuple[Values, Values]:
    partial, first = add_carry_out(a, b)
    total, second = add_carry_out(partial, carry.astype(a.dtype))
    return total, first | second


def add_carry_in(a: Values, b: Values, carry: Values) -> Values:
    return a + b + carry.astype(a.dtype)


def subtract_borrow_out(a: Values, b: Values) -> tuple[Values, Values]:
    return a - b, unsigned(a) < unsigned(b)


def subtract_borrow(a: Values, b: Values, borrow: Values) -> tuple[Values, Values]:
    partial, first = subtract_borrow_out(a, b)
    total, second = subtract_borrow_out(partial, borrow.astype(a.dtype))
    return total, first | second


def subtract_borrow_in(a: Values, b: Values, borrow: Values) -> Values:
    return a - b - borrow.astype(a.dtype)


def multiply_add_carry_out(a: Values, b: Values, c: Values) -> tuple[Values, Values]:
    return add_carry_out(a * b, c)


def multiply_add_carry(a: Values, b: Values, c: Values, carry: Values) -> tuple[Values, Values]:
    return add_carry(a * b, c, carry)


def multiply_add_carry_in(a: Values, b: Values, c: Values, carry: Values) -> Values:
    return add_carry_in(a * b, c, carry)


def multiply_add_high_carry_out(a: Values, b: Values, c: Values) -> tuple[Values, Values]:
    return add_carry_out(multiply_high(a, b), c)


def multiply_add_high_carry(
    a: Values, b: Values, c: Values, carry: Values
) -> tuple[Values, Values]:
    return add_carry(multiply_high(a, b), c, carry)


def multiply_add_high_carry_in(a: Values, b: Values, c: Values, carry: Values) -> Values:
    return add_carry_in(multiply_high(a, b), c, carry)
