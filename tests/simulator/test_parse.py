"""PTX as compilers and people write it."""

import pickle
import re

import numpy as np
import pytest

from simulator import PtxError, UnknownInstruction, parse
from tests.simulator.compiled import compiled, fault, ptx_of, run, written

ONE_BUFFER = ".param .u64 k_param_0"
HEAD = "ld.param.u64 y, [k_param_0]; mov.u32 t, %tid.x; mad.wide.u32 y, t, 4, y;"
REGISTERS = [("b64", "y"), ("b32", "t, v, w"), ("pred", "p")]


def results(body, threads=32, before=""):
    """y [threads] of a kernel that ends with v."""
    text = f"{HEAD} {body} st.global.u32 [y], v; ret;"
    y = np.zeros(threads, np.uint32)
    # Faults off: lanes may well write one place, if only the last one counts.
    run(written(text, ONE_BUFFER, REGISTERS, before), 1, threads, y, faults=False)
    return y.tolist()


def test_a_scoped_register_hides_one_of_the_same_name():
    body = """mov.u32 v, 7;
    { .reg .b32 v; mov.u32 v, 1; { .reg .b32 v; mov.u32 v, 2; } add.u32 w, v, 10; }
    add.u32 v, v, w;"""
    assert results(body) == [7 + 11] * 32


def test_a_scoped_register_may_carry_a_percent_sign():
    """libdevice's own assembly declares %r1 once more, in the scope of its slow paths."""
    body = """.reg .b32 %r<4>; mov.u32 %r1, 5; mov.u32 %r2, 6;
    { .reg .u32 %r1, %alo; mov.u32 %r1, 70; add.u32 %alo, %r1, %r2; mov.u32 %r3, %alo; }
    add.u32 v, %r1, %r3;"""
    assert results(body) == [5 + 76] * 32


def test_inline_assembly_may_put_all_on_one_line():
    assert results("{.reg .b32 c;mov.b32 c,0x10U;add.u32 v,c,t;}") == [16 + t for t in range(32)]


def test_inline_assembly_may_stretch_an_instruction_over_lines():
    assert results("mad.lo.u32 v,\n\n   t , 3,\t t\n;") == [4 * t for t in range(32)]


def test_numbered_families_of_registers_may_have_any_prefix():
    body = ".reg .b32 q<3>; .reg .f32 %foo<5>; mov.u32 q2, 5; mov.f32 %foo4, 0f40400000; "
    assert results(body + "cvt.rzi.u32.f32 q1, %foo4; add.u32 v, q1, q2;") == [8] * 32


def test_comments_may_hold_anything():
    body = """mov.u32 v, 1; // add.u32 v, v, 1; }
    /* { add.u32 v, v, 1;
       */ add.u32 v, v, /* here too */ 2;"""
    assert results(body) == [3] * 32


def test_vector_operands_come_with_and_without_spaces():
    body = """ .reg .b64 d; .reg .b16 h, g;
    mov.b32 {h,g}, 0x00050003; mov.b32 v, { g, h };
    mov.b64 d, {v , t}; mov.b64 { v, w }, d; add.u32 v, v, w;"""
    assert results(body) == [0x30005 + t for t in range(32)]


def test_an_ignored_result_is_written_nowhere():
    assert (
        results("mov.b32 v, 1; .reg .b16 h; mov.b32 {_, h}, 0x20001; cvt.u32.u16 v, h;") == [2] * 32
    )


def test_labels_may_stand_before_a_brace_or_share_a_line():
    body = """mov.u32 v, 0;
    AGAIN: { add.u32 v, v, 1; setp.lt.u32 p, v, t; @p bra AGAIN; }
    ONE: TWO: add.u32 v, v, 100;"""
    assert results(body) == [max(1, t) + 100 for t in range(32)]


def test_labels_of_two_scopes_are_two_labels():
    """Inline assembly that loops, pasted twice."""
    once = "{ .reg .pred q; TOP: add.u32 v, v, 1; setp.lt.u32 q, v, LIMIT; @q bra TOP; }"
    body = f"mov.u32 v, 0; {once.replace('LIMIT', '5')} {once.replace('LIMIT', '3')}"
    assert results(body) == [6] * 32


def test_numbers_in_every_spelling():
    body = """.reg .f32 f; .reg .f64 d;
    mov.u32 v, 0x10; add.u32 v, v, 0X0fU; add.u32 v, v, 017; add.s32 v, v, -1; add.u32 v, v, 0b11;
    mov.f32 f, 0fBF800000; cvt.rni.s32.f32 w, f; add.s32 v, v, w;
    mov.f64 d, 0d4000000000000000; cvt.rzi.s32.f64 w, d; add.s32 v, v, w;"""
    assert results(body) == [16 + 15 + 15 - 1 + 3 - 1 + 2] * 32


