"""Deadlocks, endless loops and barriers that not all reach: found within two seconds."""

import time

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, loaded, run


@pytest.fixture(autouse=True)
def quick():
    """The verdict is proven; nobody waits for a time limit."""
    began = time.perf_counter()
    yield
    assert time.perf_counter() - began < 2


def test_a_flag_that_nobody_sets():
    kernel = compiled(
        """extern "C" __global__ void wait(volatile int* flag, int* y)
{
    if (threadIdx.x == 7)
        while (flag[0] == 0);
    y[threadIdx.x] = 1;
}"""
    )
    found = fault(kernel, 3, 32, np.zeros(1, np.int32), np.zeros(32, np.int32))
    assert found.kind is FaultKind.DEADLOCK
    line = kernel.line("while")
    assert found.what.split("\n") == [
        "3 threads wait in loops, and nobody is left to change what they wait for",
        f"  thread 7 of block 0, line {line}: waits for flag[0] to change from 0, which nobody has "
        "written",
    ]
    assert found.line == kernel.line("while")


def test_a_block_that_waits_for_one_that_is_not_resident():
    kernel = compiled(
        """extern "C" __global__ void back(volatile int* flags)
{
    if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x)
        while (flags[blockIdx.x + 1] == 0);
    __syncthreads();
    if (threadIdx.x == 0) flags[blockIdx.x] = 1;
}"""
    )
    run(kernel, 6, 64, np.zeros(6, np.int32))
    run(kernel, 6, 64, np.zeros(6, np.int32), resident_blocks=1, order="reversed")
    found = fault(kernel, 6, 64, np.zeros(6, np.int32), resident_blocks=2)
    assert found.kind is FaultKind.DEADLOCK
    assert found.line == kernel.line("while")
    assert found.what.endswith("blocks 2 .. 5 have not started: only 2 are resident")
    found = fault(kernel, 3, 64, np.zeros(6, np.int32), resident_blocks=2)
    assert found.what.endswith("block 2 has not started: only 2 are resident")


def test_a_grid_barrier_of_more_blocks_than_are_resident():
    source = """__device__ int arrived;
extern "C" __global__ void meet(int* y)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < gridDim.x);
    }
    __syncthreads();
    y[blockIdx.x] = 1;
}"""
    run(loaded(source), 6, 64, np.zeros(6, np.int32))
    kernel = loaded(source)
    found = fault(kernel, 6, 64, np.zeros(6, np.int32), resident_blocks=4)
    assert found.kind is FaultKind.DEADLOCK
    assert found.line == kernel.line("while")


def test_a_lock_that_is_never_released():
    kernel = compiled(
        """__device__ int lock;
extern "C" __global__ void keep(int* y)
{
    while (atomicCAS(&lock, 0, 1) != 0);
    y[threadIdx.x] = 1;
}"""
    )
    found = fault(kernel, 1, 32, np.zeros(32, np.int32))
    assert found.kind is FaultKind.DEADLOCK
    assert "31 threads" in found.what
    assert found.line == kernel.line("while")


def test_a_loop_whose_step_was_forgotten():
    kernel = compiled(
        """extern "C" __global__ void stuck(float* y, int n)
{
    int i = threadIdx.x;
    while (i < n) {
        y[i] = y[i] * 0.5f;
        if (y[i] > 2000.0f) i += 32;
    }
}"""
    )
    found = fault(kernel, 1, 32, np.full(64, 1000, np.float32), 64)
    assert found.kind is FaultKind.ENDLESS_LOOP
    assert "thread 0 of block 0 loops for ever" in found.what
    assert kernel.line("while") <= found.line <= kernel.line("> 2000.0f")


def test_a_barrier_in_one_arm_of_an_if():
    kernel = compiled(
        """extern "C" __global__ void half(int* y)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 40) {
        __syncthreads();
        y[threadIdx.x] = tile[threadIdx.x + 1];
    }
    __syncthreads(); // all
    y[threadIdx.x] += tile[0];
}"""
    )
    found = fault(kernel, 2, 64, np.zeros(64, np.int32))
    assert found.kind is FaultKind.DIVERGENT_BARRIER
    inner, outer = kernel.line("        __syncthreads();"), kernel.line("// all")
    assert found.line == inner
    assert f"in block 0, 40 threads wait at line {inner} and 24 threads wait" in found.what
    assert f"at line {outer}" in found.what


