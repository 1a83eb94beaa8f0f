"""In a loop that meets the warp or the block, an unchanged lane may still be told to stop."""

import time

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, run

ONE_LANE_COUNTS = """extern "C" __global__ void count(int* y)
{
    int i = 0, lane = threadIdx.x % 32;
    while (__any_sync(~0u, lane == 0 && i < 1000))
        if (lane == 0) i++;
    y[threadIdx.x] = i;
}"""

LAST_LANE_COUNTS = """extern "C" __global__ void count(int* y, int most)
{
    int s = threadIdx.x;
    #pragma unroll 1
    while (__any_sync(~0u, s < most))
        if (s < most) s++;
    y[threadIdx.x] = s;
}"""

THREAD_ZERO_COUNTS = """extern "C" __global__ void count(int* y)
{
    __shared__ int flag;
    int i = 0, t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    while (true) {
        int seen = flag;
        __syncthreads();
        if (seen) break;
        if (t == 0 && ++i == 1000) flag = 1;
        __syncthreads();
    }
    y[t] = i;
}"""

COUNTS_BY_BARRIER = """extern "C" __global__ void count(int* y)
{
    int i = 0, t = threadIdx.x;
    while (__syncthreads_or(t == 70 && i < 1000))
        if (t == 70) i++;
    y[t] = i;
}"""

SHUFFLED_AROUND = """extern "C" __global__ void count(int* y)
{
    int v = threadIdx.x % 32 == 31 ? 400 : 0, turns = 0;
    while (v >= 0) {
        int from = __shfl_sync(~0u, v, 31);
        if (threadIdx.x % 32 == 31) { v--; turns++; }
        else if (from <= 0) v = -1;
    }
    y[threadIdx.x] = turns;
}"""


def test_lanes_that_only_vote_wait_for_the_one_that_counts():
    y = np.zeros(64, np.int32)
    run(compiled(ONE_LANE_COUNTS), 1, 64, y)
    assert y.tolist() == [1000 * (t % 32 == 0) for t in range(64)]


@pytest.mark.parametrize("most", [40, 1000])
def test_lanes_that_are_done_vote_on_until_the_last_one_is(most):
    y = np.zeros(64, np.int32)
    run(compiled(LAST_LANE_COUNTS), 1, 64, y, most)
    assert y.tolist() == [max(t, most) for t in range(64)]


@pytest.mark.parametrize("source", [THREAD_ZERO_COUNTS, COUNTS_BY_BARRIER])
def test_threads_that_only_meet_at_a_barrier_wait_for_the_one_that_counts(source):
    y = np.zeros(96, np.int32)
    run(compiled(source), 3, 96, y)
    assert sorted(y.tolist()) == [0] * 95 + [1000]


def test_lanes_that_only_shuffle_wait_for_what_they_are_given():
    y = np.zeros(64, np.int32)
    run(compiled(SHUFFLED_AROUND), 1, 64, y)
    assert (y[[31, 63]] >= 400).all()


@pytest.fixture
def quick():
    began = time.perf_counter()
    yield
    assert time.perf_counter() - began < 2


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("threads", [64, 50])
def test_a_warp_that_votes_for_ever_is_endless(threads):
    kernel = compiled(
        """extern "C" __global__ void wait(int* y, int n)
{
    if (threadIdx.x >= n) return;
    while (__any_sync(~0u, y[0] == 0));
    y[threadIdx.x] = 1;
}"""
    )
    found = fault(kernel, 1, 64, np.zeros(64, np.int32), threads)
    assert found.kind is FaultKind.ENDLESS_LOOP
    assert f"{threads} threads in all" in found.what
    assert found.line == kernel.line("while")


@pytest.mark.usefixtures("quick")
def test_a_block_that_waits_at_barriers_for_ever_is_a_deadlock():
    kernel = compiled(
        """extern "C" __global__ void wait(volatile int* y)
{
    __shared__ int seen;
    while (true) {
        if (threadIdx.x == 0) seen = y[0];
        __syncthreads();
        if (seen) break;
        __syncthreads();
    }
    y[threadIdx.x] = 1;
}"""
    )
    found = fault(kernel, 2, 64, np.zeros(64, np.int32))
    assert found.kind is FaultKind.DEADLOCK
    assert "128 threads" in found.what


def test_a_block_that_waits_at_barriers_is_woken_by_another():
    kernel = compiled(
        """extern "C" __global__ void relay(volatile int* flag, int* y)
{
    __shared__ int seen;
    if (blockIdx.x == 1) {
        int k = 0;
        #pragma unroll 1
        for (int i = threadIdx.x; i < 5000; ++i) k = k * 3 + i;
        if (threadIdx.x == 0) flag[0] = k | 1;
        return;
    }
    while (true) {
        if (threadIdx.x == 0) seen = flag[0];
        __syncthreads();
        if (seen) break;
        __syncthreads();
    }
    y[threadIdx.x] = 1;
}"""
    )
    y = np.zeros(64, np.int32)
    run(kernel, 2, 64, np.zeros(1, np.int32), y)
    assert (y == 1).all()
