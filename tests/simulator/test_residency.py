"""Blocks that may wait for each other run together, as many as the device keeps resident."""

import numpy as np
import pytest

from simulator import FaultKind
from simulator.translating.program import program_of
from tests.simulator.compiled import compiled, fault, loaded, run

EXCHANGE = """__device__ int arrived;
extern "C" __global__ void exchange(const int* x, int* between, int* y)
{
    extern __shared__ int unused[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    between[n - 1 - i] = x[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (*(volatile int*)&arrived < gridDim.x);
        __threadfence();
    }
    __syncthreads();
    y[i] = ((volatile int*)between)[i];
}"""


def exchange(blocks, threads):
    """Arrays for the kernel above."""
    n = blocks * threads
    return np.arange(n, dtype=np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)


@pytest.mark.parametrize(
    ("blocks", "threads", "settings"),
    [
        (5, 64, {}),
        (300, 256, {}),  # more lanes than run fastest together
        (132 * 8, 256, {}),  # all the threads that the device holds
        (132 * 32, 1, {}),  # all its blocks
        (132 * 2, 1024, {"order": "shuffled"}),
        (132 * 2, 32, {"shared_bytes": 113 * 1024}),  # and all its shared memory
        (132 * 6, 256, {"registers": 40}),
    ],
)
def test_a_grid_barrier_by_hand_lets_pass_what_fits_on_the_device(blocks, threads, settings):
    x, between, y = exchange(blocks, threads)
    run(loaded(EXCHANGE), blocks, threads, x, between, y, **settings)
    np.testing.assert_array_equal(y, x[::-1])


@pytest.mark.parametrize(
    ("blocks", "threads", "settings", "missing", "why"),
    [
        (1057, 256, {}, "block 1056 has", "1,056 on 132 SMs, 8 blocks an SM: warps allow 8"),
        (1060, 256, {}, "blocks 1056 .. 1059 have", "registers are not counted"),
        (265, 32, {"shared_bytes": 113 * 1024}, "block 264 has", "shared memory allows 2, "),
        (133, 32, {"shared_bytes": 114 * 1024}, "block 132 has", "1 block an SM"),
        (793, 256, {"registers": 40}, "block 792 has", "registers allow 6, warps 8"),
        (4225, 32, {}, "block 4224 has", "block slots allow 32"),
        (6, 32, {"resident_blocks": 4}, "blocks 4 .. 5 have", "are 4, as this launch asks"),
        (1057, 256, {"order": "reversed"}, "block 0 has", "1,056 on 132 SMs"),
    ],
)
def test_a_grid_barrier_of_more_blocks_is_a_deadlock_that_says_who_never_starts_and_why(
    blocks, threads, settings, missing, why
):
    found = fault(loaded(EXCHANGE), blocks, threads, *exchange(blocks, threads), **settings)
    assert found.kind is FaultKind.DEADLOCK
    assert f"\n  {missing} not started: only " in found.what
    assert why in found.expected
    assert found.advice.startswith("Launch no more blocks than are resident")


def test_a_deadlock_within_a_block_blames_no_block_that_has_not_started():
    """300 blocks of 256 threads do not fit in one wave; who waits, waits for its own block."""
    kernel = compiled(
        """extern "C" __global__ void alone(int* y)
{
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 7) while (flag == 0);
    y[threadIdx.x] = 1;
}"""
    )
    found = fault(kernel, 300, 256, np.zeros(256, np.int32))
    assert found.kind is FaultKind.DEADLOCK
    assert "not started" not in found.what
    assert "resident" not in found.expected + found.advice


LOOPS = {
    "histogram": ("atomicAdd(y + x[i], 1);", False),
    "tickets": ("y[atomicAdd(&y[0], 1)] = x[i];", True),
    "plain": ("y[i] = x[i];", False),
    "strong store": ("((volatile int*)y)[i] = x[i];", False),
    "strong load": ("y[i] = ((volatile const int*)x)[i];", True),
    "own lock": ("while (atomicCAS(&own, 0, 1)); y[i] = x[i]; atomicExch(&own, 0);", False),
    "generic lock": ("while (atomicCAS(x[i] ? &own : y, 0, 1)); y[i] += x[i];", True),
}


@pytest.mark.parametrize(("body", "waits"), LOOPS.values(), ids=LOOPS)
def test_only_loops_that_ask_global_memory_what_others_wrote_may_wait(body, waits):
    kernel = compiled(
        f"""extern "C" __global__ void walk(const int* x, int* y, int n)
{{
    __shared__ int own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {{ {body} }}
}}"""
    )
    assert program_of(kernel.entry).waits_for_blocks == waits