def test_initial_values_of_every_kind():
    before = """.global .align 4 .b8 bytes[8] = {1, 2, 255, 0xFF};
    .global .align 8 .f32 floats[2] = {0f3F800000, 0f40000000};
    .const .align 4 .s16 shorts[3] = {-1, 2, -3};
    .global .u32 one = 77;
    .global .align 16 .u64 long[1] = {18446744073709551615};
    .visible .global .align 4 .u32 zeros[4];"""
    body = """.reg .f32 f; .reg .b64 d; .reg .b16 h;
    ld.global.u8 v, [bytes+2]; ld.global.s8 w, [bytes+3]; add.s32 v, v, w;
    ld.global.f32 f, [floats+4]; cvt.rzi.s32.f32 w, f; add.s32 v, v, w;
    mov.u64 d, shorts; ld.const.s16 h, [d+4]; cvt.s32.s16 w, h; add.s32 v, v, w;
    ld.global.u32 w, [one]; add.s32 v, v, w;
    ld.global.u64 d, [long]; cvt.u32.u64 w, d; add.s32 v, v, w;
    ld.global.u32 w, [zeros+12]; add.s32 v, v, w;"""
    assert results(body, before=before) == [255 - 1 + 2 - 3 + 77 - 1] * 32


def test_a_table_of_addresses_points_to_its_variables():
    """`__device__ const float* table[]` of a CUDA file."""
    kernel = compiled(
        """__device__ int first[2] = {10, 11};
__device__ int second[2] = {20, 21};
__device__ int* tables[2] = {second, first + 1};
extern "C" __global__ void look(int* y, int n)
{
    y[threadIdx.x] = *tables[(threadIdx.x + n) % 2];
}"""
    )
    y = np.zeros(4, np.int32)
    run(kernel, 1, 4, y, 0)
    assert y.tolist() == [20, 11, 20, 11]


def test_the_address_of_an_element_may_be_an_operand():
    before = ".shared .align 4 .b8 tile[128]; .global .align 4 .b8 far[8] = {1, 0, 0, 0, 9};"
    body = """.reg .b64 d; mov.u64 d, tile+8; st.shared.u32 [d+4], t; ld.shared.u32 v, [tile+12];
    mov.u64 d, far+4; ld.global.u32 w, [d]; add.u32 v, v, w;"""
    assert results(body, before=before) == [31 + 9] * 32


def test_parameters_are_described():
    ptx = """.visible .entry k(
        .param .u64 .ptr .global .align 1 k_param_0,
        .param .u64 .ptr .align 16 k_param_1,
        .param .align 8 .b8 k_param_2[24],
        .param .f32 k_param_3,
        .param .u8 k_param_4
    )
    .maxntid 128, 2, 1
    .minnctapersm 2
    { ret; }"""
    entry = parse(ptx).entries["k"]
    assert [(p.name, p.type, p.bytes) for p in entry.parameters] == [
        ("k_param_0", "u64", 8),
        ("k_param_1", "u64", 8),
        ("k_param_2", "b8", 24),
        ("k_param_3", "f32", 4),
        ("k_param_4", "u8", 1),
    ]
    assert entry.maximum_threads == 256
    assert parse(".entry none() { ret; }").entries["none"].parameters == ()
    assert parse(".visible .entry none\n{ ret; }").entries["none"].parameters == ()


def test_a_struct_parameter_is_read_by_its_fields():
    kernel = compiled(
        """struct Shape { int rows; float scale; double shift; short pads[2]; };
extern "C" __global__ void apply(float* y, Shape shape)
{
    y[threadIdx.x] = shape.rows * shape.scale + shape.shift + shape.pads[threadIdx.x % 2];
}"""
    )
    fields = [("rows", "i4"), ("scale", "f4"), ("shift", "f8"), ("pads", "i2", 2), ("end", "V4")]
    shape = np.array((3, 0.5, 100.0, (7, -7), b""), fields)[()]
    y = np.zeros(2, np.float32)
    run(kernel, 1, 2, y, shape)
    assert y.tolist() == [108.5, 94.5]


