"""Shadows against the truth: bits of a result that change when undefined bits of operands do."""

import numpy as np
import pytest

from simulator.instructions.definedness import rule_of, shadow_type
from simulator.instructions.opcodes import INDEX, UnknownInstruction, operation
from simulator.types import DTYPES

COUNT, FILLS = 512, 64
OPCODES = sorted({f"{row.instruction}.{t}" for (_, t), rows in INDEX.items() for row in rows}) + [
    "setp.lt.s32", "setp.eq.and.u32", "setp.gt.or.f32", "setp.ne.xor.b16", "set.nan.f16x2.f16x2",
    "set.lt.u32.f32", "slct.f32.s32", "testp.finite.f32", "cvt.u32.u16", "cvt.s32.s8",
    "cvt.u16.u32", "cvt.s64.s32", "cvt.rn.f32.s32", "cvt.rzi.s32.f32", "cvt.rn.f16x2.f32",
    "cvt.rz.f16x2.f32", "cvt.f32.f16", "cvt.sat.u8.s32", "lop3.b32", "dp4a.u32.u32",
]  # fmt: skip
# Every bit that can change is undefined, and no other one, if these operands are defined.
EXACT = {
    "and.b32": (), "or.b32": (), "xor.b64": (), "not.b16": (), "and.pred": (), "or.pred": (),
    "lop3.b32": (3,), "shl.b32": (1,), "shr.u32": (1,), "shr.s32": (1,), "brev.b32": (),
    "prmt.b32": (2,), "bfe.s32": (1, 2), "bfi.b32": (2, 3), "shf.l.wrap.b32": (2,),
    "cvt.u32.u16": (), "cvt.s32.s8": (), "cvt.u16.u32": (), "selp.b32": (2,), "add.u32": (),
    "sub.s64": (),
}  # fmt: skip


def drawn(random, dtype, count=COUNT):
    """Random bits of a type; half of the numbers are small."""
    if dtype.kind == "b":
        return random.integers(0, 2, count).astype(bool)
    word = f"u{dtype.itemsize}"
    bits = random.integers(0, 256, (count, dtype.itemsize), np.uint8).view(word).reshape(-1)
    small = random.integers(0, 40, count).astype(word)
    return np.where(random.random(count) < 0.5, bits, small).view(dtype)


def undefined_bits(random, dtype):
    """No bits, all, some, or one half of them."""
    kind = random.integers(0, 4, COUNT)
    if dtype.kind == "b":
        return kind == 1
    word = shadow_type(dtype)
    ones = word.type(np.iinfo(word).max)
    half = ones >> word.type(4 * word.itemsize)
    half = np.where(random.random(COUNT) < 0.5, half, half << word.type(4 * word.itemsize))
    return np.choose(kind, [np.zeros(COUNT, word), np.full(COUNT, ones), drawn(random, word), half])


def filled(random, value, shadow):
    """The value with other bits where it is undefined."""
    if value.dtype.kind == "b":
        return np.where(shadow, random.integers(0, 2, COUNT).astype(bool), value)
    other = drawn(random, shadow.dtype)
    return (value.view(shadow.dtype) & ~shadow | other & shadow).view(value.dtype)


def results_of(what, values):
    got = what.compute(*values)
    got = got if isinstance(got, tuple) else (got,)
    return [np.broadcast_to(g, (COUNT,)).copy() for g in got]


def looked_at(opcode, defined=()):
    """(shadows by the rule, bits that were seen to change) of each result."""
    what = operation(opcode)
    random = np.random.default_rng(len(opcode))
    dtypes = [DTYPES[t] for t in what.operands] + [np.dtype(bool)] * what.carry_in
    values = [drawn(random, d) for d in dtypes]
    shadows = [undefined_bits(random, d) for d in dtypes]
    for place in defined:
        shadows[place] = np.zeros_like(shadows[place])
    if opcode == "lop3.b32":
        values[3], shadows[3] = np.uint32(0xE8), np.uint32(0)
    with np.errstate(all="ignore"):
        first = results_of(what, values)
        changed = [np.zeros(COUNT, shadow_type(f.dtype)) for f in first]
        for _ in range(FILLS):
            tried = [filled(random, v, s) if s.ndim else v
                     for v, s in zip(values, shadows, strict=True)]  # fmt: skip
            for seen, one, other in zip(changed, first, results_of(what, tried), strict=True):
                seen |= one.view(seen.dtype) ^ other.view(seen.dtype)
        told = rule_of(opcode, what)(values, shadows)
    return told, changed


@pytest.mark.parametrize("opcode", OPCODES)
def test_no_bit_changes_that_is_called_defined(opcode):
    try:
        told, changed = looked_at(opcode)
    except UnknownInstruction:
        pytest.fail(f"{opcode} is no instruction")
    for shadow, seen in zip(told, changed, strict=True):
        missed = seen & ~shadow
        assert not missed.any(), f"lane {np.argmax(missed != 0)}"


@pytest.mark.parametrize("opcode", EXACT)
def test_where_bits_only_move_or_meet_those_that_change_are_told(opcode):
    told, changed = looked_at(opcode, EXACT[opcode])
    for shadow, seen in zip(told, changed, strict=True):
        too_many = np.broadcast_to(shadow, seen.shape) & ~seen
        assert np.count_nonzero(too_many) < 0.1 * COUNT  # a few were not hit by chance


@pytest.mark.parametrize("opcode", OPCODES)
def test_defined_operands_give_the_scalar_that_costs_nothing(opcode):
    what = operation(opcode)
    count = len(what.operands) + what.carry_in
    dtypes = [shadow_type(DTYPES[t]) for t in what.operands] + [np.dtype(bool)] * what.carry_in
    told = rule_of(opcode, what)([None] * count, [d.type(0) for d in dtypes])
    assert all(t.ndim == 0 and not t for t in told)


def test_zero_times_an_undefined_number_is_undefined():
    what = operation("mul.f32")
    values = (np.zeros(4, np.float32), np.ones(4, np.float32))
    (told,) = rule_of("mul.f32", what)(values, (np.uint32(0), np.uint32([0, 1, 0, 7])))
    assert told.tolist() == [0, 0xFFFF_FFFF, 0, 0xFFFF_FFFF]


def test_a_carry_leaves_the_lower_half_alone():
    what = operation("add.u32")
    values = (np.uint32([0x1234_5678]), np.uint32([0x007F_007F]))
    (told,) = rule_of("add.u32", what)(values, (np.uint32([0xFFFF_0000]), np.uint32(0)))
    assert told.tolist() == [0xFFFF_0000]


def test_false_and_an_undefined_comparison_is_false():
    what = operation("setp.lt.and.s32")
    values = (np.int32([1, 1]), np.int32([2, 2]), np.bool_([False, True]))
    shadows = (np.uint32([7, 7]), np.uint32(0), np.bool_(False))
    (told,) = rule_of("setp.lt.and.s32", what)(values, shadows)
    assert told.tolist() == [False, True]
