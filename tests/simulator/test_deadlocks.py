"""Who waits for whom, for which word, and who wrote it last."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, loaded, run
from tests.simulator.told_quickly import deadlock, quick  # noqa: F401

TWO_LOCKS = """__device__ int a, b;
extern "C" __global__ void both(volatile int* held)
{
    if (threadIdx.x) return;
    int* first = blockIdx.x ? &b : &a;
    int* second = blockIdx.x ? &a : &b;
    while (atomicCAS(first, 0, 1) != 0); // take
    held[blockIdx.x] = 1;
    while (held[1 - blockIdx.x] == 0);
    while (atomicCAS(second, 0, 1) != 0); // wait
    atomicExch(second, 0);
    atomicExch(first, 0);
}"""


@pytest.mark.parametrize("apart", [False, True])
def test_two_locks_in_two_orders_name_both_threads_both_words_and_both_lines(apart):
    kernel = loaded(TWO_LOCKS)
    lines, found = deadlock(kernel, 2, 32, np.zeros(2, np.int32), warps_apart=apart)
    take, wait = kernel.line("// take"), kernel.line("// wait")
    assert lines[0] == "thread 0 of block 0 and thread 0 of block 1 wait for each other"
    assert lines[1:] == [
        f"thread 0 of block 0, line {wait}: waits for b[0] to change from 1; "
        f"thread 0 of block 1 wrote that at line {take}",
        f"thread 0 of block 1, line {wait}: waits for a[0] to change from 1; "
        f"thread 0 of block 0 wrote that at line {take}",
    ]
    assert found.line == wait
    assert "same order" in found.advice


def test_a_ring_of_five_is_told_whole():
    kernel = loaded(
        """__device__ int forks[5], seated;
extern "C" __global__ void dine(int* meals)
{
    int mine = blockIdx.x, next = (blockIdx.x + 1) % 5;
    while (atomicCAS(&forks[mine], 0, 1) != 0);
    atomicAdd(&seated, 1);
    while (atomicAdd(&seated, 0) < 5);
    while (atomicCAS(&forks[next], 0, 1) != 0);
    meals[mine] = 1;
    atomicExch(&forks[next], 0);
    atomicExch(&forks[mine], 0);
}"""
    )
    lines, _ = deadlock(kernel, 5, 1, np.zeros(5, np.int32))
    assert lines[0].endswith("and thread 0 of block 4 wait for each other")
    assert [line.split(" to change")[0].split(" ")[-1] for line in lines[1:]] == [
        f"forks[{k}]" for k in (1, 2, 3, 4, 0)
    ]


def test_a_lock_that_its_owner_kept_names_who_took_it_and_has_returned():
    kernel = loaded(
        """__device__ int lock;
extern "C" __global__ void keep(int* y)
{
    while (atomicCAS(&lock, 0, 1) != 0);
    y[threadIdx.x] = 1;
}"""
    )
    lines, _ = deadlock(kernel, 1, 32, np.zeros(32, np.int32))
    assert lines[0] == "31 threads wait in loops, and nobody is left to change what they wait for"
    assert lines[1:] == [
        "thread 1 of block 0, line 4: waits for lock[0] to change from 1; "
        "thread 0 of block 0 wrote that at line 4 and has returned"
    ]


def test_a_flag_of_a_block_that_is_not_resident():
    kernel = compiled(
        """extern "C" __global__ void back(volatile int* flags)
{
    if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x)
        while (flags[blockIdx.x + 1] == 0);
    __syncthreads();
    if (threadIdx.x == 0) flags[blockIdx.x] = 1;
}"""
    )
    flags = np.zeros(201, np.int32)
    lines, found = deadlock(kernel, 201, 64, flags, resident_blocks=200)
    assert not flags.any()  # what was only tried out has left nothing
    assert lines[1] == (
        "thread 0 of block 199, line 4: waits for flags[200] to change from 0; "
        "thread 0 of block 200 would write that at line 6"
    )
    assert lines[-1] == "block 200 has not started: only 200 are resident"
    assert found.expected == "Who is waited for is resident. Resident are 200, as this launch asks."


def test_a_word_of_shared_memory_goes_by_its_name_and_those_at_the_barrier_are_told():
    kernel = compiled(
        """extern "C" __global__ void alone(int* y)
{
    __shared__ volatile int before[6];
    __shared__ volatile int flags[3];
    if (threadIdx.x < 3) flags[threadIdx.x] = before[threadIdx.x] = 5; // set
    __syncthreads();
    if (threadIdx.x == 40) while (flags[2] == 5); // wait
    __syncthreads(); // meet
    flags[2] = 1;
    y[threadIdx.x] = before[1];
}"""
    )
    for settings in ({}, {"warps_apart": True}, {"weak_stores": True}):
        lines, _ = deadlock(kernel, 2, 64, np.zeros(64, np.int32), **settings)
        meet = kernel.line("// meet")
        assert lines[1] == (
            f"thread 40 of block 0, line {kernel.line('// wait')}: waits for flags[2] in its "
            f"block's shared memory to change from 5; thread 2 of block 0 wrote that at line "
            f"{kernel.line('// set')} and waits at the barrier at line {meet}"
        )
        assert lines[2] == f"63 threads of block 0 wait at the barrier at line {meet}"


def test_a_lane_that_waits_for_its_own_warp_which_waits_for_it():
    kernel = compiled(
        """extern "C" __global__ void warp(volatile int* flag, int* y)
{
    if (threadIdx.x == 3) while (*flag == 0); // wait
    __syncwarp(); // meet
    if (threadIdx.x == 1) *flag = 1;
    y[threadIdx.x] = 1;
}"""
    )
    lines, found = deadlock(kernel, 1, 64, np.zeros(1, np.int32), np.zeros(64, np.int32))
    assert found.line == kernel.line("// wait")
    assert lines[1].startswith("thread 3 of block 0")
    assert lines[2] == (
        f"31 threads of block 0 wait at a warp instruction at line {kernel.line('// meet')}"
    )


def test_lanes_that_a_mask_leaves_out_do_not_wait_for_one_in_a_loop():
    kernel = compiled(
        """extern "C" __global__ void others(volatile int* flag, int* y)
{
    if (threadIdx.x == 0) {
        while (*flag == 0);
    } else {
        __syncwarp(0xfffffffe);
        if (threadIdx.x == 1) *flag = 1;
    }
    y[threadIdx.x] = 1;
}"""
    )
    y = np.zeros(32, np.int32)
    run(kernel, 1, 32, np.zeros(1, np.int32), y)
    assert y.all()
