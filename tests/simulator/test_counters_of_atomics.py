"""Atomics by hand: who gets in whose way, within a request and over the whole launch."""

import numpy as np
import pytest

from simulator import Traffic
from tests.simulator.compiled import compiled, run
from tests.simulator.test_counters_by_hand import TILE, counted, seen


@pytest.mark.parametrize(
    ("address", "threads", "turns", "sectors"),
    [
        ("", 32, 1, 4),  # each lane its own word
        ("", 9, 1, 2),
        ("mov.u64 a, x;", 32, 32, 1),  # all on one
        ("mov.u64 a, x;", 40, 40, 2),
        ("shr.u32 t, t, 2; mad.wide.u32 a, t, 4, x;", 32, 4, 1),
        ("and.b32 t, t, 1; mad.wide.u32 a, t, 128, x;", 32, 16, 2),
        ("max.u32 t, t, 29; mad.wide.u32 a, t, 4, x;", 32, 30, 1),  # 30 lanes on word 29
        ("and.b32 t, t, 7; mad.wide.u32 a, t, 4, x;", 12, 2, 1),
    ],
)
def test_lanes_on_one_address_take_turns(address, threads, turns, sectors):
    launched = counted(f"{address} red.global.add.u32 [a], 1; ret;", threads)
    requests = -(-threads // 32)
    assert seen(launched) == {
        "atomics": requests,
        "atomic_lanes": threads,
        "atomic_turns": turns,
        "global_atomic_requests": requests,
        "global_atomic_sectors": sectors,
    }
    assert launched.counters.atomic_contention == turns / requests


def test_atomics_are_not_counted_as_loads_or_stores_but_touch_their_bytes():
    launched = counted("atom.global.add.u32 v, [x], 1; red.global.add.u32 [a], 1; ret;", 70)
    assert launched.counters.atomics == launched.counters.global_atomic_requests == 2 * 3
    assert launched.counters.atomic_turns == 70 + 3
    # The word at x: 70 updates by the first instruction, one by the second.
    assert launched.buffers["argument 0"] == Traffic(70 * 4, 70 * 4, 71)


def test_without_atomics_contention_is_one():
    assert counted("ret;").counters.atomic_contention == 1.0


@pytest.mark.parametrize(
    ("stride", "threads", "turns", "passes"),
    [
        (1, 32, 1, 1),
        (2, 32, 1, 2),  # two words of each bank
        (32, 32, 1, 32),
        (0, 32, 32, 32),  # an atomic is no broadcast
        (0, 7, 7, 7),
        (33, 32, 1, 1),
        (16, 20, 1, 10),
    ],
)
def test_atomics_in_shared_memory_take_turns_at_a_bank(stride, threads, turns, passes):
    body = f"mov.u64 a, tile; mad.wide.u32 a, t, {4 * stride}, a; red.shared.add.u32 [a], 2; ret;"
    assert seen(counted(body, threads, before=TILE, faults=False)) == {
        "atomics": 1,
        "atomic_lanes": threads,
        "atomic_turns": turns,
        "shared_atomic_requests": 1,
        "shared_atomic_turns": passes,
    }


@pytest.mark.parametrize(
    ("instruction", "turns"),
    [
        ("red.shared.add.u32 [a], 1;", 2),  # two words of a bank, 8 lanes on each
        ("atom.shared.add.u32 v, [a], 1;", 2),  # nobody reads v
        ("atom.shared.add.u32 v, [a], 1; st.global.u32 [x], v;", 16),
        ("red.shared.add.u32 [a], -1;", 16),
        ("red.shared.inc.u32 [a], 1;", 16),
        ("red.shared.add.u64 [a], 1;", 16),
        ("atom.shared.exch.b32 v, [a], 1;", 16),
        ("atom.shared.cas.b32 v, [a], 1, t;", 32),
    ],
)
def test_counting_up_by_one_is_no_contention_and_cas_takes_two_turns(instruction, turns):
    body = "and.b32 t, t, 3; mov.u64 a, tile; mad.wide.u32 a, t, 64, a;"  # 2 banks, 4 words
    counters = counted(f"{body} {instruction} ret;", before=TILE, faults=False).counters
    assert counters.shared_atomic_turns == turns
    assert counters.atomic_turns == 8  # lanes on one address, whatever the hardware makes of it


def test_an_atomic_of_eight_bytes_is_served_by_half_warps():
    body = "mov.u64 a, tile; mad.wide.u32 a, t, 128, a; atom.shared.add.u64 d, [a], 1; ret;"
    assert counted(body, before=TILE, faults=False).counters.shared_atomic_turns == 2 * 16
    body = "mov.u64 a, tile; mad.wide.u32 a, t, 8, a; atom.shared.add.u64 d, [a], 1; ret;"
    assert counted(body, before=TILE, faults=False).counters.shared_atomic_turns == 2


HISTOGRAM = """extern "C" __global__ void histogram(const int* x, int* bins, int n)
{
    __shared__ int own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own[x[i]], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}"""


@pytest.mark.parametrize("resident", [None, 2])
def test_the_hottest_address_of_a_launch_is_known_for_each_buffer_and_for_shared_memory(resident):
    kernel = compiled(HISTOGRAM)
    x = np.arange(1000, dtype=np.int32) % 5 + 3
    x[256:512] = 9  # the second of four blocks has one bin only
    bins = np.zeros(16, np.int32)
    launched = run(kernel, 4, 256, x, bins, 1000, resident_blocks=resident)
    assert bins.sum() == 1000
    assert launched.buffers["shared memory"] == Traffic(hottest_updates=256)
    assert launched.buffers["bins"].hottest_updates == 4  # once by each block
    assert launched.buffers["x"].hottest_updates == 0
    line = launched.lines[kernel.line("own[x[i]]")]
    warps = [np.bincount(warp).max() for warp in np.split(x, range(32, 1000, 32))]
    assert (line.atomics, line.atomic_turns) == (32, sum(warps))
    assert line.atomic_lanes == 1000


def test_the_hottest_of_several_launches_is_the_largest_of_them():
    sums = Traffic(8, 4, 100) + Traffic(8, 4, 30)
    assert sums == Traffic(16, 8, 100)


def test_updates_far_apart_in_a_large_buffer_are_counted():
    kernel = compiled(
        """extern "C" __global__ void far(unsigned long long* y)
{
    atomicAdd(&y[(long long)(threadIdx.x & 3) << 20], 1ULL);
    if (threadIdx.x == 5) atomicAdd(&y[1 << 20], 1ULL);
}"""
    )
    y = np.zeros((3 << 20) + 1, np.uint64)
    assert run(kernel, 2, 64, y).buffers["y"].hottest_updates == 2 * 17


def test_a_compare_and_swap_that_fails_is_an_update_too():
    body = "atom.global.cas.b32 v, [x], 7, 8; ret;"
    launched = counted(body)
    assert launched.counters.atomic_lanes == 32
    assert launched.buffers["argument 0"].hottest_updates == 32
