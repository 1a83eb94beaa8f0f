"""What calls pass and return: structs, parts of them, pointers into the caller's arrays."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run, written


def test_structs_and_doubles_go_through_a_pointer():
    kernel = compiled(
        """struct Vector { double x; float y; char tag; };
typedef Vector (*Step)(Vector, short, double);
__device__ Vector grow(Vector v, short by, double f) { return {v.x * by, v.y + (float)f, 'g'}; }
__device__ Vector turn(Vector v, short by, double f) { return {-v.y + f, (float)v.x, (char)by}; }
__device__ Step steps[2] = {grow, turn};
extern "C" __global__ void k(double* y)
{
    int t = threadIdx.x;
    Vector v = steps[t & 1]({t + 0.5, 0.25f * t, 'a'}, (short)(t - 3), 0.125);
    y[3 * t] = v.x;
    y[3 * t + 1] = v.y;
    y[3 * t + 2] = v.tag;
}""",
        "k",
    )
    y = np.zeros((45, 3))
    run(kernel, 1, 45, y)
    grow = [[(t + 0.5) * (t - 3), 0.25 * t + 0.125, ord("g")] for t in range(45)]
    turn = [[-0.25 * t + 0.125, t + 0.5, t - 3] for t in range(45)]
    assert y.tolist() == [(turn if t & 1 else grow)[t] for t in range(45)]


def test_a_function_gets_a_pointer_into_the_callers_local_array():
    kernel = compiled(
        """typedef void (*Fill)(int*, int);
__device__ void rising(int* a, int n) { for (int k = 0; k < n; ++k) a[k] = 10 * n + k; }
__device__ void mirrored(int* a, int n)
{
    int mine[8];
    rising(mine, n);
    for (int k = 0; k < n; ++k) a[k] = mine[n - 1 - k];
}
__device__ Fill fills[2] = {rising, mirrored};
extern "C" __global__ void k(int* y)
{
    int a[8] = {}, b[8] = {}, t = threadIdx.x;
    fills[t & 1](a, 1 + t % 8);
    fills[t % 3 == 0](b + 1, 7);
    for (int k = 0; k < 8; ++k) y[8 * t + k] = a[k] + 1000 * b[k];
}""",
        "k",
    )

    def fill(mirrored, n):
        values = [10 * n + k for k in range(n)]
        return values[::-1] if mirrored else values

    y = np.zeros((45, 8), np.int32)
    run(kernel, 1, 45, y)
    for t in range(45):
        n = 1 + t % 8
        a, b = fill(t & 1, n) + [0] * (8 - n), [0, *fill(t % 3 == 0, 7)]
        assert y[t].tolist() == [low + 1000 * high for low, high in zip(a, b, strict=True)]


def test_a_struct_of_odd_size_is_passed_and_returned_by_value():
    kernel = compiled(
        """struct Odd { char a[7]; short b; char c[2]; };
__device__ __noinline__ Odd turn(Odd o, int k)
{
    o.a[k] += o.b;
    o.b = o.c[1];
    o.c[0] = o.a[6];
    return o;
}
extern "C" __global__ void k(int* y)
{
    int t = threadIdx.x;
    Odd o = turn({{1, 2, 3, 4, 5, 6, 7}, (short)t, {8, (char)(t - 50)}}, t % 7);
    for (int j = 0; j < 7; ++j) y[10 * t + j] = o.a[j];
    y[10 * t + 7] = o.b;
    y[10 * t + 8] = o.c[0];
    y[10 * t + 9] = o.c[1];
}""",
        "k",
    )
    y = np.zeros((45, 10), np.int32)
    run(kernel, 1, 45, y)
    want = np.empty_like(y)
    for t in range(45):
        a = [1, 2, 3, 4, 5, 6, 7]
        a[t % 7] += t
        want[t] = [*a, t - 50, a[6], t - 50]
    assert y.tolist() == want.tolist()


def test_a_value_that_is_passed_with_one_width_is_read_with_another():
    """int2 goes in as two words and comes out as one of 64 bits; then as bytes of words."""
    kernel = compiled(
        """struct Bytes { unsigned char b[8]; };
__device__ __noinline__ long long joined(int2 v) { return *(long long*)&v; }
__device__ __noinline__ int summed(long long v)
{
    Bytes bytes = *(Bytes*)&v;
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += (k + 1) * bytes.b[k];
    return sum;
}
extern "C" __global__ void k(long long* y, int* z, int n)
{
    int t = threadIdx.x;
    y[t] = joined(make_int2(t - 20, n * t));
    z[t] = summed(y[t]);
}""",
        "k",
    )
    y, z = np.zeros(45, np.int64), np.zeros(45, np.int32)
    run(kernel, 1, 45, y, z, 1001)
    words = np.stack([np.arange(45) - 20, np.arange(45) * 1001], axis=1).astype(np.int32)
    np.testing.assert_array_equal(y, words.reshape(-1).view(np.int64))
    np.testing.assert_array_equal(z, words.view(np.uint8) @ np.arange(1, 9))


@pytest.mark.parametrize(
    ("stores", "load", "want"),
    [
        ("st.param.b64 [p], {a};", "ld.param.b32 r, [p+4];", 0x11223344),
        ("st.param.b64 [p], {a};", "ld.param.u8 r, [p+5];", 0x33),
        ("st.param.b64 [p], {a};", "ld.param.s16 r, [p];", 0xFFFF_CCDD),
        (
            "st.param.v2.b32 [p], {{{b}, {c}}};",
            "ld.param.b64 w, [p]; shr.u64 w, w, 24;",
            0x223344AA,
        ),
        ("st.param.v2.b32 [p], {{{b}, {c}}};", "ld.param.u16 r, [p+6];", 0x1122),
        (
            "st.param.b32 [p], {b}; st.param.v4.b8 [p+4], {{1, 2, 3, 4}};",
            "ld.param.v2.b32 {{r, s}}, [p]; xor.b32 r, r, s;",
            0xAABBCCDD ^ 0x04030201,
        ),
    ],
)
@pytest.mark.parametrize("way", ["in its place", "as a call"])
def test_parts_of_a_passed_value_are_read_at_their_places(stores, load, want, way):
    wide = 0x11223344_AABBCCDD
    named = {"a": "x", "b": "b", "c": "c"}
    target = {"in its place": "call part, (p);", "as a call": "call f, (p), kind;"}[way]
    ends = "cvt.u32.u64 r, w;" if " w," in load else ""
    kernel = written(
        f"""ld.param.u64 y, [k_y]; mov.u64 x, {wide}; mov.b64 {{b, c}}, x; mov.u64 f, part;
        {{ .param .align 8 .b8 p[8]; {stores.format(**named)}
        kind: .callprototype _ (.param .align 8 .b8 _[8]); {target} }}
        ld.global.u32 b, [result]; st.global.u32 [y], b; ret;""",
        ".param .u64 k_y",
        [("u64", "y, x, f"), ("b32", "b, c")],
        f""".global .u32 result;
        .func part (.param .align 8 .b8 p[8]) {{ .reg .b32 r, s; .reg .b64 w;
        {load.format()} {ends} st.global.u32 [result], r; ret; }}""",
    )
    y = np.zeros(1, np.uint32)
    run(kernel, 1, 1, y)
    assert hex(y[0]) == hex(want)
