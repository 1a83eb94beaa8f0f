"""Stored PTX of half and bfloat16 gives the correctly rounded results."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.exact_arithmetic import NAN, rounded, value
from tests.simulator.golden.halves import (
    FORMATS,
    check_bits,
    extended,
    is_nan,
    negative,
    ordered,
    raw_numbers,
    relu,
    saturated,
    sign_of_difference,
    sign_of_fused,
    sign_of_product,
    sign_of_sum,
    smaller,
)
from tests.simulator.golden.stored import MOST, SIZES, VERSIONS, kernel, poisoned, rows

pytestmark = pytest.mark.parametrize("version", VERSIONS)


@pytest.mark.parametrize("name", FORMATS)
def test_arithmetic_is_rounded_once(version, name):
    type_name, _ = FORMATS[name]
    a, b, c = (raw_numbers(type_name, seed) for seed in (1, 2, 3))
    add = extended(lambda p, q: p + q, type_name, sign_of_sum)
    subtract = extended(lambda p, q: p - q, type_name, sign_of_difference)
    multiply = extended(lambda p, q: p * q, type_name, sign_of_product)
    divide = extended(lambda p, q: p / q, type_name, sign_of_product)
    fused = extended(lambda p, q, r: p * q + r, type_name, sign_of_fused)

    def with_sign(p, minus):
        return NAN if is_nan(p, type_name) else int(p) & 0x7FFF | minus << 15

    def in_two_steps(p, q, r):  # operators are inline assembly: nobody fuses * and +
        product = multiply(p, q)
        return NAN if product == NAN else add(product, r)

    def results(p, q, r):
        row = [add(p, q), subtract(p, q), multiply(p, q), divide(p, q), add(p, r), subtract(p, r),
               multiply(p, r), fused(p, q, r), with_sign(p, not negative(p)), with_sign(p, False),
               smaller(p, q, type_name), smaller(p, q, type_name, larger=True)]  # fmt: skip
        both = [smaller(p, q, type_name, True), smaller(p, q, type_name, True, True)]
        if name == "half":
            row += [saturated(add(p, q), type_name), saturated(fused(p, q, r), type_name)]
            return [*row, relu(fused(p, q, r)), *both, in_two_steps(p, q, r)]
        return [*row, relu(fused(p, q, r)), in_two_steps(p, q, r), *both]

    want = [
        list(row) for row in zip(*(results(*v) for v in zip(a, b, c, strict=True)), strict=True)
    ]
    for n, y in rows(version, f"{name}/{name}_arithmetic", [a, b, c], np.uint16, len(want)):
        for k, row in enumerate(want):
            check_bits(y[k], row[:n], type_name, f"result {k}")


def functions_of(name):
    both = {"sqrt": lambda x: abs(x) ** 0.5, "rsqrt": lambda x: abs(x) ** -0.5,
    "rcp": lambda x: 1 / abs(x),
            "exp": math.exp, "exp2": lambda x: 2.0**x, "exp10": lambda x: 10.0**x,
            "log": lambda x: math.log(abs(x)), "log2": lambda x: math.log2(abs(x)),
            "log10": lambda x: math.log10(abs(x)), "sin": math.sin, "cos": math.cos}  # fmt: skip
    return both if name == "half" else {k: f for k, f in both.items() if "10" not in k}


@pytest.mark.parametrize("name", FORMATS)
def test_functions_are_right_to_one_unit(version, name):
    """The headers correct a few results for what the hardware's approximation gives there."""
    type_name, _ = FORMATS[name]
    a = raw_numbers(type_name, 4, specials=False)
    a = np.where((a & 0x7FFF) > rounded(Fraction(9), type_name), a & 0xBFFF, a).astype(np.uint16)
    numbers = [float(value(int(raw), type_name)) for raw in a]
    table = functions_of(name)
    whole = [math.floor, math.ceil, math.trunc, round]
    for n, y in rows(
        version, f"{name}/{name}_functions", [a], np.uint16, len(table) + 4, sizes=(1, MOST)
    ):
        for k, (title, function) in enumerate(table.items()):
            want = [rounded(Fraction(function(v)), type_name) for v in numbers[:n]]
            steps = [
                abs(ordered(g, type_name) - ordered(w, type_name))
                for g, w in zip(y[k], want, strict=True)
            ]
            assert max(steps) <= 1, title
        for k, function in enumerate(whole, len(table)):
            want = [
                rounded(Fraction(function(v)), type_name, zero_sign=math.copysign(1, v))
                for v in numbers[:n]
            ]
            check_bits(y[k], want, type_name, function.__name__)