def test_barriers_in_both_arms_are_two_barriers():
    kernel = compiled(
        """extern "C" __global__ void arms(int* y)
{
    if (threadIdx.x % 2) {
        y[threadIdx.x] = 1;
        __syncthreads();
        y[threadIdx.x] += y[0];
    } else {
        y[threadIdx.x] = 2;
        __syncthreads();
        y[threadIdx.x] *= y[1];
    }
}"""
    )
    found = fault(kernel, 1, 64, np.zeros(64, np.int32))
    assert found.kind is FaultKind.DIVERGENT_BARRIER
    assert "32 threads wait at line" in found.what


def test_a_barrier_in_a_loop_of_unlike_lengths():
    kernel = compiled(
        """extern "C" __global__ void lengths(int* y, int n)
{
    for (int k = threadIdx.x; k < n; k += 64) {
        y[k] += 1;
        __syncthreads();
    }
    y[threadIdx.x] *= 2;
    __syncthreads(); // behind
    y[threadIdx.x] += 1;
}"""
    )
    run(kernel, 1, 64, np.zeros(128, np.int32), 128)
    found = fault(kernel, 1, 64, np.zeros(128, np.int32), 100)
    assert found.kind is FaultKind.DIVERGENT_BARRIER
    assert "36 threads wait at line" in found.what  # 64 .. 99 run a second turn


def test_some_wait_at_a_barrier_and_the_others_loop():
    kernel = compiled(
        """extern "C" __global__ void apart(volatile int* flag, int* y)
{
    if (threadIdx.x >= 60)
        while (*flag == 0);
    __syncthreads();
    *flag = 1;
    y[threadIdx.x] = 1;
}"""
    )
    found = fault(kernel, 1, 64, np.zeros(1, np.int32), np.zeros(64, np.int32))
    assert found.kind in (FaultKind.DEADLOCK, FaultKind.DIVERGENT_BARRIER)
    assert found.line in (kernel.line("while"), kernel.line("__syncthreads"))


def test_a_loop_that_counts_for_ever_is_stopped_by_the_clock():
    kernel = compiled(
        """extern "C" __global__ void count(volatile int* y)
{
    unsigned k = threadIdx.x;
    while (k != 0xffffffffu) {
        k += 2;
        y[threadIdx.x] = k;
    }
}"""
    )
    found = fault(kernel, 1, 32, np.zeros(32, np.int32), seconds=0.5)
    assert found.kind is FaultKind.ENDLESS_LOOP
    assert "still runs after" in found.what
    assert kernel.line("while") <= found.line <= kernel.line("y[threadIdx.x] = k")


EARLY = """extern "C" __global__ void early(int* y, int n)
{
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = i;
    if (i >= n) return;
    __syncthreads();
    y[i] = tile[63 - threadIdx.x];
}"""


@pytest.mark.parametrize("n", [1, 64, 90, 127, 128])
def test_threads_that_have_returned_do_not_hold_up_a_barrier(n):
    y = np.full(128, -1, np.int32)
    run(compiled(EARLY), 2, 64, y, n)
    want = [64 * (i // 64) + 63 - i % 64 for i in range(n)]
    assert y.tolist() == want + [-1] * (128 - n)


def test_named_barriers_let_warps_meet_in_groups():
    """Two producers and two consumers of a warp each; bar.sync names a barrier and a count."""
    kernel = compiled(
        """extern "C" __global__ void pairs(const int* x, int* y)
{
    __shared__ int tile[2][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pair = warp / 2;
    for (int k = 0; k < 3; ++k) {
        if (warp % 2 == 0) {
            tile[pair][lane] = x[(pair * 3 + k) * 32 + lane];
            if (pair) asm volatile("bar.sync 1, 64;" ::: "memory");
            else asm volatile("bar.sync 2, 64;" ::: "memory");
            if (pair) asm volatile("bar.sync 3, 64;" ::: "memory");
            else asm volatile("bar.sync 4, 64;" ::: "memory");
        } else {
            if (pair) asm volatile("bar.sync 1, 64;" ::: "memory");
            else asm volatile("bar.sync 2, 64;" ::: "memory");
            y[(pair * 3 + k) * 32 + lane] = tile[pair][31 - lane];
            if (pair) asm volatile("bar.sync 3, 64;" ::: "memory");
            else asm volatile("bar.sync 4, 64;" ::: "memory");
        }
    }
}"""
    )
    x, y = np.arange(192, dtype=np.int32), np.zeros(192, np.int32)
    run(kernel, 2, 128, x, y)
    np.testing.assert_array_equal(y.reshape(6, 32), x.reshape(6, 32)[:, ::-1])
