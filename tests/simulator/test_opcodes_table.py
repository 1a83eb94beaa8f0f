"""The table as a whole: spelling, types of operands and results, scalars."""

import pickle

import numpy as np
import pytest

from simulator.instructions.opcodes import UnknownInstruction, operation
from simulator.types import DTYPES
from tests.simulator.lane_values import as_array

# One opcode of each kind, as a compiler writes it: (opcode, operands, results).
SIGNATURES = [
    ("add.s32", "s32 s32", "s32"),
    ("mul.wide.s32", "s32 s32", "s64"),
    ("mad.wide.u16", "u16 u16 u32", "u32"),
    ("shl.b64", "b64 u32", "b64"),
    ("fma.rn.ftz.sat.f32", "f32 f32 f32", "f32"),
    ("fma.rn.relu.bf16x2", "bf16x2 bf16x2 bf16x2", "bf16x2"),
    ("selp.f32", "f32 f32 pred", "f32"),
    ("setp.ltu.or.f32", "f32 f32 pred", "pred"),
    ("set.eq.f16x2.f16x2", "f16x2 f16x2", "f16x2"),
    ("popc.b64", "b64", "u32"),
    ("bfe.s64", "s64 u32 u32", "s64"),
    ("lop3.b32", "b32 b32 b32 u32", "b32"),
    ("prmt.b32.rc16", "b32 b32 u32", "b32"),
    ("shf.l.wrap.b32", "b32 b32 u32", "b32"),
    ("dp4a.s32.u32", "b32 b32 s32", "s32"),
    ("cvt.rn.f16x2.f32", "f32 f32", "f16x2"),
    ("cvt.rzi.ftz.s32.f32", "f32", "s32"),
    ("cvt.u8.u32", "u32", "u8"),
    ("and.pred", "pred pred", "pred"),
    ("min.NaN.bf16", "bf16 bf16", "bf16"),
    ("ex2.approx.ftz.f32", "f32", "f32"),
    ("slct.f32.s32", "f32 f32 s32", "f32"),
    ("testp.finite.f32", "f32", "pred"),
    ("bmsk.clamp.b32", "u32 u32", "b32"),
    ("szext.wrap.s32", "s32 u32", "s32"),
    ("fns.b32", "b32 u32 s32", "b32"),
    ("add.u16x2", "u16x2 u16x2", "u16x2"),
    ("min.relu.s16x2", "s16x2 s16x2", "s16x2"),
    ("max.ftz.NaN.xorsign.abs.f16", "f16 f16", "f16"),
    ("cvt.pack.sat.u16.s32", "s32 s32", "b32"),
    ("cvt.pack.sat.u4.s32.b32", "s32 s32 b32", "b32"),
    ("cvt.rna.satfinite.tf32.f32", "f32", "f32"),
    ("cvt.rm.bf16.f32", "f32", "bf16"),
    ("mul.rp.ftz.f32", "f32 f32", "f32"),
    ("mul.ftz.f16x2", "f16x2 f16x2", "f16x2"),
    ("rcp.approx.ftz.f64", "f64", "f64"),
    ("set.eq.ftz.u32.f16x2", "f16x2 f16x2", "u32"),
]


@pytest.mark.parametrize("opcode, operands, results", SIGNATURES)
def test_an_opcode_says_the_types_of_its_operands_and_results(opcode, operands, results):
    found = operation(opcode)
    assert (found.operands, found.results) == (tuple(operands.split()), tuple(results.split()))


@pytest.mark.parametrize("opcode, operands, results", SIGNATURES)
def test_lanes_give_lanes_and_values_that_all_lanes_share_give_one(opcode, operands, results):
    found = operation(opcode)
    columns = [as_array([1, 2, 3] if t != "pred" else [1, 0, 1], t) for t in found.operands]
    with np.errstate(all="ignore"):
        lanes = found.compute(*columns)
        shared = found.compute(*(column[0] for column in columns))
        mixed = found.compute(*(c if i == 0 else c[0] for i, c in enumerate(columns)))
    dtype = DTYPES[found.results[0]]
    assert isinstance(lanes, np.ndarray) and lanes.shape == (3,) and lanes.dtype == dtype
    assert isinstance(shared, np.generic) and shared.dtype == dtype
    assert mixed.dtype == dtype
    assert lanes[0].tobytes() == shared.tobytes() == np.atleast_1d(mixed)[0].tobytes()


@pytest.mark.parametrize("opcode, operands, results", SIGNATURES)
def test_operands_are_never_written(opcode, operands, results):
    found = operation(opcode)
    columns = [as_array([1, 0, 1], t) for t in found.operands]
    for column in columns:
        column.flags.writeable = False
    with np.errstate(all="ignore"):
        found.compute(*columns)


def test_modifiers_may_come_in_any_order():
    assert operation("fma.rn.ftz.f32").results == operation("fma.ftz.rn.f32").results
    assert operation("min.NaN.ftz.f32").results == operation("min.ftz.NaN.f32").results


def test_a_carry_is_one_more_operand_or_result():
    assert not operation("add.cc.u32").carry_in and operation("add.cc.u32").carry_out
    assert operation("addc.u32").carry_in and not operation("addc.u32").carry_out
    assert operation("madc.hi.cc.u32").carry_in and operation("madc.hi.cc.u32").carry_out


def test_two_destinations_of_a_comparison_are_two_predicates():
    assert operation("setp.lt.s32", 2).results == ("pred", "pred")


@pytest.mark.parametrize(
    "opcode",
    [
        "frobnicate.f32",
        "add",
        "add.f8",
        "add.approx.f32",
        "mul.s32",
        "mul.wide.s64",
        "setp.s32",
        "setp.lt",
        "testp.nan",
        "setp.lt.gt.s32",
        "setp.num.s32",
        "cvt.s32.f32",
        "cvt.rn.e4m3x2.f32",
        "cvt.rn.f32",
        "set.eq.u32",
        "dp4a.s32",
        "fma.rn.relu.f32",
        "slct.f32.u32",
        "testp.odd.f32",
        "shf.l.b32",
        "lop3.xor.b32",
        "lop3.or.b32",  # one destination: where would the predicate go?
        "cvt.pack.sat.u8.s32",
        "cvt.pack.u16.s32",
        "cvt.pack.sat.u16.s32.b32",
        "min.NaN.f64",
        "min.xorsign.f32",
        "add.sat.u16x2",
        "cvt.rn.satfinite.f32.f64",
        "cvt.rn.satfinite.tf32.f32",
        "cvt.rna.relu.tf32.f32",
    ],
)
def test_an_unknown_instruction_names_itself(opcode):
    with pytest.raises(UnknownInstruction, match=opcode) as caught:
        operation(opcode)
    assert pickle.loads(pickle.dumps(caught.value)).opcode == opcode


def test_lop3_with_a_predicate_has_two_destinations_and_a_predicate_more():
    found = operation("lop3.or.b32", 2)
    assert found.operands == ("b32", "b32", "b32", "u32", "pred")
    assert found.results == ("b32", "pred")


def test_looking_an_opcode_up_twice_builds_it_once():
    assert operation("fma.rn.f32") is operation("fma.rn.f32")
