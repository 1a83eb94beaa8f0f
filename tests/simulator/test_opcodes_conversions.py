"""cvt in every direction, against Python's integers and fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from simulator.instructions.opcodes import operation
from tests.simulator.exact_arithmetic import (
    NAN,
    clamped,
    flushed,
    integer_range,
    number,
    rounded,
    sign_of,
    value,
    whole,
    width_of,
    wrapped,
)
from tests.simulator.lane_values import as_array, few, halves, lanes, run

INTEGERS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
MODES = ["rn", "rz", "rm", "rp"]


@pytest.mark.parametrize("source", INTEGERS)
def test_integers_are_extended_cut_or_clamped(source):
    @few
    @given(lanes(source))
    def check(rows):
        for result in INTEGERS:
            values = [number(raw, source) for (raw,) in rows]
            assert run(f"cvt.{result}.{source}", rows) == [wrapped(x, result) for x in values]
            saturated = [wrapped(clamped(x, result), result) for x in values]
            assert run(f"cvt.sat.{result}.{source}", rows) == saturated

    check()


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
def test_floats_become_integers_rounded_and_clamped(source, mode):
    def integer(raw, result):
        x = value(raw, source)
        if x == NAN:  # the highest bit alone, if 64 bits are on either side
            return 1 << (width_of(result) - 1) if "64" in source + result else 0
        low, high = integer_range(result)
        if x in (math.inf, -math.inf):
            return wrapped(high if x > 0 else low, result)
        return wrapped(clamped(whole(x, mode), result), result)

    @few
    @given(lanes(source))
    def check(rows):
        for result in INTEGERS:
            want = [integer(raw, result) for (raw,) in rows]
            assert run(f"cvt.{mode}.{result}.{source}", rows) == want

    check()


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("result", FLOATS)
def test_integers_become_floats_rounded_once(source, result):
    @few
    @given(lanes(source))
    def check(rows):
        for mode in MODES:
            want = [rounded(Fraction(number(raw, source)), result, mode) for (raw,) in rows]
            assert run(f"cvt.{mode}.{result}.{source}", rows) == want
        unit = [rounded(max(0, min(1, number(raw, source))), result) for (raw,) in rows]
        assert run(f"cvt.rn.sat.{result}.{source}", rows) == unit

    check()


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("result", FLOATS)
def test_floats_become_other_floats_rounded_once(source, result):
    @few
    @given(lanes(source))
    def check(rows):
        for mode in MODES:
            want = [
                rounded(value(raw, source), result, mode, sign_of(raw, source)) for (raw,) in rows
            ]
            assert run(f"cvt.{mode}.{result}.{source}", rows) == want

    check()


@pytest.mark.parametrize("type_name", ["f16", "f32", "f64"])
@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
def test_a_float_is_rounded_to_a_whole_float_and_keeps_its_sign(type_name, mode):
    def whole_float(raw):
        x = value(raw, type_name)
        if x == NAN or not isinstance(x, Fraction | int):
            return NAN if x == NAN else raw
        return rounded(whole(x, mode), type_name, "rn", sign_of(raw, type_name))

    @few
    @given(lanes(type_name))
    def check(rows):
        want = [whole_float(raw) for (raw,) in rows]
        assert run(f"cvt.{mode}.{type_name}.{type_name}", rows) == want

    check()


@few
@given(lanes("f32"))
def test_conversions_saturate_flush_and_rectify(rows):
    for (raw,), unit, flat, positive, bounded in zip(
        rows,
        run("cvt.sat.f32.f32", rows),
        run("cvt.ftz.f64.f32", rows),
        run("cvt.rn.relu.f16.f32", rows),
        run("cvt.rn.satfinite.f16.f32", rows),
        strict=True,
    ):
        x = value(raw, "f32")
        assert unit == rounded(0 if x == NAN else max(0, min(1, x)), "f32")
        zero = flushed(raw, "f32")
        assert flat == rounded(value(zero, "f32"), "f64", "rn", sign_of(raw, "f32"))
        assert positive == (NAN if x == NAN else rounded(max(0, x), "f16"))
        within = x if x == NAN else max(-65504, min(65504, x))
        assert bounded == rounded(within, "f16", "rn", sign_of(raw, "f32"))


def nan_or(bits, type_name):
    return NAN if value(bits, type_name) == NAN else bits


@pytest.mark.parametrize("half", ["f16", "bf16"])
@pytest.mark.parametrize("mode", ["rn", "rz"])
def test_a_pack_puts_its_first_operand_in_the_upper_half(half, mode):
    @few
    @given(lanes("f32", "f32"))
    def check(rows):
        def one(raw):
            return rounded(value(raw, "f32"), half, mode, sign_of(raw, "f32"))

        for (high, low), got in zip(rows, run(f"cvt.{mode}.{half}x2.f32", rows), strict=True):
            assert [nan_or(x, half) for x in halves(got)] == [one(low), one(high)]

    check()


@pytest.mark.parametrize("mode", ["rna", "rn", "rz"])
def test_tf32_keeps_ten_fraction_bits(mode):
    unit = Fraction(2) ** -10
    for steps in (0, 1, 2, 3, 1023):
        for rest in (0, Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):
            x = 1 + (steps + rest) * unit
            up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and (mode == "rna" or steps % 2))
            kept = steps + (1 if up and mode != "rz" else 0)
            raw = rounded(x, "f32")
            assert run(f"cvt.{mode}.tf32.f32", [(raw,)]) == [rounded(1 + kept * unit, "f32")]


def test_rounding_ties_and_overflow_by_known_constants():
    assert run("cvt.rni.s32.f32", [(0x3F000000,), (0x3FC00000,), (0xBF000000,)]) == [0, 2, 0]
    assert run("cvt.rzi.s32.f32", [(0x7FC00000,), (0x4F000000,)]) == [0, 0x7FFFFFFF]
    assert run("cvt.rzi.u32.f32", [(0xBF800000,), (0x4F800000,)]) == [0, 0xFFFFFFFF]
    assert run("cvt.rn.f16.f32", [(0x477FF000,), (0x477FEFFF,)]) == [0x7C00, 0x7BFF]
    assert run("cvt.rn.bf16.f32", [(0x3F808000,), (0x3F818000,)]) == [0x3F80, 0x3F82]
    assert run("cvt.rn.f32.s32", [(0x01000001,), (0x01000003,)]) == [0x4B800000, 0x4B800002]


def test_tf32_may_be_rectified_or_kept_finite():
    assert run("cvt.rn.relu.tf32.f32", [(0xBF800000,), (0x3F800FFF,)]) == [0, 0x3F800000]
    assert run("cvt.rna.tf32.f32", [(0x7F7FFFFF,)]) == [0x7F800000]
    assert run("cvt.rna.satfinite.tf32.f32", [(0x7F7FFFFF,), (0xFF800000,)]) == [
        0x7F7FE000,
        0xFF7FE000,
    ]


PACKED = {"u16": 16, "s16": 16, "u8": 8, "s8": 8, "u4": 4, "s4": 4, "u2": 2, "s2": 2}


@pytest.mark.parametrize("name", PACKED)
def test_a_pack_of_integers_clamps_two_and_pushes_the_third_up(name):
    bits = PACKED[name]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if name[0] == "s" else (0, (1 << bits) - 1)

    @few
    @given(lanes("s32", "s32", "b32"))
    def check(rows):
        rows = rows + [(a % 7, b % 300, c) for a, b, c in rows[:8]]
        want = []
        for a, b, c in rows:
            upper, lower = (
                max(low, min(high, number(x, "s32"))) & ((1 << bits) - 1) for x in (a, b)
            )
            want.append((c << 2 * bits | upper << bits | lower) & 0xFFFFFFFF)
        if bits == 16:
            assert run(f"cvt.pack.sat.{name}.s32", [row[:2] for row in rows]) == want
        else:
            assert run(f"cvt.pack.sat.{name}.s32.b32", rows) == want

    check()


# An H200's: one NaN for each type of result, but float64's payload is kept.
NANS = [
    ("cvt.rn.f16.f32", 0xFF8C9800, 0x7FFF),
    ("cvt.rn.bf16.f32", 0xFF8C9800, 0x7FFF),
    ("cvt.f32.f16", 0x7C01, 0x7FFFFFFF),
    ("cvt.f16.f16", 0xFC01, 0x7FFF),
    ("cvt.rni.f32.f32", 0xFF8C9800, 0x7FFFFFFF),
    ("cvt.ftz.f32.f32", 0xFF8C9800, 0x7FFFFFFF),
    ("cvt.f32.f32", 0xFF8C9800, 0xFF8C9800),
    ("cvt.f32.bf16", 0x7F81, 0x7F810000),
    ("cvt.ftz.f32.bf16", 0x7F81, 0x7FFFFFFF),
    ("cvt.ftz.f64.f32", 0xFF8C9800, 0x7FFFFFFFE0000000),
    ("cvt.rn.f16.f64", 0x7FF044D9AC000000, 0x7E11),
    ("cvt.rn.bf16.f64", 0x7FF8000000000000, 0x7FC0),
    ("cvt.rn.f32.f64", 0xFFF044D9AC000000, 0xFFC226CD),
    ("cvt.rn.f16x2.f32", 0xFF8C9800, 0x7FFF7FFF),
    ("cvt.rna.tf32.f32", 0xFF8C9800, 0xFF8C8000),
    ("cvt.rna.tf32.f32", 0x7F8015C0, 0x7F800000),
    ("cvt.rz.tf32.f32", 0xFF8C9800, 0x7FFFE000),
    ("cvt.rna.satfinite.tf32.f32", 0x7F8015C0, 0x7F7FE000),
    ("cvt.rna.satfinite.tf32.f32", 0xFF8C9800, 0xFF8C6000),
]


@pytest.mark.parametrize("opcode, operand, want", NANS)
def test_a_conversion_gives_the_nan_that_the_hardware_gives(opcode, operand, want):
    found = operation(opcode)
    columns = [as_array([operand], name) for name in found.operands]
    with np.errstate(all="ignore"):
        result = found.compute(*columns)
    assert result.view(f"u{result.dtype.itemsize}").tolist() == [want]


def test_a_conversion_to_f16_rounds_up_from_a_subnormal_even_where_it_flushes():
    assert run("cvt.rp.ftz.f16.f32", [(0x004F1DD3,), (0x80000001,)]) == [1, 0x8000]
    assert run("cvt.rm.ftz.f16.f32", [(0x8029DFE1,)]) == [0x8001]
