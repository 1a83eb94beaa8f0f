"""Barriers by their number, their thread count and their place; threads that had returned."""

import numpy as np
import pytest

from simulator import FaultKind, UnknownInstruction
from tests.simulator.compiled import compiled, fault, run

NAMED = """extern "C" __global__ void pairs(int* y, int first, int count)
{
    __shared__ int tile[128];
    int t = threadIdx.x, id = first + t / 64;
    tile[t] = t;
    asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(count) : "memory");
    y[t] = tile[t ^ 32];
}"""


def test_a_barriers_number_and_count_may_come_from_registers():
    y = np.zeros(128, np.int32)
    run(compiled(NAMED), 2, 128, y, 1, 64)
    assert y.tolist() == [t ^ 32 for t in range(128)]


def test_a_barrier_of_a_register_that_too_few_reach_is_named():
    found = fault(compiled(NAMED), 1, 128, np.zeros(128, np.int32), 1, 96)
    assert found.kind is FaultKind.DIVERGENT_BARRIER
    assert "threads wait at line" in found.what


def test_the_barriers_number_counts_and_not_the_register_it_stands_in():
    kernel = compiled(
        """extern "C" __global__ void arms(int* y, int left, int right)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = t;
    if (t < 32) asm volatile("bar.sync %0, 64;" :: "r"(left) : "memory");
    else asm volatile("bar.sync %0, 64;" :: "r"(right) : "memory");
    y[t] = tile[t ^ 32];
}"""
    )
    y = np.zeros(64, np.int32)
    run(kernel, 1, 64, y, 3, 3)
    assert y.tolist() == [t ^ 32 for t in range(64)]
    assert fault(kernel, 1, 64, y, 3, 4).kind is FaultKind.DIVERGENT_BARRIER


def test_a_barrier_of_cooperative_groups_may_be_met_from_two_arms():
    kernel = compiled(
        """#include <cooperative_groups.h>
extern "C" __global__ void arms(int* y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    auto block = cooperative_groups::this_thread_block();
    if (t < 32) {
        tile[t] = t;
        block.sync();
        y[t] = tile[t + 32];
    } else {
        tile[t] = 2 * t;
        block.sync();
        y[t] = tile[t - 32];
    }
}"""
    )
    y = np.zeros(64, np.int32)
    run(kernel, 2, 64, y)
    assert y.tolist() == [2 * (t + 32) for t in range(32)] + list(range(32))


@pytest.mark.parametrize("opcode", ["bar.sync", "barrier.sync", "barrier.sync.aligned"])
def test_a_barrier_behind_a_guard_is_unknown(opcode):
    kernel = compiled(
        f"""extern "C" __global__ void some(int* y, int n)
{{
    asm volatile("{{.reg .pred p; setp.eq.s32 p, %0, 0;"
                 "@p {opcode} 0;}}" :: "r"(n)); // here
    y[threadIdx.x] = 1;
}}"""
    )
    with pytest.raises(UnknownInstruction, match=f"{opcode} behind a guard") as caught:
        run(kernel, 1, 32, np.zeros(32, np.int32), 0)
    assert abs(caught.value.line - kernel.line("// here")) <= 1


EARLY = """extern "C" __global__ void early(int* y, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    __syncthreads(); // first
    y[i] = 1;
    __syncthreads(); // second
    y[i] += 1;
}"""


def test_threads_that_had_returned_before_a_barrier_are_noted_once_a_line():
    kernel = compiled(EARLY)
    notes = run(kernel, 4, 64, np.zeros(256, np.int32), 150, resident_blocks=1).notes
    want = "42 threads of block 2 had returned before the barrier at line {}: it does not wait for"
    lines = kernel.line("// first"), kernel.line("// second")
    assert notes == tuple(want.format(line) + " them" for line in lines)


@pytest.mark.parametrize("counters", [True, False])
def test_one_thread_that_had_returned_is_noted_without_counters_too(counters):
    notes = run(compiled(EARLY), 1, 64, np.zeros(64, np.int32), 63, counters=counters).notes
    assert notes[0].startswith("1 thread of block 0 had returned before the barrier at line 5")


@pytest.mark.parametrize("threads", [64, 50])
def test_nothing_is_noted_where_every_thread_comes(threads):
    assert run(compiled(EARLY), 2, threads, np.zeros(128, np.int32), 128).notes == ()
