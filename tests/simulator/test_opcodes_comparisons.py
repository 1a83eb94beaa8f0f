"""setp, set, slct and testp against Python's comparisons."""

import operator

import pytest
from hypothesis import given

from simulator.instructions.opcodes import UnknownInstruction, operation
from tests.simulator.exact_arithmetic import (
    NAN,
    flushed,
    is_subnormal,
    magnitude,
    number,
    sign_of,
    value,
    width_of,
)
from tests.simulator.lane_values import few, halves, lanes, run

ORDER = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
COMBINE = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
FLOATS = ["f16", "bf16", "f32", "f64"]


def float_verdict(compare, a, b, type_name):
    """True or false of two raw floats: a plain comparison with a NaN is false, `…u` is true."""
    x, y = value(a, type_name), value(b, type_name)
    unordered = NAN in (x, y)
    if compare in ("num", "nan"):
        return unordered == (compare == "nan")
    if unordered:
        return compare.endswith("u")
    return ORDER[compare.removesuffix("u")](x, y)


FLOAT_COMPARISONS = [*ORDER, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


@pytest.mark.parametrize("type_name", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_integers_compare_by_the_sign_of_their_type(type_name):
    names = [*ORDER, *(UNSIGNED if type_name.startswith("u") else ())]

    @few
    @given(lanes(type_name, type_name))
    def check(rows):
        rows = rows + [(a, a) for a, _ in rows[:3]]
        numbers = [[number(raw, type_name) for raw in row] for row in rows]
        for name in names:
            want = [ORDER[UNSIGNED.get(name, name)](*pair) for pair in numbers]
            assert run(f"setp.{name}.{type_name}", rows) == want

    check()


@pytest.mark.parametrize("type_name", FLOATS)
def test_floats_compare_false_with_a_nan_unless_unordered(type_name):
    nan = (1 << width_of(type_name)) - 1

    @few
    @given(lanes(type_name, type_name))
    def check(rows):
        rows = rows + [(a, a) for a, _ in rows[:3]] + [(a, nan) for a, _ in rows[:2]]
        for name in FLOAT_COMPARISONS:
            want = [float_verdict(name, a, b, type_name) for a, b in rows]
            assert run(f"setp.{name}.{type_name}", rows) == want

    check()


@pytest.mark.parametrize("combine", COMBINE)
def test_a_combined_setp_gives_the_verdict_and_its_complement_combined(combine):
    @few
    @given(lanes("s32", "s32", "pred"))
    def check(rows):
        verdicts = [(number(a, "s32") < number(b, "s32"), c) for a, b, c in rows]
        p = [int(COMBINE[combine](t, bool(c))) for t, c in verdicts]
        q = [int(COMBINE[combine](not t, bool(c))) for t, c in verdicts]
        assert run(f"setp.lt.{combine}.s32", rows) == p
        assert run(f"setp.lt.{combine}.s32", rows, 2) == list(zip(p, q, strict=True))

    check()


def test_a_plain_setp_gives_the_complement_as_its_second_result():
    assert run("setp.eq.u32", [(1, 1), (1, 2)], 2) == [(1, 0), (0, 1)]


@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_a_packed_setp_gives_one_predicate_for_each_half(half):
    @few
    @given(lanes(f"{half}x2", f"{half}x2"))
    def check(rows):
        for name in ("lt", "neu", "nan"):
            want = [
                tuple(
                    int(float_verdict(name, x, y, half))
                    for x, y in zip(halves(a), halves(b), strict=True)
                )
                for a, b in rows
            ]
            assert run(f"setp.{name}.{half}x2", rows, 2) == want

    check()


def test_ftz_compares_subnormals_as_zeros():
    assert run("setp.eq.ftz.f32", [(1, 0), (0x80000001, 1)]) == [1, 1]
    assert run("setp.gt.f32", [(1, 0)]) == [1]
    assert run("setp.eq.ftz.f16", [(1, 0x83FF), (0x400, 0)]) == [1, 0]
    assert run("setp.eq.ftz.f16x2", [(0x400, 0x83FF0001)], 2) == [(0, 1)]
    assert run("set.eq.ftz.u16.f16", [(1, 0x83FF)]) == [0xFFFF]


TRUE = {"u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}


@pytest.mark.parametrize(
    "result, source",
    [("u32", "s32"), ("s32", "f32"), ("f32", "f64"), ("f16", "f16"), ("bf16", "bf16")],
)
def test_set_writes_one_or_all_ones(result, source):
    @few
    @given(lanes(source, source, "pred"))
    def check(rows):
        def verdict(a, b):
            if source == "s32":
                return number(a, source) > number(b, source)
            return float_verdict("gt", a, b, source)

        plain = [TRUE[result] * verdict(a, b) for a, b, _ in rows]
        assert run(f"set.gt.{result}.{source}", [row[:2] for row in rows]) == plain
        either = [TRUE[result] * (verdict(a, b) or bool(c)) for a, b, c in rows]
        assert run(f"set.gt.or.{result}.{source}", rows) == either

    check()


@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_a_packed_set_writes_each_half(half):
    @few
    @given(lanes(f"{half}x2", f"{half}x2"))
    def check(rows):
        for name in ("eq", "nan"):
            got = [halves(raw) for raw in run(f"set.{name}.{half}x2.{half}x2", rows)]
            for (a, b), pair in zip(rows, got, strict=True):
                for x, y, bits in zip(halves(a), halves(b), pair, strict=True):
                    assert bits == TRUE[half] * float_verdict(name, x, y, half)

    check()


@few
@given(lanes("b32", "b32", "f32"))
def test_slct_takes_the_first_where_the_third_is_not_negative(rows):
    by_integer = [a if number(c, "s32") >= 0 else b for a, b, c in rows]
    assert run("slct.b32.s32", rows) == by_integer

    def kept(c):
        x = value(c, "f32")
        return x != NAN and (x >= 0)

    assert run("slct.b32.f32", rows) == [a if kept(c) else b for a, b, c in rows]
    flat = [a if kept(flushed(c, "f32")) else b for a, b, c in rows]
    assert run("slct.ftz.b32.f32", rows) == flat


@pytest.mark.parametrize("type_name", ["f32", "f64"])
def test_testp_sorts_numbers_into_kinds_and_calls_zero_normal(type_name):
    @few
    @given(lanes(type_name))
    def check(rows):
        bits = [raw for (raw,) in rows]
        values = [value(raw, type_name) for raw in bits]
        infinite = [x != NAN and abs(x) == float("inf") for x in values]
        nan = [x == NAN for x in values]
        subnormal = [is_subnormal(raw, type_name) for raw in bits]
        rest = list(zip(nan, infinite, subnormal, strict=True))
        for name, want in (
            ("notanumber", nan),
            ("number", [not x for x in nan]),
            ("infinite", infinite),
            ("finite", [not (x or y) for x, y, _ in rest]),
            ("subnormal", subnormal),
            ("normal", [not any(kinds) for kinds in rest]),
        ):
            assert run(f"testp.{name}.{type_name}", rows) == want

    check()
    zero = [raw for raw in (0, 1 << (width_of(type_name) - 1)) if magnitude(raw, type_name) == 0]
    assert sign_of(zero[1], type_name) == -1
    assert run(f"testp.normal.{type_name}", [(raw,) for raw in zero]) == [1, 1]


@pytest.mark.parametrize(
    "opcode",
    [
        "setp.lo.s32",  # unsigned by name
        "setp.lt.b32",  # bits have no order
        "set.lt.b64.u32",
        "set.eq.u16.f32",
        "set.eq.f32.f16x2",
        "setp.lt.and.f16x2",  # two halves, one predicate
    ],
)
def test_comparisons_that_ptx_does_not_have_are_unknown(opcode):
    with pytest.raises(UnknownInstruction, match=opcode):
        operation(opcode)
