"""f16, bf16 and pairs of them, against exact fractions rounded once."""

import math

import numpy as np
import pytest
from hypothesis import given

from simulator.instructions.opcodes import operation
from tests.simulator.exact_arithmetic import NAN, flushed, rounded, value
from tests.simulator.lane_values import as_array, few, halves, lanes, run
from tests.simulator.test_opcodes_floats import expected, f32

HALVES = ["f16", "bf16"]


@pytest.mark.parametrize("type_name", HALVES)
@pytest.mark.parametrize("name, count", [("add", 2), ("sub", 2), ("mul", 2), ("fma.rn", 3)])
def test_half_arithmetic_rounds_the_exact_result_once(name, count, type_name):
    @few
    @given(lanes(*[type_name] * count))
    def check(rows):
        want = [expected(name.split(".")[0], row, type_name) for row in rows]
        assert run(f"{name}.{type_name}", rows) == want

    check()


def nan_or(bits, type_name):
    return NAN if value(bits, type_name) == NAN else bits


@pytest.mark.parametrize("type_name", HALVES)
@pytest.mark.parametrize(
    "name, count", [("add", 2), ("mul", 2), ("fma.rn", 3), ("max", 2), ("neg", 1)]
)
def test_a_pair_is_two_independent_halves(name, count, type_name):
    @few
    @given(lanes(*[f"{type_name}x2"] * count))
    def check(rows):
        packed = run(f"{name}.{type_name}x2", rows)
        for half in (0, 1):
            single = run(f"{name}.{type_name}", [[halves(x)[half] for x in row] for row in rows])
            assert [nan_or(halves(x)[half], type_name) for x in packed] == single

    check()


# A bf16 product on a tie, and a summand far below what float32 (or float64) can see beside it.
TIES = [(0x3F81, 0x3F81, 0x0001), (0x3F81, 0x3F81, 0x8001), (0x3F81, 0xBF81, 0x0001)]


def test_half_fma_breaks_ties_by_what_float32_would_lose():
    row = tuple(rounded(x, "f16") for x in ((1 + 2**-10) / 32, (1 - 2**-10) / 64, 1 + 2**-10))
    assert run("fma.rn.f16", [row]) == [expected("fma", row, "f16")]


@pytest.mark.parametrize("row", TIES)
def test_bfloat_fma_breaks_ties_by_what_float64_lost(row):
    assert run("fma.rn.bf16", [row]) == [expected("fma", row, "bf16")]


@pytest.mark.parametrize("type_name", HALVES)
def test_half_minimum_and_maximum_treat_nan_and_zeros_as_float_does(type_name):
    infinity = {"f16": 0x7C00, "bf16": 0x7F80}[type_name]
    nan, one, minus_zero = infinity + 1, {"f16": 0x3C00, "bf16": 0x3F80}[type_name], 0x8000
    rows = [(nan, one), (one, nan), (nan, nan), (0, minus_zero), (minus_zero, 0)]
    assert run(f"max.{type_name}", rows) == [one, one, NAN, 0, 0]
    assert run(f"min.{type_name}", rows) == [one, one, NAN, minus_zero, minus_zero]
    assert run(f"max.NaN.{type_name}", rows)[:3] == [NAN] * 3


def test_half_signs_are_cleared_and_flipped():
    rows = [(0x8000,), (0x3C00,), (0xFC00,)]
    assert run("abs.f16", rows) == [0, 0x3C00, 0x7C00]
    assert run("neg.f16", rows) == [0, 0xBC00, 0x7C00]
    assert run("neg.bf16x2", [(0x3F808000,)]) == [0xBF800000]


