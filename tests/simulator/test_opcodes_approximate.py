"""Approximate instructions: what double precision says, rounded once."""

import math
from fractions import Fraction

import pytest

from tests.simulator.exact_arithmetic import NAN, rounded, value
from tests.simulator.lane_values import run


def f32(number):
    return rounded(Fraction(number), "f32")


FUNCTIONS = {
    "ex2.approx.f32": lambda x: 2.0**x,
    "lg2.approx.f32": lambda x: math.log2(x) if x > 0 else -math.inf if x == 0 else math.nan,
    "sin.approx.f32": math.sin,
    "cos.approx.f32": math.cos,
    "tanh.approx.f32": math.tanh,
    "rsqrt.approx.f32": lambda x: 1 / math.sqrt(x) if x > 0 else math.inf if x == 0 else math.nan,
    "rcp.approx.f32": lambda x: 1 / x if x else math.inf,
    "sqrt.approx.f32": lambda x: math.sqrt(x) if x >= 0 else math.nan,
}


@pytest.mark.parametrize("opcode", FUNCTIONS)
def test_approximate_functions_are_rounded_from_double(opcode):
    numbers = [0.0, 1.0, 0.5, 2.0, 3.0, 0.1, 7.25, 100.0, -0.5, -1.0, -3.7, 1e-20, 2.0**-130]
    raw = [rounded(Fraction(x), "f32") for x in numbers]
    results = run(opcode, [(x,) for x in raw])
    for x, bits, got in zip(numbers, raw, results, strict=True):
        true = FUNCTIONS[opcode](float(value(bits, "f32")))
        if math.isnan(true):
            assert got == NAN
        else:
            want = rounded(Fraction(true) if math.isfinite(true) else true, "f32")
            assert abs(got - want) <= 1, x  # libraries differ in the last bit of a double


def test_special_values_of_the_approximate_functions():
    zero, negative_zero, one, infinity = 0, 1 << 31, f32(1), 0x7F800000
    minus = infinity | 1 << 31
    assert run("ex2.approx.f32", [(zero,), (minus,), (infinity,)]) == [one, zero, infinity]
    assert run("lg2.approx.f32", [(one,), (negative_zero,), (infinity,)]) == [zero, minus, infinity]
    assert run("rsqrt.approx.f32", [(negative_zero,), (infinity,)]) == [minus, zero]
    assert run("rcp.approx.ftz.f32", [(1,), (negative_zero | 1,)]) == [infinity, minus]
    assert run("sin.approx.f32", [(infinity,), (negative_zero,)]) == [NAN, negative_zero]
    assert run("sqrt.rn.f32", [(negative_zero,), (f32(-1),)]) == [negative_zero, NAN]


@pytest.mark.parametrize("name", ["rcp", "rsqrt"])
def test_the_gross_approximations_of_double_precision_see_the_upper_word_alone(name):
    opcode = f"{name}.approx.ftz.f64"
    for bits in (0x3FF0000012345678, 0x4014BDF0446CE2C7, 0x7FD0000000000000):
        (got,) = run(opcode, [(bits,)])
        assert got & 0xFFFFFFFF == 0
        assert run(opcode, [(bits & ~0xFFFFFFFF,)]) == [got]
        x = value(bits, "f64")
        true = Fraction(1) / x if name == "rcp" else Fraction(1 / math.sqrt(x))
        if true >= Fraction(2) ** -1022:
            assert abs(value(got, "f64") / true - 1) < Fraction(2) ** -19
    assert run(opcode, [(0x7FF0000000000001,)]) == [0]  # its upper word is an infinity's