@pytest.mark.parametrize("name", FORMATS)
def test_comparisons_and_masks(version, name):
    type_name, infinity = FORMATS[name]
    a, b = raw_numbers(type_name, 5), raw_numbers(type_name, 6)
    b[::5] = a[::5]

    def results(p, q):
        x, y = (
            math.nan if value(int(r), type_name) == NAN else float(value(int(r), type_name))
            for r in (p, q)
        )
        either = math.isnan(x) or math.isnan(y)
        below, equal, yy = x < y, x == y, y == y
        row = [below, x <= y, x > y, x >= y, equal, not equal]
        if name == "half":
            one = 0x3C00 if x > y else 0
            sign = 0 if not math.isinf(x) else 1 if x > 0 else -1
            mask = (0xFFFF if equal else 0) | (0xFFFF0000 if yy else 0)
            return [
                *row,
                below or either,
                not equal,
                math.isnan(x),
                abs(sign),
                equal and yy,
                False,
                one,
                mask - (mask >> 31 << 32),
            ]
        return [*row, x > y or either, math.isnan(x), equal and yy, False]

    want = np.array([results(p, q) for p, q in zip(a, b, strict=True)], np.int64).T
    for n, y in rows(version, f"{name}/{name}_comparisons", [a, b], np.int32, len(want)):
        if name == "half":
            y[9] = y[9] != 0
        np.testing.assert_array_equal(y, want[:, :n])


@pytest.mark.parametrize("name", FORMATS)
def test_pairs_are_two_numbers_in_a_word(version, name):
    type_name, _ = FORMATS[name]
    a, b = raw_numbers(type_name, 7, specials=False), raw_numbers(type_name, 8, specials=False)
    add = extended(lambda p, q: p + q, type_name)
    subtract = extended(lambda p, q: p - q, type_name)
    multiply = extended(lambda p, q: p * q, type_name)
    fused = extended(lambda p, q, r: p * q + r, type_name)
    divide = extended(lambda p, q: p / q, type_name)
    three = rounded(Fraction(3), type_name)
    for n in (2, 64, MOST) if name == "bfloat" else (*SIZES, 2):
        want = [[] for _ in range(8)]
        for k in range(0, n - 1, 2):
            (p, q), (r, s) = a[k : k + 2], b[k : k + 2]
            one = rounded(Fraction(1), type_name)
            pairs = {
                0: [add(p, r), add(q, s)], 1: [multiply(p, r), multiply(q, s)],
                2: [fused(p, r, p), fused(q, s, q)],
                3: [smaller(p, r, type_name, larger=True), smaller(q, s, type_name, larger=True)],
                6: [multiply(p, three), int(s)], 7: [subtract(q, r), subtract(q, s)],
            }  # fmt: skip
            if name == "half":
                pairs |= {4: [divide(one, r), divide(one, s)], 5: [int(q), int(p)]}
            else:
                pairs |= {4: [int(q), int(p)], 5: [int(p) ^ 0x8000, int(q) ^ 0x8000]}
            for row, pair in pairs.items():
                want[row] += pair
        if n % 2:
            for k in range(8):
                want[k].append(rounded(Fraction(k), type_name))
        y = poisoned((8, n), np.uint16)
        run(
            kernel(version, f"{name}/{name}_pairs"),
            -(-n // 64),
            32,
            a[:n].copy(),
            b[:n].copy(),
            y,
            n,
        )
        for k in range(8):
            check_bits(y[k], want[k], type_name, f"pair {k} of {n}")
