"""What the README promises of the simulator's speed, with every fault and counter on."""

import time
import tracemalloc

import numpy as np

from simulator.translating.control_flow import basic_blocks
from simulator.translating.generate import Generator
from tests.simulator.compiled import compiled, run, written


def seconds(call, rounds=3):
    """The best of some rounds, warm, in time of this process alone."""
    call()
    times = []
    for _ in range(rounds):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


def test_a_million_threads_add_vectors_in_half_a_second():
    kernel = compiled(
        """extern "C" __global__ void vec_add(const float* a, const float* b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}"""
    )
    n = 1 << 20
    a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    c = np.zeros(n, np.float32)
    assert seconds(lambda: run(kernel, n // 256, 256, a, b, c, n)) < 0.5
    np.testing.assert_array_equal(c, a + 1)


def test_a_tiled_matmul_of_256_takes_less_than_a_second():
    kernel = compiled(
        """extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        left[ty][tx] = a[row * n + k + tx];
        right[ty][tx] = b[(k + ty) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum += left[ty][j] * right[j][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}"""
    )
    a, b = np.random.default_rng(0).normal(size=(2, 256, 256)).astype(np.float32)
    c = np.zeros((256, 256), np.float32)
    assert seconds(lambda: run(kernel, (16, 16), (16, 16), a, b, c, 256)) < 1
    np.testing.assert_allclose(c, a @ b, rtol=1e-3, atol=1e-3)


def test_straight_float_code_runs_at_two_hundred_million_lane_instructions_a_second():
    """Products with -1/4 and sums of like size: half of the sums end in a tie of float32."""
    steps = "p = __fadd_rn(p, q); q = __fmul_rn(q, 1.01f); p = __fmaf_rn(p, -0.25f, q); " * 60
    kernel = compiled(
        f"""extern "C" __global__ void straight(const float* x, float* y)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float p = x[i], q = 0.5f * p;
    {steps}
    y[i] = p;
}}"""
    )
    x = np.random.default_rng(0).normal(size=1 << 16).astype(np.float32)
    y = np.zeros_like(x)
    launched = run(kernel, 256, 256, x, y)
    instructions = launched.counters.thread_instructions
    assert instructions > 180 * len(x)
    assert instructions / seconds(lambda: run(kernel, 256, 256, x, y)) > 200e6
    p, q = x, np.float32(0.5) * x
    for _ in range(60):
        p, q = p + q, q * np.float32(1.01)
        p = (p.astype(np.float64) * -0.25 + q).astype(np.float32)
    np.testing.assert_allclose(y, p, rtol=1e-5)


def test_a_matmul_with_sixteen_sums_a_thread_needs_less_than_a_kilobyte_a_lane():
    kernel = compiled(
        """extern "C" __global__ void matmul(
            const float* a, const float* b, float* c, int n, int depth)
{
    __shared__ float left[64][17], right[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sums[4][4] = {};
    for (int k = 0; k < depth; k += 16) {
        for (int e = t; e < 1024; e += 256) {
            left[e / 16][e % 16] = a[(row + e / 16) * depth + k + e % 16];
            right[e / 64][e % 64] = b[(k + e / 64) * n + column + e % 64];
        }
        __syncthreads();
        for (int j = 0; j < 16; ++j)
            for (int r = 0; r < 4; ++r)
                for (int s = 0; s < 4; ++s)
                    sums[r][s] += left[ty + 16 * r][j] * right[j][tx + 16 * s];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) c[(row + ty + 16 * r) * n + column + tx + 16 * s] = sums[r][s];
}"""
    )
    n, depth, lanes = 512, 32, 64 * 256
    a, b = np.random.default_rng(0).normal(size=(2, n, depth)).astype(np.float32)
    b = np.ascontiguousarray(b.T)
    c = np.zeros((n, n), np.float32)
    run(kernel, (8, 8), (16, 16), a, b, c, n, depth)
    c[:] = 0
    tracemalloc.start()
    run(kernel, (8, 8), (16, 16), a, b, c, n, depth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1024 * lanes
    np.testing.assert_allclose(c, a @ b, rtol=1e-3, atol=1e-3)


def test_cost_is_linear_in_the_length_of_the_code():
    """Four times the instructions of straight-line code take about four times as long."""

    def ready(steps):
        body = "\n".join(f"add.u32 r{k % 50}, r{k % 49}, {k};" for k in range(steps))
        entry = written(f"{body} ret;", registers=[("b32", "r<50>")]).entry

        def make():
            Generator(entry).generated(basic_blocks(entry))

        return seconds(make)

    assert ready(4000) < 8 * ready(1000)


def test_threads_that_leave_a_loop_one_by_one_cost_no_more_than_their_turns():
    """Lane i runs i turns: the sets must not pile up."""
    kernel = compiled(
        """extern "C" __global__ void turns(unsigned* y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
    #pragma unroll 1
    for (unsigned k = 0; k < i; ++k) v = v * 5 + k;
    y[i] = v;
}"""
    )
    y = np.zeros(2048, np.uint32)
    assert seconds(lambda: run(kernel, 8, 256, y), rounds=1) < 2
    v = np.uint32(2047)
    with np.errstate(over="ignore"):
        for k in range(2047):
            v = v * np.uint32(5) + np.uint32(k)
    assert y[2047] == v
