"""Locks, flags and look-backs: who waits is overtaken by whom it waits for."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, loaded, run

LEADER_LOCK = """__device__ int lock;
extern "C" __global__ void leader(int* sum)
{
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0);
        __threadfence();
        volatile int* total = sum;
        *total = *total + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}"""

EVERY_LANE_LOCKS = """__device__ int lock;
extern "C" __global__ void everyone(int* sum)
{
    while (atomicCAS(&lock, 0, 1) != 0);
    __threadfence();
    volatile int* total = sum;
    *total = *total + 1;
    __threadfence();
    atomicExch(&lock, 0);
}"""

PATIENT_LOCK = """__device__ int lock;
extern "C" __global__ void patient(int* sum)
{
    bool done = false;
    unsigned wait = 8;
    while (!done) {
        if (atomicExch(&lock, 1) == 0) {
            volatile int* total = sum;
            *total = *total + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        } else {
            __nanosleep(wait);
            if (wait < 256) wait *= 2;
        }
    }
}"""


@pytest.mark.parametrize("resident", [None, 2])
def test_a_lock_taken_by_one_lane_of_each_warp(resident):
    total = np.zeros(1, np.int32)
    run(compiled(LEADER_LOCK), 8, 96, total, resident_blocks=resident)
    assert total[0] == 8 * 3


@pytest.mark.parametrize("source", [EVERY_LANE_LOCKS, PATIENT_LOCK])
@pytest.mark.parametrize("block", [32, 48, 256])
def test_a_lock_taken_by_every_lane(source, block):
    """On hardware before Volta this hung: the lanes that wait kept the owner from going on."""
    total = np.zeros(1, np.int32)
    run(compiled(source), 2, block, total)
    assert total[0] == 2 * block


FLAG = """extern "C" __global__ void relay(volatile int* flags, int* data, int reversed)
{
    int b = reversed ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    if (threadIdx.x == 0 && b > 0)
        while (flags[b - 1] == 0);
    __syncthreads();
    __threadfence();
    int before = b > 0 ? ((volatile int*)data)[b - 1] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data[b] = before + b;
        __threadfence();
        flags[b] = 1;
    }
}"""


@pytest.mark.parametrize("settings", [{}, {"resident_blocks": 1}, {"resident_blocks": 3}])
def test_blocks_that_wait_for_the_block_before(settings):
    flags, data = np.zeros(20, np.int32), np.zeros(20, np.int32)
    run(compiled(FLAG), 20, 64, flags, data, 0, **settings)
    assert data.tolist() == [b * (b + 1) // 2 for b in range(20)]


def test_blocks_that_wait_for_later_blocks_of_the_same_wave():
    """The waiting blocks come first in the order, and must let the others run."""
    flags, data = np.zeros(20, np.int32), np.zeros(20, np.int32)
    run(compiled(FLAG), 20, 64, flags, data, 1)
    assert data.tolist() == [b * (b + 1) // 2 for b in range(20)]


LOOK_BACK = """__device__ int ticket;
extern "C" __global__ void scan(const int* x, int* y, volatile int* state, volatile int* value)
{
    __shared__ int tile[64];
    __shared__ int block, before;
    int t = threadIdx.x;
    if (t == 0) block = atomicAdd(&ticket, 1);
    __syncthreads();
    int i = block * 64 + t;
    tile[t] = x[i];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int add = t >= step ? tile[t - step] : 0;
        __syncthreads();
        tile[t] += add;
        __syncthreads();
    }
    if (t == 0) {
        value[2 * block] = tile[63];
        __threadfence();
        state[block] = 1;
        int sum = 0;
        for (int back = block - 1; back >= 0; --back) {
            int seen;
            while ((seen = state[back]) == 0);
            __threadfence();
            if (seen == 2) { sum += value[2 * back + 1]; break; }
            sum += value[2 * back];
        }
        value[2 * block + 1] = sum + tile[63];
        __threadfence();
        state[block] = 2;
        before = sum;
    }
    __syncthreads();
    y[i] = before + tile[t];
}"""


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"resident_blocks": 1},
        {"resident_blocks": 2},
        {"order": "reversed"},
        {"order": "shuffled"},
    ],
)
def test_a_scan_that_looks_back(settings):
    x = np.random.default_rng(0).integers(-50, 50, 64 * 23).astype(np.int32)
    y, state, value = np.zeros_like(x), np.zeros(23, np.int32), np.zeros(46, np.int32)
    run(loaded(LOOK_BACK), 23, 64, x, y, state, value, **settings)
    np.testing.assert_array_equal(y, np.cumsum(x))


def test_a_work_queue_is_drained():
    kernel = compiled(
        """__device__ int head;
extern "C" __global__ void drain(int* done, int items)
{
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(&head, 1);
        __syncthreads();
        int mine = item;
        __syncthreads();
        if (mine >= items) return;
        if (threadIdx.x == mine % 32) done[mine] += mine + 1;
    }
}"""
    )
    done = np.zeros(101, np.int32)
    run(kernel, 4, 32, done, 101)
    np.testing.assert_array_equal(done, np.arange(101) + 1)


def test_a_loop_that_waits_with_a_counter_is_overtaken_too():
    """Its registers change in every turn, so it never looks like a loop that waits."""
    kernel = compiled(
        """extern "C" __global__ void count(volatile int* flag, int* turns)
{
    if (blockIdx.x == 0) {
        int k = 0;
        while (*flag == 0) ++k;
        turns[0] = k;
    } else {
        *flag = 1;
    }
}"""
    )
    flag, turns = np.zeros(1, np.int32), np.full(1, -1, np.int32)
    run(kernel, 2, 32, flag, turns)
    assert turns[0] >= 0


def test_time_passes_in_a_loop_that_looks_at_the_clock():
    kernel = compiled(
        """extern "C" __global__ void pause(long long* y, int cycles)
{
    long long began = clock64();
    while (clock64() - began < cycles);
    y[threadIdx.x] = clock64() - began;
}"""
    )
    y = np.zeros(32, np.int64)
    run(kernel, 1, 32, y, 50_000)
    assert (y >= 50_000).all()
