"""Calls that the compiler leaves: its own slow paths, and functions that must not be inlined."""

import numpy as np
import pytest

from simulator import UnknownInstruction
from tests.simulator.compiled import compiled, fault, run, written


def test_a_function_that_must_not_be_inlined():
    kernel = compiled(
        """__device__ __noinline__ float blend(float a, float b, int way)
{
    if (way == 0) return a;
    float sum = 0.0f;
    for (int k = 0; k < way; ++k) sum += a * b;
    return sum;
}
__device__ __noinline__ float twice(float a, int way) { return 2.0f * blend(a, 3.0f, way); }
extern "C" __global__ void k(const float* x, float* y)
{
    int t = threadIdx.x;
    y[t] = blend(x[t], 2.0f, t % 4) + twice(x[t], t % 3);
    if (t % 5 == 0) y[t] += blend(1.0f, 1.0f, 7);
}""",
        "k",
    )
    x, y = np.arange(70, dtype=np.float32), np.zeros(70, np.float32)
    run(kernel, 1, 70, x, y)

    def blend(a, b, way):
        return a if way == 0 else a * b * way

    want = [
        blend(t, 2, t % 4) + 2 * blend(t, 3, t % 3) + (7 if t % 5 == 0 else 0) for t in range(70)
    ]
    assert y.tolist() == want


def test_structs_and_pointers_are_passed():
    kernel = compiled(
        """struct Pair { int a; double b; short c[2]; };
__device__ __noinline__ Pair turn(Pair p, int* out)
{
    *out = p.a;
    return {p.c[0], p.b * 2, {p.c[1], (short)p.a}};
}
extern "C" __global__ void k(int* y, int n)
{
    int t = threadIdx.x;
    Pair p = turn(Pair{t, 0.5 * t, {(short)(t + 1), (short)-t}}, y + 4 * t);
    y[4 * t + 1] = p.a;
    y[4 * t + 2] = (int)p.b;
    y[4 * t + 3] = p.c[0] * 100 + p.c[1];
}""",
        "k",
    )
    y = np.zeros((32, 4), np.int32)
    run(kernel, 1, 32, y, 1)
    assert y.tolist() == [[t, t + 1, t, -100 * t + t] for t in range(32)]


def test_slow_paths_of_double_functions():
    kernel = compiled(
        """extern "C" __global__ void k(const double* x, double* y)
{
    int t = threadIdx.x;
    y[3 * t] = pow(fabs(x[t]), 1.7);
    y[3 * t + 1] = sin(x[t]);
    y[3 * t + 2] = cos(x[t] * 1e9);
}"""
    )
    x, y = np.random.default_rng(0).normal(size=64) * 1000, np.zeros((64, 3))
    run(kernel, 1, 64, x, y)
    np.testing.assert_allclose(y[:, 0], np.abs(x) ** 1.7, rtol=1e-14)
    np.testing.assert_allclose(y[:, 1], np.sin(x), rtol=1e-13)
    np.testing.assert_allclose(y[:, 2], np.cos(x * 1e9), rtol=1e-9, atol=1e-12)


def test_a_fault_in_a_function_names_the_line_in_it():
    kernel = compiled(
        """__device__ __noinline__ void put(int* y, int at)
{
    int mine[4] = {at, at + 1, at + 2, at + 3};
    y[at] = mine[threadIdx.x & 3];
}
extern "C" __global__ void k(int* y)
{
    put(y, threadIdx.x);
    __syncthreads();
    put(y, threadIdx.x + 32);
}""",
        "k",
    )
    found = fault(kernel, 1, 32, np.zeros(40, np.int32))
    assert "thread 8 of block 0 writes y[40]" in found.what
    assert found.line == kernel.line("y[at] = ")


def test_printf_still_works_beside_calls():
    kernel = compiled(
        """__device__ __noinline__ int half(int v) { printf("half of %d\\n", v); return v / 2; }
extern "C" __global__ void k(int* y)
{
    y[0] = half(10);
    printf("is %d\\n", y[0]);
    y[0] += half(6);
}""",
        "k",
    )
    y = np.zeros(1, np.int32)
    assert run(kernel, 1, 1, y).output == "half of 10\nis 5\nhalf of 6\n"
    assert y[0] == 8


def test_forward_declarations_and_linkage_do_not_matter():
    kernel = written(
        "ld.param.u64 y, [k_y]; { .param .b32 r; call (r), later; ld.param.b32 a, [r]; }"
        "st.global.u32 [y], a; ret;",
        ".param .u64 k_y",
        [("u64", "y"), ("b32", "a")],
        """.visible .func (.param .b32 r) later ;
        .weak .func (.param .b32 r) inner { st.param.b32 [r], 7; ret; }
        .func never () .noreturn { trap; }
        .visible .func (.param .b32 r) later
        { .reg .b32 a; { .param .b32 q; call (q), inner; ld.param.b32 a, [q]; }
        add.u32 a, a, 1; st.param.b32 [r], a; ret; }""",
    )
    y = np.zeros(1, np.uint32)
    run(kernel, 1, 1, y)
    assert y[0] == 8


def test_a_call_behind_a_guard_skips_lanes():
    kernel = written(
        """ld.param.u64 y, [k_y]; mov.u32 t, %tid.x; setp.lt.u32 p, t, 5; mov.u64 f, twice;
        mad.wide.u32 y, t, 4, y; mov.u32 a, 9;
        { .param .b32 q; .param .b32 r; st.param.b32 [q], t; st.param.b32 [r], 1000;
        kind: .callprototype (.param .b32 _) _ (.param .b32 _);
        @p call (r), f, (q), kind; ld.param.b32 a, [r]; }
        st.global.u32 [y], a; ret;""",
        ".param .u64 k_y",
        [("u64", "y, f"), ("b32", "t, a"), ("pred", "p")],
        """.func (.param .b32 r) twice (.param .b32 v)
        { .reg .b32 a; ld.param.b32 a, [v]; add.u32 a, a, a; st.param.b32 [r], a; ret; }""",
    )
    y = np.zeros(40, np.uint32)
    run(kernel, 1, 40, y)
    assert y.tolist() == [2 * t if t < 5 else 1000 for t in range(40)]


def test_a_function_without_a_body_is_named_with_the_line_of_its_call():
    kernel = compiled(
        """extern __device__ int elsewhere(int v);
extern "C" __global__ void k(int* y)
{
    y[0] = elsewhere(3);
}""",
        "k",
        options=("-rdc=true",),
    )
    with pytest.raises(UnknownInstruction, match="elsewhere") as caught:
        run(kernel, 1, 1, np.zeros(1, np.int32))
    assert caught.value.line == kernel.line("elsewhere(3)")


def test_what_a_function_never_called_cannot_do_does_no_harm():
    """A virtual destructor frees memory, which the simulator does not have; nobody deletes."""
    kernel = compiled(
        """struct Shape
{
    __device__ virtual ~Shape() {}
    __device__ virtual int area() { return 1; }
};
struct Square : Shape { int side; __device__ int area() override { return side * side; } };
extern "C" __global__ void k(int* y, int n)
{
    Square square;
    square.side = threadIdx.x;
    Shape plain;
    Shape* shape = n > threadIdx.x ? &square : &plain;
    y[threadIdx.x] = shape->area();
}""",
        "k",
    )
    assert any(i.opcode.startswith("call") for f in kernel.entry.functions for i in f.instructions)
    y = np.zeros(40, np.int32)
    run(kernel, 1, 40, y, 7)
    assert y.tolist() == [t * t if t < 7 else 1 for t in range(40)]
