"""float32 and float64 arithmetic against exact fractions, rounded once."""

import math
from fractions import Fraction

import pytest
from hypothesis import given

from simulator.instructions.opcodes import operation
from tests.simulator.exact_arithmetic import (
    NAN,
    flushed,
    rounded,
    sign_of,
    square_root,
    value,
)
from tests.simulator.lane_values import as_array, few, lanes, run

REAL = ["f32", "f64"]
MODES = ["rn", "rz", "rm", "rp"]


def finite(*numbers):
    return all(isinstance(x, Fraction | int) for x in numbers)


def sum_sign(mode, *signs):
    """The sign of a sum that is exactly zero: a common one stays, else + (or - rounding down)."""
    return signs[0] if len(set(signs)) == 1 else -1 if mode == "rm" else 1


def special_sum(a, b):
    """a + b where one is not finite."""
    if NAN in (a, b) or (a == -b and not finite(a)):
        return NAN
    return b if finite(a) else a


def special_product(a, b):
    """a * b where one is not finite."""
    if NAN in (a, b) or 0 in (a, b):
        return NAN
    return math.inf if (a < 0) == (b < 0) else -math.inf


def expected(name, raw, t, mode="rn"):
    """The bits of an operation on raw bits."""
    numbers = [value(x, t) for x in raw]
    signs = [sign_of(x, t) for x in raw]
    if name in ("add", "sub"):
        (a, b), flip = numbers, -1 if name == "sub" else 1
        b = b if b == NAN else flip * b
        exact = a + b if finite(a, b) else special_sum(a, b)
        return rounded(exact, t, mode, sum_sign(mode, signs[0], flip * signs[1]))
    if name == "mul":
        exact = math.prod(numbers) if finite(*numbers) else special_product(*numbers)
        return rounded(exact, t, mode, math.prod(signs))
    if name == "fma":
        product = numbers[0] * numbers[1] if finite(*numbers[:2]) else special_product(*numbers[:2])
        both = finite(product, numbers[2])
        exact = product + numbers[2] if both else special_sum(product, numbers[2])
        return rounded(exact, t, mode, sum_sign(mode, signs[0] * signs[1], signs[2]))
    if name == "rcp":
        return expected("div", (rounded(Fraction(1), t), *raw), t, mode)
    if name == "div":
        a, b = numbers
        sign = math.prod(signs)
        if NAN in numbers or (not finite(a) and not finite(b)) or a == b == 0:
            return NAN
        if b == 0 or not finite(a):
            return rounded(sign * math.inf, t)
        return rounded(a / b if finite(b) else Fraction(0), t, mode, sign)
    assert name == "sqrt"
    (a,) = numbers
    if a == NAN or a < 0:
        return NAN
    return rounded(square_root(a) if finite(a) else a, t, mode, signs[0])


