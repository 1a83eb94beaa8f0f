"""Logic, shifts, fields and permutations, bit by bit in Python."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.instructions.opcodes import operation
from tests.simulator.exact_arithmetic import number, width_of, wrapped
from tests.simulator.lane_values import as_array, few, lanes, run


def bit(word, place):
    return word >> place & 1


def from_bits(bits):
    return sum(int(b) << place for place, b in enumerate(bits))


@pytest.mark.parametrize("type_name", ["pred", "b16", "b32", "b64"])
def test_logic_works_on_every_bit_and_on_predicates(type_name):
    ones = (1 << width_of(type_name)) - 1

    @few
    @given(lanes(type_name, type_name))
    def check(rows):
        assert run(f"and.{type_name}", rows) == [a & b for a, b in rows]
        assert run(f"or.{type_name}", rows) == [a | b for a, b in rows]
        assert run(f"xor.{type_name}", rows) == [a ^ b for a, b in rows]
        assert run(f"not.{type_name}", [row[:1] for row in rows]) == [a ^ ones for a, _ in rows]

    check()


def test_cnot_is_one_exactly_where_the_word_is_zero():
    assert run("cnot.b32", [(0,), (1,), (1 << 31,)]) == [1, 0, 0]


@pytest.mark.parametrize("type_name", ["b16", "b32", "b64"])
def test_left_shifts_of_the_width_or_more_leave_nothing(type_name):
    @few
    @given(lanes(type_name, "u32"))
    def check(rows):
        want = [wrapped(a << n, type_name) if n < 64 else 0 for a, n in rows]
        assert run(f"shl.{type_name}", rows) == want

    check()


@pytest.mark.parametrize("type_name", ["b16", "b32", "u16", "s16", "u32", "s32", "u64", "s64"])
def test_right_shifts_of_the_width_or_more_leave_the_sign(type_name):
    @few
    @given(lanes(type_name, "u32"))
    def check(rows):
        want = [wrapped(number(a, type_name) >> min(n, 64), type_name) for a, n in rows]
        assert run(f"shr.{type_name}", rows) == want

    check()


@pytest.mark.parametrize("amount", [0, 1, 31, 32, 33, 255, 0xFFFFFFFF])
def test_an_amount_that_all_lanes_share_shifts_like_any_other(amount):
    rows = [(a, amount) for a in (0, 1, 0x80000001, 0xFFFFFFFF)]
    for opcode, type_name in (("shl.b32", "b32"), ("shr.u32", "u32"), ("shr.s32", "s32")):
        values = as_array([a for a, _ in rows], type_name)
        shared = operation(opcode).compute(values, as_array([amount], "u32")[0])
        assert shared.view("u4").tolist() == run(opcode, rows)


@few
@given(lanes("b32", "b32", "u32"))
def test_funnel_shifts_wrap_or_clamp_their_amount(rows):
    for mode, cut in (("wrap", lambda n: n & 31), ("clamp", lambda n: min(n, 32))):
        left = [((high << 32 | low) << cut(n) >> 32) & 0xFFFFFFFF for low, high, n in rows]
        right = [((high << 32 | low) >> cut(n)) & 0xFFFFFFFF for low, high, n in rows]
        assert run(f"shf.l.{mode}.b32", rows) == left
        assert run(f"shf.r.{mode}.b32", rows) == right


small = st.integers(0, 70) | st.integers(0, 255)


@pytest.mark.parametrize("type_name", ["u32", "s32", "u64", "s64"])
def test_a_field_is_extracted_with_zeros_or_its_own_sign(type_name):
    top = width_of(type_name) - 1

    def field(a, position, length):
        is_signed = type_name.startswith("s") and length
        sign = bit(a, min(position + length - 1, top)) if is_signed else 0
        return from_bits(
            bit(a, position + i) if i < length and position + i <= top else sign
            for i in range(top + 1)
        )

    @few
    @given(lanes(type_name), small, small)
    def check(rows, position, length):
        rows = [(a, position, length) for (a,) in rows] + [(a, 0, length) for (a,) in rows]
        assert run(f"bfe.{type_name}", rows) == [field(*row) for row in rows]

    check()


@pytest.mark.parametrize("type_name", ["b32", "b64"])
def test_a_field_is_inserted_and_cut_at_the_top(type_name):
    width = width_of(type_name)

    def inserted(a, b, position, length):
        return from_bits(
            bit(a, i - position) if position <= i < position + length else bit(b, i)
            for i in range(width)
        )

    @few
    @given(lanes(type_name, type_name), small, small)
    def check(rows, position, length):
        rows = [(*row, position, length) for row in rows]
        assert run(f"bfi.{type_name}", rows) == [inserted(*row) for row in rows]

    check()


@pytest.mark.parametrize("type_name", ["u32", "s32", "u64", "s64"])
def test_the_highest_bit_is_found_and_none_is_all_ones(type_name):
    width = width_of(type_name)

    @few
    @given(lanes(type_name))
    def check(rows):
        values = [number(a, type_name) for (a,) in rows]
        lengths = [(~x if x < 0 else x).bit_length() for x in values]
        assert run(f"bfind.{type_name}", rows) == [n - 1 if n else 0xFFFFFFFF for n in lengths]
        amounts = [width - n if n else 0xFFFFFFFF for n in lengths]
        assert run(f"bfind.shiftamt.{type_name}", rows) == amounts

    check()


@pytest.mark.parametrize("type_name", ["b32", "b64"])
def test_bits_are_counted_and_reversed(type_name):
    width = width_of(type_name)

    @few
    @given(lanes(type_name))
    def check(rows):
        words = [a for (a,) in rows]
        assert run(f"clz.{type_name}", rows) == [width - a.bit_length() for a in words]
        assert run(f"popc.{type_name}", rows) == [a.bit_count() for a in words]
        reversed_words = [int(f"{a:0{width}b}"[::-1], 2) for a in words]
        assert run(f"brev.{type_name}", rows) == reversed_words

    check()


@few
@given(lanes("b32", "b32", "b32"), st.integers(0, 255))
def test_lop3_looks_each_bit_up_in_its_table(rows, table):
    want = [
        from_bits(bit(table, bit(a, i) << 2 | bit(b, i) << 1 | bit(c, i)) for i in range(32))
        for a, b, c in rows
    ]
    assert run("lop3.b32", [(*row, table) for row in rows]) == want


@pytest.mark.parametrize("combine, both", [("or", lambda p, q: p | q), ("and", lambda p, q: p & q)])
def test_lop3_may_also_say_whether_its_result_is_not_zero(combine, both):
    @few
    @given(lanes("b32", "b32", "b32", "pred"))
    def check(rows):
        rows = [(a, b, c, 0x80, q) for a, b, c, q in [*rows, (1, 2, 4, 0), (1, 2, 4, 1)]]
        results = [a & b & c for a, b, c, _, _ in rows]
        want = [(d, int(both(d != 0, q))) for d, (*_, q) in zip(results, rows, strict=True)]
        assert run(f"lop3.{combine}.b32", rows, 2) == want

    check()


def permuted(a, b, selector):
    source = [(b << 32 | a) >> 8 * i & 0xFF for i in range(8)]
    result = 0
    for place in range(4):
        nibble = selector >> 4 * place & 0xF
        byte = source[nibble & 7]
        if nibble & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << 8 * place
    return result


@few
@given(lanes("b32", "b32", "u32"))
def test_prmt_picks_bytes_or_spreads_their_sign(rows):
    assert run("prmt.b32", rows) == [permuted(*row) for row in rows]


MODES = {  # bytes of b:a from the upper to the lower, for 0, 1, 2, 3 in the third operand
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


@pytest.mark.parametrize("mode", MODES)
def test_prmt_modes_are_shorthand_for_selectors(mode):
    a, b = 0x33221100, 0x77665544  # each byte says which one it is
    rows = [(a, b, control) for control in range(8)]  # only the two low bits count
    want = [int("".join(2 * digit for digit in MODES[mode][c % 4]), 16) for c in range(8)]
    assert run(f"prmt.b32.{mode}", rows) == want


@pytest.mark.parametrize("type_name", ["b16", "u32", "s64", "f32", "f64"])
def test_selp_takes_the_first_where_the_predicate_holds(type_name):
    @few
    @given(lanes(f"b{width_of(type_name)}", f"b{width_of(type_name)}", "pred"))
    def check(rows):
        found = operation(f"selp.{type_name}")
        columns = [
            as_array(c, n) for c, n in zip(zip(*rows, strict=True), found.operands, strict=True)
        ]
        raw = found.compute(*columns).view(f"u{width_of(type_name) // 8}").tolist()
        assert raw == [a if p else b for a, b, p in rows]  # NaNs too, bit for bit

    check()


def ones(position, length):
    """The bits of a 32-bit mask that starts at position."""
    return from_bits(position <= i < position + length for i in range(32))


@few
@given(lanes("u32", "u32"), small, small)
def test_bmsk_counts_modulo_32_or_stops_at_32(rows, position, length):
    rows = [*rows, (position, length), (position % 32, length % 32), (0, 32), (31, 1)]
    assert run("bmsk.wrap.b32", rows) == [ones(a % 32, b % 32) for a, b in rows]
    assert run("bmsk.clamp.b32", rows) == [ones(min(a, 32), min(b, 32)) for a, b in rows]


@pytest.mark.parametrize("type_name", ["u32", "s32"])
def test_szext_extends_the_low_bits(type_name):
    def extended(a, length):
        sign = bit(a, length - 1) if type_name == "s32" and length else 0
        return from_bits(bit(a, i) if i < length else sign for i in range(32))

    @few
    @given(lanes(type_name), small)
    def check(rows, length):
        rows = [(a, n) for (a,) in rows for n in (length, length % 32, 32, 33)]
        assert run(f"szext.wrap.{type_name}", rows) == [extended(a, n % 32) for a, n in rows]
        assert run(f"szext.clamp.{type_name}", rows) == [extended(a, min(n, 32)) for a, n in rows]

    check()


@few
@given(lanes("b32"), st.integers(0, 31), st.integers(-33, 33))
def test_fns_finds_the_nth_one_upwards_or_downwards(rows, base, offset):
    def found(mask):
        if offset == 0:
            return base if bit(mask, base) else 0xFFFFFFFF
        places = range(base, 32) if offset > 0 else range(base, -1, -1)
        ones_on_the_way = [place for place in places if bit(mask, place)]
        enough = len(ones_on_the_way) >= abs(offset)
        return ones_on_the_way[abs(offset) - 1] if enough else 0xFFFFFFFF

    rows = [(mask, base, offset % 2**32) for (mask,) in [*rows, (0xFFFFFFFF,), (1 << base,)]]
    assert run("fns.b32", rows) == [found(mask) for mask, _, _ in rows]


def test_of_a_field_of_32_bits_eight_bits_count_and_of_64_bits_all():
    assert run("bfe.u32", [(0xABCD, 0x108, 0x108)]) == [0xAB]
    assert run("bfe.u64", [(0xABCD, 0x108, 8)]) == [0]
    assert run("bfi.b32", [(5, 0, 0x108, 0x104)]) == [0x500]
    assert run("bfi.b64", [(5, 0, 0x108, 4)]) == [0]
