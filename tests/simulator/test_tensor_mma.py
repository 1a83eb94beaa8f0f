"""mma.sync: fragments as another library has them, sums against float64, and what does not fit."""

import re

import numpy as np
import pytest

from simulator import parse
from simulator.faults import FaultKind
from simulator.instructions.rows import UnknownInstruction
from tests.simulator.compiled import Kernel, fault, run, written
from tests.simulator.fragments.products import (
    arrays,
    layouts_of,
    operands,
    spellings,
    text_of,
    types_of,
)
from tests.simulator.fragments.stored import LANES, matrix_of
from tests.simulator.matrices import bound, exact

HALF = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
HALF_SUMS = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
TENSOR_FLOAT = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
BYTES = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
DOUBLE = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"


def kernel(opcode, before="", guard=""):
    text = text_of(opcode, before, guard)
    return Kernel(text, parse(text).entries["k"], ())


def computed(opcode, a, b, c):
    """d [m, n] of one warp."""
    *inputs, d = arrays(opcode, a, b, c)
    run(kernel(opcode), 1, LANES, *inputs, d)
    layouts = layouts_of(opcode)
    return matrix_of(d, layouts["c"], layouts["shape"], "c", types_of(opcode)[0])


@pytest.mark.parametrize("opcode", list(spellings()))
def test_d_is_a_times_b_plus_c_rounded_once(opcode):
    a, b, c = operands(opcode)
    total, left, right, added = types_of(opcode)
    d = exact(computed(opcode, a, b, c), total)
    x, y, z = exact(a, left), exact(b, right), exact(c, added)
    differ = (x[:, :, None] != y[None]).sum(axis=1)
    want = (differ if "xor" in opcode else x @ y) + z
    assert np.all(np.abs(d - want) <= bound(x, y, z, x.shape[1], total))


@pytest.mark.parametrize("total, added", [("f32", "f16"), ("f16", "f32")])
def test_wmma_sums_may_begin_in_one_type_and_end_in_the_other(total, added):
    opcode = f"wmma.mma.sync.aligned.row.col.m16n16k16.{total}.{added}"
    sizes = {"f32": 8, "f16": 4}
    a = b = "{" + ",".join(["%one"] * 8) + "}"
    c = "{" + ",".join(["%half" if added == "f16" else "%three"] * sizes[added]) + "}"
    d = "{" + ",".join(f"%d{k}" for k in range(sizes[total])) + "}"
    body = f"""
        mov.b32 %one, 0x3C003C00; mov.b32 %half, 0x42004200; mov.f32 %three, 0f40400000;
        {opcode} {d}, {a}, {b}, {c};
        ld.param.u64 %to, [y]; mov.u32 %lane, %tid.x; mad.wide.u32 %to, %lane, 4, %to;
        st.global.b32 [%to], %d{sizes[total] - 1}; ret;"""
    declared = [("b32", "%one"), ("b32", "%half"), ("f32", "%three"), ("u64", "%to")]
    declared += [("u32", "%lane"), *(("b32", f"%d{k}") for k in range(8))]
    y = np.zeros(LANES, np.uint32)
    run(written(body, ".param .u64 y", declared), 1, LANES, y)
    assert (y.view(np.float32 if total == "f32" else np.float16) == 16 + 3).all()


def test_a_sum_of_halves_beyond_65504_is_infinite_and_one_of_floats_is_not():
    a, b = np.full((16, 16), 64, np.float16), np.full((16, 8), 64, np.float16)
    assert (computed(HALF_SUMS, a, b, np.zeros((16, 8), np.float16)) == np.inf).all()
    assert (computed(HALF, a, b, np.zeros((16, 8), np.float32)) == 65536).all()


def test_not_a_number_and_infinity_reach_their_row_or_column_alone():
    a, b, c = operands(HALF)
    a[3, 5], b[7, 2] = np.nan, np.inf
    d = computed(HALF, a, b, c)
    assert (d[3].view(np.uint32) == 0x7FFFFFFF).all()  # the NaN that hardware writes
    assert not np.isnan(np.delete(d, 3, axis=0)).any()
    assert (np.isinf(np.delete(d, 3, axis=0)) == (np.arange(8) == 2)).all()


def test_infinity_times_zero_is_not_a_number():
    a, b, c = operands(HALF)
    a[3, 5], b[5] = np.inf, 0
    d = computed(HALF, a, b, c)
    assert np.isnan(d[3]).all() and np.isfinite(np.delete(d, 3, axis=0)).all()