@pytest.mark.parametrize("type_name", REAL)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "name, count",
    [("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("div", 2), ("rcp", 1), ("sqrt", 1)],
)
def test_arithmetic_rounds_the_exact_result_once(name, count, mode, type_name):
    @few
    @given(lanes(*[type_name] * count))
    def check(rows):
        want = [expected(name, row, type_name, mode) for row in rows]
        assert run(f"{name}.{mode}.{type_name}", rows) == want

    check()


def f32(number):
    return rounded(Fraction(number), "f32")


TINY = Fraction(2) ** -23
# Products that lie 2**-70 off a tie of the sum: float64 does not see on which side.
NEAR_TIES = [
    (1 + TINY, (1 - TINY) * Fraction(2) ** -24, 1 + TINY),
    (-1 - TINY, (1 - TINY) * Fraction(2) ** -24, -1 - TINY),
    (1 + TINY, (TINY - 1) * Fraction(2) ** -24, 1 + TINY),
    (1 + TINY, (1 - TINY) * Fraction(2) ** -25, 1 - TINY / 2),
    # The same beside a subnormal, whose ties lie elsewhere.
    ((1 + TINY) / 2**75, (1 - TINY) / 2**75, Fraction(2) ** -127 + Fraction(2) ** -149),
]


@pytest.mark.parametrize("a, b, c", NEAR_TIES)
def test_fma_breaks_ties_by_what_float64_lost(a, b, c):
    row = (f32(a), f32(b), f32(c))
    assert run("fma.rn.f32", [row, (f32(2), f32(3), f32(4))])[0] == rounded(a * b + c, "f32")
    shared = [as_array([x], "f32")[0] for x in row]
    assert int(operation("fma.rn.f32").compute(*shared).view("u4")) == rounded(a * b + c, "f32")


def test_fma_keeps_what_two_roundings_would_lose():
    a = 1 + TINY
    row = (f32(a), f32(a), f32(-(1 + 2 * TINY)))
    assert run("fma.rn.f32", [row]) == [f32(TINY * TINY)]


@pytest.mark.parametrize(
    "row",
    [
        (0x3FF0080000400000, 0xBFF4000020000000, 0xB940000200000005),
        (0xBFF0000000800009, 0x3FF8000000000000, 0x3940000000800001),
    ],
)
def test_double_fma_breaks_ties_by_digits_beyond_the_product(row):
    assert run("fma.rn.f64", [row]) == [expected("fma", row, "f64")]


def test_double_fma_survives_a_product_that_overflows_or_vanishes():
    big, tiny = Fraction(2) ** 1000, Fraction(2) ** -600
    for a, b, c in [(big, big, -math.inf), (tiny, tiny, Fraction(1)), (-tiny, tiny, Fraction(0))]:
        row = tuple(rounded(x, "f64") for x in (a, b, c))
        assert run("fma.rn.f64", [row]) == [expected("fma", row, "f64")]


@pytest.mark.parametrize("type_name", REAL)
def test_of_a_number_and_a_nan_the_number_wins_unless_told_otherwise(type_name):
    @few
    @given(lanes(type_name, type_name))
    def check(rows):
        for name, better in (("min", lambda x, y: x < y), ("max", lambda x, y: x > y)):

            def chosen(a, b, nan_wins, better=better):
                x, y = value(a, type_name), value(b, type_name)
                if NAN in (x, y):
                    either = NAN if nan_wins or x == y else b if x == NAN else a
                    return either
                if x == y == 0:  # -0 < +0
                    x, y = sign_of(a, type_name), sign_of(b, type_name)
                return b if better(y, x) else a

            want = [chosen(a, b, False) for a, b in rows]
            assert run(f"{name}.{type_name}", rows) == want
            if type_name == "f32":  # PTX has none for float64
                assert run(f"{name}.NaN.f32", rows) == [chosen(a, b, True) for a, b in rows]

    check()


@pytest.mark.parametrize("type_name", REAL)
def test_signs_are_cleared_flipped_and_copied_without_a_look_at_the_number(type_name):
    top = 1 << (31 if type_name == "f32" else 63)

    @few
    @given(lanes(type_name, type_name))
    def check(rows):
        rows = [row for row in rows if NAN not in (value(x, type_name) for x in row)]
        if not rows:
            return
        first = [(a,) for a, _ in rows]
        assert run(f"abs.{type_name}", first) == [a & ~top for a, _ in rows]
        assert run(f"neg.{type_name}", first) == [a ^ top for a, _ in rows]
        want = [a & top | b & ~top for a, b in rows]  # the sign comes from the first operand
        assert run(f"copysign.{type_name}", rows) == want

    check()


@few
@given(lanes("f32", "f32"))
def test_ftz_flushes_operands_and_results_to_a_zero_of_their_sign(rows):
    smallest = 1 << 23
    for name in ("add", "sub", "mul", "div.rn"):
        want = []
        for row in rows:
            result = expected(name.split(".")[0], [flushed(x, "f32") for x in row], "f32")
            want.append(result if result == NAN else flushed(result, "f32"))
        for got, bits in zip(run(f"{name}.ftz.f32", rows), want, strict=True):
            assert got == bits or bits == smallest  # see the next test


HALF_STEP = Fraction(2) ** -24
# Products beside the smallest normal number, in units of it: (factors, whether .ftz leaves it).
EDGES = [
    ((1, 1), True),
    ((1, 1 - HALF_STEP), False),  # a tie among subnormals, and exact where 24 digits go on
    ((1 + 2 * HALF_STEP, 1 - HALF_STEP), True),  # above it
    ((1 + 2**12 * HALF_STEP, 1 - 2**12 * HALF_STEP), False),  # 1 - 2**-24 exactly
    ((1 + 2**10 * HALF_STEP, 1 - 2**10 * HALF_STEP), True),  # 1 - 2**-28: rounds to 1 even there
]


@pytest.mark.parametrize("factors, stays", EDGES)
def test_ftz_looks_at_the_result_before_subnormals_have_coarsened_it(factors, stays):
    smallest = 1 << 23
    a, b = (rounded(factor / Fraction(2) ** 63, "f32") for factor in factors)
    assert run("mul.f32", [(a, b)])[0] in (smallest, smallest + 1)
    assert (run("mul.ftz.f32", [(a, b)])[0] != 0) == stays
    assert (run("fma.rn.ftz.f32", [(a, b, 0)])[0] != 0) == stays
    negative = 1 << 31
    assert run("mul.ftz.f32", [(a | negative, b), (f32(3), f32(2))])[0] >> 31 == 1


def test_ftz_of_directed_rounding_looks_there_too():
    smallest = 1 << 23
    above_one = f32(1 + TINY)
    assert run("div.rp.f32", [(smallest, above_one)]) == [smallest]
    assert run("div.rp.ftz.f32", [(smallest, above_one)]) == [0]
    assert run("div.rm.ftz.f32", [(smallest | 1 << 31, above_one)]) == [1 << 31]


def test_double_precision_has_nothing_to_flush():
    assert run("rcp.rn.ftz.f64", [(0x7FEE1D8C4C000000,)]) == [0x44014942A22E7]


SIGN = 1 << 31


@few
@given(lanes("f32", "f32"))
def test_xorsign_takes_a_magnitude_and_both_signs(rows):
    for name, better in (("min", min), ("max", max)):
        for nan_wins in (False, True):
            opcode = f"{name}{'.NaN' if nan_wins else ''}.xorsign.abs.f32"
            for (a, b), got in zip(rows, run(opcode, rows), strict=True):
                sizes = [x & ~SIGN for x in (a, b) if value(x, "f32") != NAN]
                if not sizes or (nan_wins and len(sizes) < 2):
                    assert got == NAN
                else:
                    assert got == better(sizes) | (a ^ b) & SIGN


def test_where_it_costs_little_a_nan_is_the_one_that_the_hardware_writes():
    nans = [(0xFFC00001, 0x7F800005), (0x7FC00000, 0xFFFFFFFF)]
    for opcode in ("min.f32", "max.f32", "min.NaN.f32", "max.NaN.f32"):
        columns = [as_array(column, "f32") for column in zip(*nans, strict=True)]
        assert set(operation(opcode).compute(*columns).view("u4").tolist()) == {0x7FFFFFFF}
    for opcode in ("ex2", "lg2", "sin", "cos", "tanh", "rsqrt"):
        result = operation(f"{opcode}.approx.f32").compute(as_array([0xFFC00001], "f32"))
        assert result.view("u4").tolist() == [0x7FFFFFFF]


@few
@given(lanes("f32", "f32"))
def test_sat_clamps_to_the_unit_interval_and_makes_nan_zero(rows):
    for row, got in zip(rows, run("add.sat.f32", rows), strict=True):
        result = expected("add", row, "f32")
        number = 0 if result == NAN else value(result, "f32")
        assert got == rounded(max(0, min(1, number)), "f32")
    assert run("add.sat.f32", [(1 << 31, 1 << 31)]) == [0]
