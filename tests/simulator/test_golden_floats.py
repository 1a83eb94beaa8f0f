"""Stored PTX of float and double arithmetic gives the correctly rounded results, bit for bit."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.exact_arithmetic import rounded, square_root, value
from tests.simulator.golden.stored import (
    MOST,
    VERSIONS,
    assert_same_bits,
    check_rows,
    floats,
    kernel,
    poisoned,
    with_specials,
)

pytestmark = pytest.mark.parametrize("version", VERSIONS)

MODES = ("rn", "rz", "rp", "rm")
TYPES = {"float": ("f32", np.float32), "double": ("f64", np.float64)}


def bits_of(values):
    return [int(b) for b in values.view(f"u{values.dtype.itemsize}")]


def from_bits(raw_rows, dtype):
    return np.array(raw_rows, f"u{np.dtype(dtype).itemsize}").view(dtype)


@pytest.mark.parametrize("name", TYPES)
def test_every_rounding_of_every_operation(version, name):
    type_name, dtype = TYPES[name]
    a, b, c = (floats(dtype, seed) for seed in (1, 2, 3))
    extremes = np.finfo(dtype)
    a[:6] = [extremes.max, extremes.smallest_normal, extremes.smallest_subnormal * 5, 1, 3, -7]
    b[:6] = [extremes.max * dtype(0.75), 3, 7, extremes.smallest_subnormal * 3, extremes.max, 1]
    columns = []
    exact_inputs = ([value(raw, type_name) for raw in bits_of(x)] for x in (a, b, c))
    for p, q, r in zip(*exact_inputs, strict=True):
        exact = [p + q, p - q, p * q, p * q + r, p / q, 1 / q, square_root(abs(p))]
        assert all(exact)  # an exact zero would have a sign to decide
        column = [rounded(e, type_name, mode) for e in exact for mode in MODES]
        column += [rounded(p * q + r, type_name), rounded(p / q, type_name)]
        column += [rounded(square_root(abs(r)), type_name)]
        last = min(max(p, 0), 1) if name == "float" else p - q  # saturated there
        columns.append([*column, rounded(Fraction(last), type_name)])
    want = from_bits([list(row) for row in zip(*columns, strict=True)], dtype)
    check_rows(version, f"float_arithmetic/rounded_{name}", [a, b, c], want)


@pytest.mark.parametrize("name", TYPES)
def test_comparisons_hold_for_nan_and_infinity_as_in_c(version, name):
    _, dtype = TYPES[name]
    a, b = with_specials(floats(dtype, 4), 1), with_specials(floats(dtype, 5), 2)
    b[::7] = a[::7]

    def results(p, q):
        return [p < q, p <= q, p > q, p >= q, p == q, p != q, not p < q, not p <= q, not p > q,
                not p >= q,
                math.isnan(p), math.isinf(p), math.copysign(1, p) < 0, math.isfinite(p),
                math.isnan(p) or math.isnan(q), p < q < 100]  # fmt: skip

    columns = [results(float(p), float(q)) for p, q in zip(a, b, strict=True)]
    want = np.array(columns, np.int32).T
    check_rows(version, f"float_arithmetic/comparisons_{name}", [a, b], np.ascontiguousarray(want))


def least(p, q):
    if math.isnan(p) or math.isnan(q):
        return q if math.isnan(p) else p
    return min(p, q, key=lambda v: (v, math.copysign(1, v)))


def most(p, q):
    return -least(-p, -q)


def unless_infinite(function, p, *rest):
    """A function of Python that refuses infinities and NaN, or zero divisors: NaN there."""
    try:
        return function(p, *rest)
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.nan


def to_integer(function, p):
    if not math.isfinite(p):
        return p
    return math.copysign(float(function(p)), p)


def away_from_zero(p):
    return math.copysign(math.floor(abs(Fraction(p)) + Fraction(1, 2)), p)


def remainder(p, q):
    if math.isinf(q) and math.isfinite(p):
        return p
    return unless_infinite(math.remainder, p, q)


def next_after(p, q, dtype):
    return float(np.nextafter(dtype(p), dtype(q)))


def scaled(p, power, type_name, dtype):
    if not math.isfinite(p) or p == 0:
        return p
    raw = rounded(Fraction(p) * Fraction(2) ** power, type_name, zero_sign=math.copysign(1, p))
    return float(from_bits([raw], dtype)[0])


def binary_exponent(p):
    if p == 0 or not math.isfinite(p):
        return -math.inf if p == 0 else abs(p)
    return float(math.frexp(p)[1] - 1)


@pytest.mark.parametrize("name", TYPES)
def test_parts_of_numbers(version, name):
    type_name, dtype = TYPES[name]
    a, b = with_specials(floats(dtype, 6), 3), with_specials(floats(dtype, 7), 4)
    big = np.abs(b) > np.finfo(dtype).max / 4
    a[big & (np.abs(a) < 1e-30)] = 1.25  # no quotients of hundreds of digits

    def results(p, q):
        fraction, _ = math.frexp(p) if math.isfinite(p) else (p, 0)
        behind, whole = math.modf(p)
        positive = p - q if p > q else math.nan if math.isnan(p) or math.isnan(q) else 0.0
        if math.isfinite(p) and math.isfinite(q) and p > q:
            positive = float(from_bits([rounded(Fraction(p) - Fraction(q), type_name)], dtype)[0])
        return [
            least(p, q), most(p, q), abs(p), -p, math.copysign(p, q), to_integer(math.floor, p),
            to_integer(math.ceil, p), to_integer(math.trunc, p), to_integer(round, p),
            to_integer(away_from_zero, p), to_integer(round, p), positive, fraction, behind, whole,
            scaled(p, 3, type_name, dtype), scaled(p, -5, type_name, dtype), binary_exponent(p),
            next_after(p, q, dtype), unless_infinite(math.fmod, p, q), remainder(p, q),
        ]  # fmt: skip

    pairs = [(float(p), float(q)) for p, q in zip(a, b, strict=True)]
    with np.errstate(all="ignore"):
        want = np.array([results(p, q) for p, q in pairs], dtype).T
    for n in (1, 33, MOST):
        y, e = poisoned((21, n), dtype), poisoned((3, n), np.int32)
        run(
            kernel(version, f"float_arithmetic/parts_{name}"),
            -(-n // 32),
            32,
            a[:n].copy(),
            b[:n].copy(),
            y,
            e,
            n,
        )
        assert_same_bits(y, np.ascontiguousarray(want[:, :n]), f"parts_{name}")
        finite = np.isfinite(a[:n])
        exponents = np.array([math.frexp(p)[1] if math.isfinite(p) else 0 for p, _ in pairs[:n]])
        np.testing.assert_array_equal(e[0][finite], exponents[finite])
        if name == "float":
            lowest = np.where(
                np.isnan(a[:n]) | (a[:n] == 0), -(2**31), np.where(finite, exponents - 1, 2**31 - 1)
            )
            np.testing.assert_array_equal(e[1], lowest)
            np.testing.assert_array_equal(e[2], a[:n].view(np.int32))
        else:
            np.testing.assert_array_equal(e[1], a[:n].view(np.int64) >> 32)
            np.testing.assert_array_equal(e[2], a[:n].view(np.int64) >> 32)