@few
@given(lanes("f16", "f16"))
def test_half_ftz_sat_and_relu_clamp_what_they_should(rows):
    for row, zeroed, unit, positive in zip(
        rows,
        run("add.ftz.f16", rows),
        run("add.sat.f16", rows),
        run("fma.rn.relu.f16", [(a, 0x3C00, b) for a, b in rows]),
        strict=True,
    ):
        flat = expected("add", [flushed(x, "f16") for x in row], "f16")
        assert zeroed == (flat if flat == NAN else flushed(flat, "f16"))
        plain = expected("add", row, "f16")
        number = 0 if plain == NAN else value(plain, "f16")
        assert unit == rounded(max(0, min(1, number)), "f16")
        assert positive == (NAN if plain == NAN else rounded(max(0, number), "f16"))


@pytest.mark.parametrize("type_name", ["f16", "bf16"])
def test_half_exponentials_and_tangents_are_rounded_from_wider_ones(type_name):
    numbers = [0.0, 1.0, -1.0, 0.5, 3.0, -7.5]
    rows = [(rounded(x, type_name),) for x in numbers]
    ftz = ".ftz" if type_name == "bf16" else ""
    for opcode, function in ((f"ex2.approx{ftz}", lambda x: 2.0**x), ("tanh.approx", math.tanh)):
        want = [rounded(function(x), type_name) for x in numbers]
        assert run(f"{opcode}.{type_name}", rows) == want


def test_float_bits_of_the_oracle_are_ieee():
    """The oracle itself, on constants known by heart."""
    assert f32(1) == 0x3F800000
    assert rounded(65504, "f16") == 0x7BFF
    assert rounded(65520, "f16") == 0x7C00  # the tie goes to infinity
    assert rounded(2**-24, "f16") == 1
    assert value(0x3E00, "f16") == 1.5


def raw_results(opcode, *columns):
    """Bits as they are, NaNs too."""
    found = operation(opcode)
    arrays = [as_array(column, name) for column, name in zip(columns, found.operands, strict=True)]
    with np.errstate(all="ignore"):
        result = found.compute(*arrays)
    return result.view(f"u{result.dtype.itemsize}").tolist()


@pytest.mark.parametrize("type_name", HALVES)
@pytest.mark.parametrize("opcode, count", [("add", 2), ("fma.rn", 3), ("neg", 1), ("min.NaN", 2)])
def test_every_nan_of_a_half_is_the_one_that_the_hardware_writes(opcode, count, type_name):
    nan = {"f16": 0xFC01, "bf16": 0xFF81}[type_name]
    assert raw_results(f"{opcode}.{type_name}", *[[nan]] * count) == [0x7FFF]
    assert raw_results(f"{opcode}.{type_name}x2", *[[nan << 16 | nan]] * count) == [0x7FFF7FFF]


@pytest.mark.parametrize("type_name", HALVES)
def test_half_xorsign_takes_a_magnitude_and_both_signs(type_name):
    @few
    @given(lanes(type_name, type_name))
    def check(rows):
        for name, better in (("min", min), ("max", max)):
            opcode = f"{name}.NaN.xorsign.abs.{type_name}"
            for (a, b), got in zip(rows, run(opcode, rows), strict=True):
                if NAN in (value(a, type_name), value(b, type_name)):
                    assert got == NAN
                else:
                    assert got == better(a & 0x7FFF, b & 0x7FFF) | (a ^ b) & 0x8000

    check()


def test_half_ftz_looks_at_the_result_before_subnormals_have_coarsened_it():
    smallest, below_one = 0x0400, 0x3BFF  # 1 - 2**-11
    assert run("mul.f16", [(smallest, below_one)]) == [smallest]
    assert run("mul.ftz.f16", [(smallest, below_one)]) == [0]
    # (1 + 2**-6) (1 - 2**-6) = 1 - 2**-12 is 1 in eleven digits, however small the exponent.
    row = (rounded((1 + 2**-6) / 2**7, "f16"), rounded((1 - 2**-6) / 2**7, "f16"))
    assert run("mul.ftz.f16", [row]) == [smallest]
    assert run("fma.rn.ftz.f16", [(smallest, below_one, 0)]) == [0]