def test_subnormal_halves_count():
    a, b, c = (np.zeros_like(matrix) for matrix in operands(HALF))
    a[0, 0] = b[0, 0] = np.finfo(np.float16).smallest_subnormal
    assert computed(HALF, a, b, c)[0, 0] == 2.0**-48


def test_the_low_13_bits_of_a_tensor_float_do_not_count():
    a, b, c = operands(TENSOR_FLOAT)
    cut = [(x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b)]
    assert (cut[0] != a).any()
    np.testing.assert_array_equal(computed(TENSOR_FLOAT, a, b, c), computed(TENSOR_FLOAT, *cut, c))


def test_a_sum_is_not_rounded_after_each_product():
    a, b, c = (np.zeros_like(matrix) for matrix in operands(HALF))
    a[0, :3], b[:3, 0] = (4096, 1, -4096), (4096, 0.25, 4096)  # 2^24 + 1/4 - 2^24
    assert computed(HALF, a, b, c)[0, 0] == 0.25


def test_doubles_are_fused_one_after_another():
    a, b, c = (np.zeros_like(matrix) for matrix in operands(DOUBLE))
    a[0, :2], b[:2, 0] = (1, 1 + 2.0**-30), (-1, 1 - 2.0**-30)
    assert computed(DOUBLE, a, b, c)[0, 0] == -(2.0**-60)
    a[0, :2], b[:2, 0] = a[0, 1::-1].copy(), b[1::-1, 0].copy()  # now the sum before is rounded
    assert computed(DOUBLE, a, b, c)[0, 0] == 0


@pytest.mark.parametrize("sign", [1, -1])
def test_integer_sums_wrap_and_saturate_where_they_are_told_to(sign):
    a, b = np.full((16, 32), 127, np.int8), np.full((32, 8), sign * 127, np.int8)
    end = np.iinfo(np.int32).max if sign > 0 else np.iinfo(np.int32).min
    c = np.full((16, 8), end, np.int32)
    wrapped = (int(end) + sign * 32 * 127**2 + 2**31) % 2**32 - 2**31
    assert (computed(BYTES, a, b, c) == wrapped).all()
    assert (computed(BYTES.replace("col", "col.satfinite"), a, b, c) == end).all()


def test_a_guard_that_a_whole_warp_agrees_on_leaves_the_others_their_d():
    a, b, c = operands(HALF)
    *inputs, d = arrays(HALF, a, b, c, warps=3)
    run(kernel(HALF, guard="@p"), 1, 96, *inputs, d)
    layouts = layouts_of(HALF)
    first = matrix_of(d[:LANES], layouts["c"], layouts["shape"], "c", "f32")
    np.testing.assert_array_equal(first, computed(HALF, a, b, c))
    assert (d[LANES:] == 7).all()


LAST = "setp.eq.u32 p, lane, 31;"


@pytest.mark.parametrize(
    "before, guard, threads, why",
    [
        (f"{LAST} @p ret;", "", 32, "without lane 31 of its warp, which has returned"),
        (LAST, "@!p", 32, "without lane 31 of its warp, which is elsewhere"),
        (LAST, "@p", 32, r"thread 31 .* without lane 0 of its warp, which is elsewhere \(31 of"),
        ("", "", 40, r"thread 32 .* lane 8 .* does not exist: .* no multiple of 32 .* \(24 of"),
    ],
)
def test_a_warp_that_is_not_whole_is_a_fault(before, guard, threads, why):
    *inputs, d = arrays(HALF, *operands(HALF), warps=2)
    found = fault(kernel(HALF, before, guard), 1, threads, *inputs, d)
    assert found.kind is FaultKind.DIVERGENT_WARP
    assert re.search(why, found.what), found.what
    assert found.expected == "All 32 lanes of a warp execute a tensor-core instruction together."


@pytest.mark.parametrize(
    "opcode",
    [
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",  # of compute capability 7.0
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",  # of 8.9
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",  # of 9.0
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32",
    ],
)
def test_what_8_0_does_not_have_names_itself(opcode):
    vector = "{r0,r1,r2,r3}"
    body = f"{opcode} {vector}, {vector}, {vector}, {vector}; ret;"
    with pytest.raises(UnknownInstruction, match=opcode):
        run(written(body, "", [("b32", f"r{k}") for k in range(4)]), 1, 32)
