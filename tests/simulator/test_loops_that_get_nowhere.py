"""Loops whose registers move and get nowhere, and those that only look so."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, loaded, run, written
from tests.simulator.told_quickly import deadlock, quick  # noqa: F401

# ---- registers that move and change nothing

BACK_OFF = """__device__ unsigned lock;
extern "C" __global__ void patient(int* turns)
{
    unsigned random = threadIdx.x + 1, taken = 0;
    while (atomicCAS(&lock, 0u, 1u) != 0u) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        for (unsigned k = 0; k < random % 8; ++k) __nanosleep(20 * k);
        ++taken;
    }
    turns[threadIdx.x] = taken;
    GIVE_BACK
}"""


def test_waiting_longer_in_every_turn_is_waiting_all_the_same():
    lines, _ = deadlock(loaded(BACK_OFF.replace("GIVE_BACK", "")), 1, 4, np.zeros(4, np.int32))
    assert "waits for lock[0] to change from 1" in lines[1]
    turns = np.full(48, -1, np.int32)
    give_back = "__threadfence(); atomicExch(&lock, 0u);"
    run(loaded(BACK_OFF.replace("GIVE_BACK", give_back)), 1, 48, turns)
    assert (turns >= 0).all()


def test_counting_while_one_waits_for_a_flag():
    kernel = compiled(
        """extern "C" __global__ void count(volatile int* flag, long long* y)
{
    long long k = 0;
    while (*flag == 0) k += threadIdx.x;
    y[threadIdx.x] = k;
}"""
    )
    deadlock(kernel, 1, 32, np.zeros(1, np.int32), np.zeros(32, np.int64))


def test_a_loop_that_gives_up_after_some_turns_ends():
    kernel = compiled(
        """extern "C" __global__ void tries(volatile int* flag, int* y)
{
    int k = 0;
    while (*flag == 0 && k < 3000) ++k;
    y[threadIdx.x] = k;
}"""
    )
    y = np.zeros(32, np.int32)
    run(kernel, 1, 32, np.zeros(1, np.int32), y)
    assert (y == 3000).all()


def test_a_counter_that_decides_behind_a_branch_is_not_overlooked():
    kernel = compiled(
        """extern "C" __global__ void tries(volatile int* flag, int* y)
{
    int k = 0, state = 0;
#pragma unroll 1
    while (*flag == 0) {
        ++k;
        if (k > 500) { y[threadIdx.x] = k; state = 1; }
        if (state && k > 600) break;
    }
    y[32 + threadIdx.x] = k;
}"""
    )
    y = np.zeros(64, np.int32)
    run(kernel, 1, 32, np.zeros(1, np.int32), y)
    assert (y == 601).all()


@pytest.mark.parametrize("power", [31, 30, 26])
def test_a_step_that_wraps_around_is_an_endless_loop(power):
    kernel = compiled(
        """extern "C" __global__ void wrap(unsigned* y, unsigned n, unsigned step)
{
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < n; i += step) sum = sum * 3 + i;
    y[threadIdx.x] = sum;
}"""
    )
    y = np.zeros(32, np.uint32)
    found = fault(kernel, 2, 32, y, np.uint32(0xFFFFFF00), np.uint32(1 << power))
    assert found.kind is FaultKind.ENDLESS_LOOP
    assert "loops for ever: it comes back to where it was" in found.what
    run(kernel, 2, 32, y, np.uint32(1 << 30), np.uint32(1 << power))


@pytest.mark.parametrize("period", [1, 2, 3, 5, 7, 12, 31])
def test_a_state_that_comes_back_after_several_turns(period):
    kernel = compiled(
        """extern "C" __global__ void ring(const int* next, int* y)
{
    int at = threadIdx.x;
#pragma unroll 1
    while (at >= 0) at = next[at];
    y[threadIdx.x] = at;
}"""
    )
    follow = np.roll(np.arange(40), -1).astype(np.int32)
    follow[period - 1] = 0
    found = fault(kernel, 1, 1, follow, np.zeros(32, np.int32))
    assert found.kind is FaultKind.ENDLESS_LOOP
    follow[39] = -1
    follow[period - 1] = -1
    run(kernel, 1, 32, follow, np.zeros(32, np.int32))


def test_a_loop_entered_again_and_again_is_not_taken_for_endless():
    """The inner loop begins alike each time, and only the outer one's counter moves."""
    kernel = compiled(
        """extern "C" __global__ void nest(int* y, int n)
{
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
#pragma unroll 1
        for (int j = 0; j < 40; ++j) sum ^= j * threadIdx.x;
    }
    y[threadIdx.x] = sum;
}"""
    )
    y = np.full(32, -1, np.int32)
    run(kernel, 1, 32, y, 40)
    assert (y == 0).all()


def test_two_who_step_back_for_each_other_get_through():
    """In lock step they would meet for ever: one is let go first."""
    kernel = loaded(
        """__device__ int a, b;
extern "C" __global__ void polite(int* y)
{
    int* first = blockIdx.x ? &b : &a;
    int* second = blockIdx.x ? &a : &b;
    while (true) {
        if (atomicCAS(first, 0, 1)) continue;
        if (atomicCAS(second, 0, 1) == 0) break;
        atomicExch(first, 0);
    }
    y[blockIdx.x] = 1;
    atomicExch(second, 0);
    atomicExch(first, 0);
}"""
    )
    y = np.zeros(2, np.int32)
    run(kernel, 2, 1, y)
    assert y.all()


# ---- time passes

CLOCKED = """extern "C" __global__ void clocked(volatile int* flag, long long* y, long long cycles)
{
    long long began = clock64();
    while (*flag == 0) {
        __nanosleep(100);
        if (clock64() - began > cycles) break;
    }
    y[threadIdx.x] = clock64() - began;
}"""


@pytest.mark.parametrize("cycles", [1_000, 2_000_000_000])
def test_a_wait_that_looks_at_the_clock_ends_and_is_no_livelock(cycles):
    y = np.zeros(32, np.int64)
    run(compiled(CLOCKED), 1, 32, np.zeros(1, np.int32), y, np.int64(cycles))
    assert (y > cycles).all()


def test_a_clock_that_only_measures_does_not_hide_a_deadlock():
    kernel = compiled(
        """extern "C" __global__ void measure(volatile int* flag, long long* y)
{
    long long began = clock64(), now = began;
    while (*flag == 0) now = clock64();
    y[threadIdx.x] = now - began;
}"""
    )
    deadlock(kernel, 1, 32, np.zeros(1, np.int32), np.zeros(32, np.int64))


def test_a_pause_of_the_32_bit_clock_ends():
    kernel = compiled(
        """extern "C" __global__ void pause(int* y, unsigned cycles)
{
    unsigned began = clock();
    while ((unsigned)clock() - began < cycles);
    y[threadIdx.x] = 1;
}"""
    )
    y = np.zeros(32, np.int32)
    run(kernel, 1, 32, y, np.uint32(1 << 31))
    assert y.all()


def test_more_threads_than_a_block_has_never_come_to_a_barrier():
    kernel = written("bar.sync 1, 96;\nret;")
    found = fault(kernel, 1, 64)
    assert found.kind is FaultKind.DIVERGENT_BARRIER
    run(kernel, 1, 96)
