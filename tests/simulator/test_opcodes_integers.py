"""Integer arithmetic against Python's integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulator.exact_arithmetic import clamped, number, width_of, wrapped
from tests.simulator.lane_values import few, lanes, run

INTEGERS = ["u16", "s16", "u32", "s32", "u64", "s64"]
LONG = ["u32", "s32", "u64", "s64"]


def c_quotient(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def high(product, type_name):
    return product >> width_of(type_name)


def low_24(a, type_name):
    a &= 0xFFFFFF
    return a - (1 << 24) if type_name == "s32" and a >> 23 else a


def high_24(a, b, type_name):
    """Bits 16..47 of the product, as a 32-bit number."""
    product = low_24(a, type_name) * low_24(b, type_name) >> 16
    return number(wrapped(product, type_name), type_name)


# One function of Python integers a row: it sees numbers and the type's name, and may overflow.
ARITHMETIC = [
    ("add", INTEGERS, 2, lambda t, a, b: a + b),
    ("sub", INTEGERS, 2, lambda t, a, b: a - b),
    ("mul.lo", INTEGERS, 2, lambda t, a, b: a * b),
    ("mul.hi", INTEGERS, 2, lambda t, a, b: high(a * b, t)),
    ("mad.lo", INTEGERS, 3, lambda t, a, b, c: a * b + c),
    ("mad.hi", INTEGERS, 3, lambda t, a, b, c: high(a * b, t) + c),
    ("sad", INTEGERS, 3, lambda t, a, b, c: abs(a - b) + c),
    ("div", INTEGERS, 2, lambda t, a, b: c_quotient(a, b) if b else -1),
    ("rem", INTEGERS, 2, lambda t, a, b: a - b * c_quotient(a, b) if b else -1),
    ("min", INTEGERS, 2, lambda t, a, b: min(a, b)),
    ("max", INTEGERS, 2, lambda t, a, b: max(a, b)),
    ("min.relu", ["s32"], 2, lambda t, a, b: max(0, min(a, b))),
    ("max.relu", ["s32"], 2, lambda t, a, b: max(0, a, b)),
    ("abs", ["s16", "s32", "s64"], 1, lambda t, a: abs(a)),
    ("neg", ["s16", "s32", "s64"], 1, lambda t, a: -a),
    ("add.sat", ["s32"], 2, lambda t, a, b: clamped(a + b, t)),
    ("sub.sat", ["s32"], 2, lambda t, a, b: clamped(a - b, t)),
    ("mad.hi.sat", ["s32"], 3, lambda t, a, b, c: clamped(high(a * b, t) + c, t)),
    ("mad24.hi.sat", ["s32"], 3, lambda t, a, b, c: clamped(high_24(a, b, t) + c, t)),
    ("mul24.lo", ["u32", "s32"], 2, lambda t, a, b: low_24(a, t) * low_24(b, t)),
    ("mul24.hi", ["u32", "s32"], 2, lambda t, a, b: low_24(a, t) * low_24(b, t) >> 16),
    ("mad24.lo", ["u32", "s32"], 3, lambda t, a, b, c: low_24(a, t) * low_24(b, t) + c),
    ("mad24.hi", ["u32", "s32"], 3, lambda t, a, b, c: (low_24(a, t) * low_24(b, t) >> 16) + c),
]
CASES = [(name, t, count, f) for name, types, count, f in ARITHMETIC for t in types]


@pytest.mark.parametrize("name, type_name, count, expected", CASES, ids=lambda x: str(x)[:12])
def test_integer_arithmetic_wraps_as_python_integers_cut_to_size(name, type_name, count, expected):
    @few
    @given(lanes(*[type_name] * count))
    def check(rows):
        want = [
            wrapped(expected(type_name, *(number(raw, type_name) for raw in row)), type_name)
            for row in rows
        ]
        assert run(f"{name}.{type_name}", rows) == want

    check()


@pytest.mark.parametrize(
    "narrow, wide", [("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")]
)
def test_wide_products_keep_every_bit(narrow, wide):
    @few
    @given(lanes(narrow, narrow, wide))
    def check(rows):
        products = [number(a, narrow) * number(b, narrow) for a, b, _ in rows]
        assert run(f"mul.wide.{narrow}", [row[:2] for row in rows]) == [
            wrapped(p, wide) for p in products
        ]
        assert run(f"mad.wide.{narrow}", rows) == [
            wrapped(p + number(c, wide), wide) for p, (_, _, c) in zip(products, rows, strict=True)
        ]

    check()


def test_the_most_negative_number_has_no_counterpart():
    top = 1 << 31
    assert run("neg.s32", [(top,)]) == [top]
    assert run("abs.s32", [(top,)]) == [top]
    assert run("div.s32", [(top, 0xFFFFFFFF)]) == [top]
    assert run("rem.s32", [(top, 0xFFFFFFFF)]) == [0]


def test_division_by_zero_gives_all_ones_and_no_trap():
    assert run("div.u32", [(7, 0), (0, 0)]) == [0xFFFFFFFF] * 2
    assert run("rem.s64", [(7, 0), (0, 0)]) == [(1 << 64) - 1] * 2


CHAINS = [
    ("add.cc", 2, False, lambda w, a, b, carry: a + b),
    ("addc", 2, True, lambda w, a, b, carry: a + b + carry),
    ("addc.cc", 2, True, lambda w, a, b, carry: a + b + carry),
    ("sub.cc", 2, False, lambda w, a, b, borrow: a - b),
    ("subc", 2, True, lambda w, a, b, borrow: a - b - borrow),
    ("subc.cc", 2, True, lambda w, a, b, borrow: a - b - borrow),
    ("mad.lo.cc", 3, False, lambda w, a, b, c, carry: a * b % (1 << w) + c),
    ("mad.hi.cc", 3, False, lambda w, a, b, c, carry: (a * b >> w) + c),
    ("madc.lo", 3, True, lambda w, a, b, c, carry: a * b % (1 << w) + c + carry),
    ("madc.hi", 3, True, lambda w, a, b, c, carry: (a * b >> w) + c + carry),
    ("madc.lo.cc", 3, True, lambda w, a, b, c, carry: a * b % (1 << w) + c + carry),
    ("madc.hi.cc", 3, True, lambda w, a, b, c, carry: (a * b >> w) + c + carry),
]


@pytest.mark.parametrize("name, count, takes_carry, total", CHAINS, ids=lambda x: str(x)[:10])
@pytest.mark.parametrize("type_name", ["u32", "u64"])
def test_carries_are_the_bit_past_the_top(name, count, takes_carry, total, type_name):
    width = width_of(type_name)

    @few
    @given(lanes(*[type_name] * count, "pred"))
    def check(rows):
        exact = [total(width, *row) for row in rows]
        words = [wrapped(x, type_name) for x in exact]
        carries = [int(not 0 <= x < 1 << width) for x in exact]
        given_rows = rows if takes_carry else [row[:-1] for row in rows]
        want = list(zip(words, carries, strict=True)) if name.endswith(".cc") else words
        assert run(f"{name}.{type_name}", given_rows) == want

    check()


@few
@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_a_chain_of_carries_adds_and_subtracts_numbers_of_four_words(a, b):
    words = [(a >> shift & 0xFFFFFFFF, b >> shift & 0xFFFFFFFF) for shift in (0, 32, 64, 96)]
    for first, following, want in (("add.cc", "addc.cc", a + b), ("sub.cc", "subc.cc", a - b)):
        total, flag = 0, 0
        for place, pair in enumerate(words):
            row = pair if place == 0 else (*pair, flag)
            ((word, flag),) = run(f"{first if place == 0 else following}.u32", [row])
            total |= word << 32 * place
        assert total == want % 2**128


@pytest.mark.parametrize("a_type", ["u32", "s32"])
@pytest.mark.parametrize("b_type", ["u32", "s32"])
def test_dot_products_of_packed_integers_wrap(a_type, b_type):
    def parts(word, bits, type_name):
        fields = [word >> shift & ((1 << bits) - 1) for shift in range(0, 32, bits)]
        return [f - (1 << bits) if type_name == "s32" and f >> (bits - 1) else f for f in fields]

    @few
    @given(lanes("b32", "b32", "b32"))
    def check(rows):
        four, low, high_half = [], [], []
        for a, b, c in rows:
            b_bytes = parts(b, 8, b_type)
            four.append(c + sum(x * y for x, y in zip(parts(a, 8, a_type), b_bytes, strict=True)))
            a_halves = parts(a, 16, a_type)
            low.append(c + a_halves[0] * b_bytes[0] + a_halves[1] * b_bytes[1])
            high_half.append(c + a_halves[0] * b_bytes[2] + a_halves[1] * b_bytes[3])
        for opcode, want in (("dp4a", four), ("dp2a.lo", low), ("dp2a.hi", high_half)):
            assert run(f"{opcode}.{a_type}.{b_type}", rows) == [x % 2**32 for x in want]

    check()


PAIRS = [
    ("add", ["u16x2", "s16x2"], lambda a, b: a + b),
    ("min", ["u16x2", "s16x2"], min),
    ("max", ["u16x2", "s16x2"], max),
    ("min.relu", ["s16x2"], lambda a, b: max(0, min(a, b))),
    ("max.relu", ["s16x2"], lambda a, b: max(0, a, b)),
]


PAIR_CASES = [(name, t, f) for name, types, f in PAIRS for t in types]


@pytest.mark.parametrize("name, type_name, expected", PAIR_CASES, ids=lambda x: str(x)[:12])
def test_a_pair_of_integers_is_two_independent_halves(name, type_name, expected):
    half = type_name.removesuffix("x2")

    def by_halves(a, b):
        return wrapped(expected(number(a, half), number(b, half)), half)

    @few
    @given(lanes(half, half, half, half))
    def check(rows):
        words = [(b << 16 | a, d << 16 | c) for a, b, c, d in rows]
        want = [by_halves(b, d) << 16 | by_halves(a, c) for a, b, c, d in rows]
        assert run(f"{name}.{type_name}", words) == want

    check()
