"""Global, shared, local and constant memory, and the generic pointers that reach all of them."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, run


def ints(count):
    return np.arange(count, dtype=np.int32)


def test_constant_memory_and_device_tables_hold_their_initial_values():
    kernel = compiled(
        """__constant__ float weights[4] = {0.5f, -1.0f, 2.0f, 1e-3f};
__device__ const short table[2][3] = {{1, -2, 3}, {-4, 5, -6}};
__device__ double one = 3.25;
__constant__ unsigned char bytes[5] = {1, 2, 255};
extern "C" __global__ void look(float* y, int n)
{
    int t = threadIdx.x;
    y[t] = weights[t % 4] + table[t % 2][t % 3] + one + bytes[t % n];
}"""
    )
    y = np.zeros(32, np.float32)
    run(kernel, 1, 32, y, 5)
    weights = np.array([0.5, -1, 2, 1e-3], np.float32)
    table, sizes = [[1, -2, 3], [-4, 5, -6]], [1, 2, 255, 0, 0]
    want = [weights[t % 4] + table[t % 2][t % 3] + 3.25 + sizes[t % 5] for t in range(32)]
    np.testing.assert_allclose(y, want, rtol=1e-6)


def test_a_constant_table_has_bounds():
    kernel = compiled(
        """__constant__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void look(int* y, int n)
{
    y[threadIdx.x] = table[threadIdx.x % n];
}"""
    )
    y = np.zeros(8, np.int32)
    run(kernel, 1, 8, y, 4)
    np.testing.assert_array_equal(y, [1, 2, 3, 4, 1, 2, 3, 4])
    found = fault(kernel, 1, 8, y, 5)
    assert "thread 4 of block 0 reads table[4]; table has 4 elements" in found.what


def test_each_thread_has_its_own_local_array():
    kernel = compiled(
        """extern "C" __global__ void reverse(const int* x, int* y, int n)
{
    int mine[8];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) mine[(k * 5 + t) % 8] = x[t] * 8 + k;
    int sum = 0;
    for (int k = 0; k < n; ++k) sum = sum * 3 + mine[(k + t) % 8];
    y[t] = sum;
}"""
    )
    y = np.zeros(96, np.int32)
    run(kernel, 2, 48, ints(96), y, 8)

    def reverse(t):
        mine = {(k * 5 + t) % 8: t * 8 + k for k in range(8)}
        total = 0
        for k in range(8):
            total = (total * 3 + mine[(k + t) % 8] + 2**31) % 2**32 - 2**31
        return total

    np.testing.assert_array_equal(y, [reverse(t) for t in range(96)])


def test_a_local_array_has_bounds():
    kernel = compiled(
        """extern "C" __global__ void past(int* y, int n)
{
    int mine[8];
    for (int k = 0; k < 8; ++k) mine[k ^ (n & 7)] = k;
    y[threadIdx.x] = mine[threadIdx.x + n];
}"""
    )
    run(kernel, 1, 8, ints(8), 0)
    found = fault(kernel, 1, 8, ints(8), 40)
    assert found.kind is FaultKind.OUT_OF_BOUNDS
    assert "thread 0 of block 0 reads byte 160 of its thread's local memory" in found.what


def test_dynamic_shared_memory_lies_behind_static():
    kernel = compiled(
        """extern "C" __global__ void both(int* y)
{
    __shared__ int fixed[33];
    extern __shared__ double sized[];
    int t = threadIdx.x;
    fixed[t] = t;
    sized[t] = 100.0 + t;
    __syncthreads();
    y[t] = fixed[31 - t] + (int)sized[(t + 1) % 32];
}"""
    )
    y = np.zeros(32, np.int32)
    run(kernel, 1, 32, y, shared_bytes=256)
    np.testing.assert_array_equal(y, (31 - ints(32)) + 100 + (ints(32) + 1) % 32)


def test_each_block_has_its_own_shared_memory():
    kernel = compiled(
        """extern "C" __global__ void own(int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = blockIdx.x * 100 + t;
    __syncthreads();
    y[blockIdx.x * 48 + t] = tile[47 - t];
}"""
    )
    y = np.zeros(480, np.int32)
    run(kernel, 10, 48, y)
    np.testing.assert_array_equal(y.reshape(10, 48), 100 * ints(10)[:, None] + ints(48)[::-1])


GENERIC = """extern "C" __global__ void choose(int* x, int* y, int way)
{
    __shared__ int tile[32];
    int mine[4];
    int t = threadIdx.x;
    tile[t] = 1000 + t;
    for (int k = 0; k < 4; ++k) mine[(k + way) & 3] = 2000 + 10 * t + k;
    __syncthreads();
    int* from = WHICH == 0 ? x + t : WHICH == 1 ? tile + (31 - t) : mine + (t & 3);
    asm volatile("" : "+l"(from));
    y[t] = *from;
    *from = t;
    __syncthreads();
    y[t + 32] = tile[t];
}"""


@pytest.mark.parametrize(
    ("which", "read", "shared_after"),
    [
        ("0", lambda t: 500 + t, lambda t: 1000 + t),
        ("1", lambda t: 1031 - t, lambda t: 31 - t),
        ("2", lambda t: 2000 + 10 * t + (t & 3), lambda t: 1000 + t),
        (
            "(t % 3)",  # lanes of one warp reach three kinds of memory in one instruction
            lambda t: [500 + t, 1031 - t, 2000 + 10 * t + (t & 3)][t % 3],
            lambda t: 31 - t if (31 - t) % 3 == 1 else 1000 + t,
        ),
    ],
)
def test_a_generic_pointer_reaches_global_shared_and_local_memory(which, read, shared_after):
    x, y = 500 + ints(32), np.zeros(64, np.int32)
    source = GENERIC.replace("WHICH", which)
    run(compiled(source), 1, 32, x, y, 0)
    np.testing.assert_array_equal(y[:32], [read(t) for t in range(32)])
    np.testing.assert_array_equal(y[32:], [shared_after(t) for t in range(32)])


SELECT = """extern "C" __global__ void select(const int* a, const int* b, int* y, int n)
{
    int t = threadIdx.x;
    const int* from = t % 2 ? a : b;
    int* to = y + t;
    *to = from[t + n];
}"""


def test_lanes_may_read_from_two_buffers_in_one_instruction():
    y = np.zeros(32, np.int32)
    run(compiled(SELECT), 1, 32, ints(32), 100 + ints(32), y, 0)
    np.testing.assert_array_equal(y, ints(32) + 100 * (ints(32) % 2 == 0))


def test_the_buffer_that_is_left_is_named():
    found = fault(compiled(SELECT), 1, 32, ints(41), ints(39), np.zeros(32, np.int32), 9)
    assert "thread 30 of block 0 reads b[39]; b has 39 elements" in found.what


def test_atomics_may_hit_two_buffers_in_one_instruction():
    kernel = compiled(
        """extern "C" __global__ void count(int* a, int* b, int* y)
{
    int t = threadIdx.x;
    y[t] = atomicAdd((t % 4 == 0 ? a : b) + t % 2, 1);
}"""
    )
    a, b, y = np.zeros(2, np.int32), np.zeros(2, np.int32), np.zeros(32, np.int32)
    run(kernel, 1, 32, a, b, y)
    assert (a.tolist(), b.tolist()) == ([8, 0], [8, 16])
    assert sorted(y) == sorted([*range(8), *range(8), *range(16)])


def test_atomics_reach_shared_memory_by_a_generic_pointer():
    kernel = compiled(
        """extern "C" __global__ void count(int* x, int* y)
{
    __shared__ int bins[2];
    int t = threadIdx.x;
    if (t < 2) bins[t] = 0;
    __syncthreads();
    int* to = t % 3 == 0 ? x : bins + t % 2;
    asm volatile("" : "+l"(to));
    atomicAdd(to, 1);
    __syncthreads();
    if (t < 2) y[t] = bins[t];
}"""
    )
    x, y = np.zeros(1, np.int32), np.zeros(2, np.int32)
    run(kernel, 1, 30, x, y)
    assert (x[0], y.tolist()) == (10, [10, 10])  # of 0 .. 29: 10 multiples of 3, 10 + 10 others


def test_every_width_is_loaded_and_stored():
    kernel = compiled(
        """extern "C" __global__ void widths(const signed char* a, unsigned short* b, long long* c,
    double2* d, const uchar4* e)
{
    int t = threadIdx.x;
    b[t] = a[t] * 3;
    c[t] = a[t] * 10000000000LL;
    uchar4 four = e[t];
    d[t] = make_double2(four.x - four.w, a[t] * 0.5 + four.y * four.z);
}"""
    )
    a = (ints(32) * 7 - 100).astype(np.int8)
    b, c = np.zeros(32, np.uint16), np.zeros(32, np.int64)
    d, e = np.zeros((32, 2)), (ints(128) * 5 % 256).astype(np.uint8).reshape(32, 4)
    run(kernel, 1, 32, a, b, c, d, e)
    x, y, z, w = e.astype(np.int64).T
    np.testing.assert_array_equal(b, (a.astype(np.int64) * 3).astype(np.uint16))
    np.testing.assert_array_equal(c, a * np.int64(10**10))
    np.testing.assert_array_equal(d, np.stack([x - w, a * 0.5 + y * z], axis=1))
