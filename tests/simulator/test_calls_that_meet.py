"""Barriers and warp instructions inside called functions."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, run


def test_lanes_that_recurse_to_different_depths_meet_at_the_barrier_behind():
    kernel = compiled(
        """__device__ __noinline__ int depth(int n) { return n == 0 ? 5 : 3 * depth(n - 1) + n; }
extern "C" __global__ void k(int* y)
{
    __shared__ int box[96];
    int t = threadIdx.x;
    if (t % 3) box[t] = depth(t % 7);
    else box[t] = -1;
    __syncthreads();
    y[blockIdx.x * blockDim.x + t] = box[(t + 1) % blockDim.x];
}""",
        "k",
    )

    def depth(n):
        return 5 if n == 0 else 3 * depth(n - 1) + n

    for threads in (32, 45, 96):
        y = np.zeros((2, threads), np.int32)
        run(kernel, 2, threads, y)
        row = [depth(t % 7) if t % 3 else -1 for t in range(threads)]
        assert y.tolist() == [row[1:] + row[:1]] * 2


def test_a_barrier_in_a_function_that_all_threads_call_through_a_pointer():
    kernel = compiled(
        """typedef int (*Step)(int*, int);
__device__ int shifted(int* box, int v)
{
    box[threadIdx.x] = v;
    __syncthreads();
    int next = box[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    return next;
}
__device__ Step step = shifted;
extern "C" __global__ void k(int* y)
{
    __shared__ int box[64];
    int v = threadIdx.x;
    for (int turn = 0; turn < 3; ++turn) v = step(box, v + turn);
    y[threadIdx.x] = v;
}""",
        "k",
    )
    y = np.zeros(45, np.int32)
    launched = run(kernel, 1, 45, y)
    assert y.tolist() == [(t + 3) % 45 + 3 for t in range(45)]
    assert launched.counters.barriers == 2 * 3 * 2


def test_a_barrier_in_a_recursion_counts_a_level_of_it():
    """A sum of a tree, a level of the recursion for each halving."""
    kernel = compiled(
        """__device__ __noinline__ void fold(int* box, int half)
{
    if (half == 0) return;
    if (threadIdx.x < half) box[threadIdx.x] += box[threadIdx.x + half];
    __syncthreads();
    fold(box, half / 2);
    if (threadIdx.x == 0) box[0] += half;
    __syncthreads();
}
extern "C" __global__ void k(int* y)
{
    __shared__ int box[64];
    box[threadIdx.x] = threadIdx.x;
    __syncthreads();
    fold(box, 32);
    y[threadIdx.x] = box[0];
}""",
        "k",
    )
    y = np.zeros(64, np.int32)
    run(kernel, 1, 64, y)
    assert (y == 63 * 32 + 63).all()


def test_a_barrier_that_only_some_threads_call_is_divergent():
    kernel = compiled(
        """typedef int (*Step)(int);
__device__ int wait(int v)
{
    __syncthreads();
    return 2 * v;
}
__device__ Step step = wait;
extern "C" __global__ void k(int* y, int n)
{
    if (threadIdx.x < n)
        y[threadIdx.x] = 3 * step(4);
    else
        y[threadIdx.x] = 5 * step(6) + 1;
}""",
        "k",
    )
    y = np.zeros(45, np.int32)
    run(kernel, 1, 45, y, 45)
    assert (y == 24).all()
    found = fault(kernel, 1, 45, y, 20)
    assert found.kind is FaultKind.DIVERGENT_BARRIER
    line, calls = kernel.line("__syncthreads();"), (kernel.line("step(4)"), kernel.line("step(6)"))
    assert found.line == line
    assert f"20 threads wait at line {line} (called from line {calls[0]})" in found.what
    assert f"25 threads wait at line {line} (called from line {calls[1]})" in found.what


def test_two_calls_that_the_compiler_makes_one_are_one():
    """It takes the same call out of both arms, and leaves line numbers inside the statement."""
    kernel = compiled(
        """typedef void (*Step)();
__device__ void wait() { __syncthreads(); }
__device__ Step step = wait;
extern "C" __global__ void k(int n)
{
    if (threadIdx.x < n)
        step();
    else
        step();
}""",
        "k",
    )
    assert run(kernel, 1, 64, 20).counters.barriers == 2


def test_two_functions_of_one_call_each_with_a_barrier_are_divergent():
    kernel = compiled(
        """typedef void (*Step)();
__device__ int left, right;
__device__ void first() { left = 1; __syncthreads(); }
__device__ void second() { right = 1; __syncthreads(); }
__device__ Step steps[2] = {first, second};
extern "C" __global__ void k(int n) { steps[threadIdx.x < n](); }""",
        "k",
    )
    run(kernel, 1, 64, 0)
    assert fault(kernel, 1, 64, 32).kind is FaultKind.DIVERGENT_BARRIER


SHUFFLE = """typedef int (*Step)(int);
__device__ int around(int v)
{
    int other = __shfl_sync(0xffffffff, v, (threadIdx.x + 1) % 32);
    return other + 100 * __popc(__ballot_sync(0xffffffff, v & 1));
}
__device__ Step step = around;
"""


def test_a_shuffle_in_a_function_that_all_lanes_call():
    kernel = compiled(
        f"""{SHUFFLE}extern "C" __global__ void k(int* y)
{{
    y[threadIdx.x] = step(threadIdx.x * 3);
}}""",
        "k",
    )
    y = np.zeros(64, np.int32)
    run(kernel, 1, 64, y)
    want = [3 * (t // 32 * 32 + (t + 1) % 32) + 1600 for t in range(64)]
    assert y.tolist() == want


@pytest.mark.parametrize("warps", [1, 3])
def test_a_shuffle_meets_lanes_that_come_from_different_calls(warps):
    """A warp's lanes call one function from two places; each place has frames of its own."""
    kernel = compiled(
        f"""{SHUFFLE}extern "C" __global__ void k(int* y, int n)
{{
    int v = threadIdx.x * 3;
    if (threadIdx.x % 32 < n) v = step(v + 1) * 2;
    else v = step(v + 2) * 5;
    y[threadIdx.x] = v;
}}""",
        "k",
    )
    for n in (0, 1, 20, 32):
        y = np.zeros(32 * warps, np.int32)
        launched = run(kernel, 1, 32 * warps, y, n)
        given = [3 * t + (1 if t % 32 < n else 2) for t in range(32 * warps)]
        for t in range(32 * warps):
            warp = given[t // 32 * 32 : t // 32 * 32 + 32]
            value = warp[(t + 1) % 32] + 100 * sum(v & 1 for v in warp)
            assert y[t] == value * (2 if t % 32 < n else 5)
        assert launched.counters.shuffles == warps  # one warp instruction, whoever called


def test_a_shuffle_meets_lanes_at_different_depths_of_a_recursion():
    kernel = compiled(
        """__device__ __noinline__ int deep(int n, int v)
{
    int mine[4] = {v, v + 1, v + 2, v + 3};
    if (n == 0) return __shfl_xor_sync(0xffffffff, mine[v & 3], 16) + mine[(v + 1) & 3];
    return deep(n - 1, v + 1) - n;
}
extern "C" __global__ void k(int* y)
{
    y[threadIdx.x] = deep(threadIdx.x & 3, 7 * threadIdx.x);
}""",
        "k",
    )
    y = np.zeros(32, np.int32)
    run(kernel, 1, 32, y)

    def own(t, k):
        v = 7 * t + (t & 3)
        return v + ((v + k) & 3)

    want = [own(t ^ 16, 0) + own(t, 1) - sum(range((t & 3) + 1)) for t in range(32)]
    assert y.tolist() == want


def test_a_warp_barrier_in_a_function_orders_memory_of_the_warp():
    kernel = compiled(
        """typedef int (*Step)(int*, int);
__device__ int swap(int* box, int v)
{
    box[threadIdx.x] = v;
    __syncwarp();
    int other = box[threadIdx.x ^ 1];
    __syncwarp();
    return other;
}
__device__ Step step = swap;
extern "C" __global__ void k(int* y)
{
    __shared__ int box[64];
    int t = threadIdx.x, v;
    if (t & 1) v = step(box, 3 * t);
    else v = step(box, 5 * t);
    y[t] = v;
}""",
        "k",
    )
    y = np.zeros(64, np.int32)
    run(kernel, 1, 64, y)
    assert y.tolist() == [(3 if (t ^ 1) & 1 else 5) * (t ^ 1) for t in range(64)]


def test_a_shuffle_that_some_lanes_never_call_names_them():
    kernel = compiled(
        f"""{SHUFFLE}extern "C" __global__ void k(int* y)
{{
    if (threadIdx.x < 30) y[threadIdx.x] = step(threadIdx.x);
    __syncthreads();
}}""",
        "k",
    )
    found = fault(kernel, 1, 32, np.zeros(32, np.int32))
    assert found.kind is FaultKind.ABSENT_LANES
    assert found.line == kernel.line("__shfl_sync")
    assert "lane 30" in found.what