def test_a_parameter_has_an_address():
    kernel = compiled(
        """struct Table { float values[16]; int n; };
extern "C" __global__ void look(float* y, const __grid_constant__ Table table)
{
    const Table* where = &table;
    asm volatile("" : "+l"(where));
    y[threadIdx.x] = where->values[threadIdx.x * 3 % where->n];
}"""
    )
    table = np.array((np.arange(16), 10), [("values", "f4", 16), ("n", "i4")])[()]
    y = np.zeros(8, np.float32)
    run(kernel, 1, 8, y, table)
    assert y.tolist() == [3 * t % 10 for t in range(8)]


def test_inlined_code_counts_for_the_line_in_the_learners_file():
    kernel = compiled(
        """__device__ float inner(const float* x, int i)
{
    return x[i] * 2.0f;
}
extern "C" __global__ void outer(const float* x, float* y)
{
    int i = threadIdx.x;
    y[i] = inner(x, i) + __shfl_sync(~0u, 1.0f, i ^ 1);
}"""
    )
    x, y = np.zeros(20, np.float32), np.zeros(32, np.float32)
    found = fault(kernel, 1, 32, x, y)
    assert found.line == kernel.line("return x[i]")
    lines = run(kernel, 1, 20, x, y).lines
    assert lines[kernel.line("return x[i]")].global_load_requests == 1
    assert lines[kernel.line("y[i] = inner")].shuffles == 1  # from a header, called here
    assert max(lines) <= kernel.source.count("\n") + 1


def test_an_instruction_that_the_simulator_lacks_is_named_with_its_line():
    kernel = compiled(
        """extern "C" __global__ void odd(int* y)
{
    int v = threadIdx.x;
    asm volatile("frobnicate.u32 %0, %1;" : "=r"(v) : "r"(v));
    y[threadIdx.x] = v;
}"""
    )
    with pytest.raises(UnknownInstruction) as caught:
        run(kernel, 1, 32, np.zeros(32, np.int32))
    assert caught.value.opcode == "frobnicate.u32"
    assert caught.value.line == kernel.line("frobnicate")


@pytest.mark.parametrize("instruction", ["barrier.cluster.arrive;", "cp.async.bulk.wait_group 0;"])
def test_what_is_not_simulated_is_never_passed_over(instruction):
    with pytest.raises(UnknownInstruction):
        run(written(f"{instruction} ret;"), 1, 64)


def test_an_operand_that_cannot_be_read_is_named():
    with pytest.raises(UnknownInstruction, match="add.u32 v, v, unheard_of") as caught:
        results(".loc 1 7 1; add.u32 v, v, unheard_of;")
    assert caught.value.line == 7


def test_text_that_is_no_ptx_is_refused():
    with pytest.raises(PtxError, match="never closed"):
        parse(".entry k() { ret;")
    with pytest.raises(PtxError, match="parameter"):
        parse(".entry k(int x) { ret; }")


def test_a_module_can_be_pickled():
    source = 'extern "C" __global__ void k(int* y) { y[threadIdx.x] = 1; }'
    entry = pickle.loads(pickle.dumps(parse(ptx_of(source)))).entries["k"]
    assert entry.instructions == compiled(source).entry.instructions


WIDE_RANGE = """#include <cuda_fp16.h>
extern "C" __global__ void many(const float* x, const int* z, float* y, int n)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    float v = x[t] * 1.5f - fabsf(x[63 - t]);
    tile[t] = v;
    __syncthreads();
    for (int k = 0; k < n; ++k) v = fmaf(v, 0.5f, tile[(t + k) % 64]);
    v += sqrtf(fabsf(v)) + (float)z[t] / 3 + (z[t] % 7) + min(z[t], 5);
    double d = v;
    v += (float)(d * d) + __half2float(__float2half(v)) + __popc(z[t]) + (z[t] > 3 ? 1.0f : 2.0f);
    v += __shfl_xor_sync(~0u, v, 3);
    atomicAdd(&y[t % 4], roundf(v));
}"""


@pytest.mark.parametrize("architecture", ["compute_90", "compute_100", "compute_120"])
def test_newer_architectures_give_the_same_values(architecture):
    """From compute_100 on registers carry no type: the instruction alone says how to read one."""
    random = np.random.default_rng(0)
    x, z = random.normal(size=64).astype(np.float32), random.integers(-50, 50, 64).astype(np.int32)
    results = []
    for target in ("compute_80", architecture):
        y = np.zeros(4, np.float32)
        run(compiled(WIDE_RANGE, architecture=target), 1, 64, x, z, y, 9)
        results.append(y)
    np.testing.assert_array_equal(*results)
    assert np.abs(results[0]).min() > 0
    if architecture != "compute_90":
        assert not re.search(r"\.reg \.f32", ptx_of(WIDE_RANGE, architecture))
