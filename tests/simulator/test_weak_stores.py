"""Plain stores stay hidden from other blocks until a fence; without one, kernels read stale values.

Faults are off: what counts here are the values that a kernel gives.
"""

import numpy as np
import pytest

from simulator.translating.program import program_of
from tests.simulator.compiled import compiled, loaded, run
from tests.simulator.golden.stored import VERSIONS, fresh, poisoned
from tests.simulator.test_waiting_kernels_progress import LOOK_BACK

SEEDS = range(5)
FENCE = "__threadfence();"

LAST_BLOCK = """__device__ unsigned arrived;
extern "C" __global__ void last(const int* x, int* partial, int* total, int n)
{
    __shared__ int tile[64];
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int k = 32; k; k /= 2) {
        if (t < k) tile[t] += tile[t + k];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = tile[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
        total[0] = sum;
    }
}"""

GRID_BARRIER = """__device__ unsigned arrived;
extern "C" __global__ void meet(const int* x, int* between, int* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    between[n - 1 - i] = x[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned*)&arrived < gridDim.x);
    }
    __syncthreads();
    y[i] = between[i];
}"""

RELAY = """extern "C" __global__ void relay(volatile int* flags, const int* x, int* sums)
{
    int b = blockIdx.x;
    if (threadIdx.x) return;
    if (b > 0) while (flags[b - 1] == 0);
    sums[b] = x[b] + (b > 0 ? sums[b - 1] : 0);
    __threadfence();
    flags[b] = 1;
}"""

ATOMIC_REFS = """#include <cuda/atomic>
extern "C" __global__ void refs(int* flags, const int* x, int* sums)
{
    int b = blockIdx.x;
    if (threadIdx.x) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[b]);
    if (b > 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> before(flags[b - 1]);
        while (before.load(cuda::memory_order_acquire) == 0);
    }
    sums[b] = x[b] + (b > 0 ? sums[b - 1] : 0);
    mine.store(1, cuda::memory_order_release);
}"""

LOCK = """__device__ int lock;
extern "C" __global__ void locked(const int* x, int* total)
{
    if (threadIdx.x) return;
    while (atomicCAS(&lock, 0, 1) != 0);
    total[0] = total[0] + x[blockIdx.x];
    __threadfence();
    atomicExch(&lock, 0);
}"""

BLOCKS = 9


def last_block(source, **settings):
    x, total = np.arange(64 * BLOCKS - 7, dtype=np.int32), np.zeros(1, np.int32)
    run(loaded(source), BLOCKS, 64, x, np.zeros(BLOCKS, np.int32), total, len(x), **settings)
    return total, [x.sum()]


def grid_barrier(source, **settings):
    x = np.arange(1, 64 * BLOCKS + 1, dtype=np.int32)
    y = np.zeros_like(x)
    run(loaded(source), BLOCKS, 64, x, np.zeros_like(x), y, **settings)
    return y, x[::-1]


def relay(source, **settings):
    x = np.arange(1, BLOCKS + 1, dtype=np.int32)
    sums = np.zeros_like(x)
    run(loaded(source), BLOCKS, 32, np.zeros_like(x), x, sums, **settings)
    return sums, np.cumsum(x)


def look_back(source, **settings):
    x = np.random.default_rng(0).integers(1, 50, 64 * BLOCKS).astype(np.int32)
    y, state, value = np.zeros_like(x), np.zeros(BLOCKS, np.int32), np.zeros(2 * BLOCKS, np.int32)
    run(loaded(source), BLOCKS, 64, x, y, state, value, **settings)
    return y, np.cumsum(x)


def lock(source, **settings):
    x, total = np.arange(1, BLOCKS + 1, dtype=np.int32), np.zeros(1, np.int32)
    run(loaded(source), BLOCKS, 32, x, total, **settings)
    return total, [x.sum()]


# In the look-back the sums are volatile: here they are not, so that the fences matter.
LOOK_BACK_PLAIN = LOOK_BACK.replace("volatile int* value", "int* value")
KERNELS = {
    "last block": (last_block, LAST_BLOCK, LAST_BLOCK.replace(FENCE, "")),
    "grid barrier": (grid_barrier, GRID_BARRIER, GRID_BARRIER.replace(FENCE, "")),
    "relay": (relay, RELAY, RELAY.replace(FENCE, "")),
    "look-back": (look_back, LOOK_BACK_PLAIN, LOOK_BACK_PLAIN.replace(FENCE, "")),
    "lock": (lock, LOCK, LOCK.replace(FENCE, "")),
    "atomic_ref": (
        relay,
        ATOMIC_REFS,
        ATOMIC_REFS.replace("order_release", "order_relaxed"),
    ),
}


@pytest.mark.parametrize(("launch", "right", "wrong"), KERNELS.values(), ids=KERNELS)
def test_kernels_that_fence_are_exact_in_twenty_schedules(launch, right, wrong):
    for seed in range(20):
        for apart in (False, True):
            got, want = launch(
                right, order="shuffled", seed=seed, warps_apart=apart, faults=False, counters=False
            )
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("launch", "right", "wrong"), KERNELS.values(), ids=KERNELS)
def test_without_the_fence_every_schedule_gives_stale_values(launch, right, wrong):
    for seed in SEEDS:
        got, want = launch(wrong, order="shuffled", seed=seed, faults=False)
        assert (np.asarray(got) != want).any(), seed


@pytest.mark.parametrize(("launch", "right", "wrong"), KERNELS.values(), ids=KERNELS)
def test_without_weak_stores_the_missing_fence_would_not_show(launch, right, wrong):
    got, want = launch(wrong, weak_stores=False, faults=False)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("launch", "right", "wrong"), KERNELS.values(), ids=KERNELS)
def test_such_kernels_are_known_by_their_text(launch, right, wrong):
    assert program_of(loaded(right).entry).blocks_talk
    assert program_of(loaded(wrong).entry).blocks_talk


def test_a_fence_of_the_block_hides_as_much_as_none():
    got, want = relay(RELAY.replace(FENCE, "__threadfence_block();"), faults=False)
    assert (got != want).any()


def test_a_fence_of_one_thread_does_not_speak_for_others_without_a_barrier():
    before = "    __syncthreads();\n    if (threadIdx.x == 0) {"
    source = GRID_BARRIER.replace(before, "    if (!threadIdx.x) {")
    assert source != GRID_BARRIER
    got, want = grid_barrier(source, faults=False)
    wrong = np.flatnonzero(got != want)
    assert len(wrong) and (wrong % 64 != 63).all()  # thread 0's own store has come through


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_stored_kernels_whose_blocks_meet_are_exact(version, seed):
    settings = {"order": "shuffled", "seed": seed, "weak_stores": True, "warps_apart": True}
    x = np.random.default_rng(3).integers(-9, 9, 200).astype(np.int32)
    want = x.copy()
    for _ in range(3):
        padded = np.pad(want, 1, mode="edge")
        want = padded[:-2] + padded[1:-1] + padded[2:]
    y = poisoned(len(x), np.int32)
    kernel = fresh(version, "cooperative_grids/smoothed")
    run(kernel, 4, 64, x, y, 3, len(x), cooperative=True, **settings)
    np.testing.assert_array_equal(y, want)


OWN = """extern "C" __global__ void own(const int* x, int* y, int* z)
{
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    y[i] = x[i];
    __syncthreads();
    z[i] = y[i ^ 1] + y[i ^ 32];
    __syncthreads();
    y[i] = -1;
    atomicAdd(&y[i], 5);
    ((char*)z)[4 * i + 3] = 1;
    z[i] += y[i];
}"""


def test_a_block_sees_its_own_stores_at_once_and_all_are_there_in_the_end():
    x = np.arange(256, dtype=np.int32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    run(compiled(OWN), 4, 64, x, y, z, weak_stores=True)
    i = np.arange(256)
    np.testing.assert_array_equal(y, np.full(256, 4))
    np.testing.assert_array_equal(z, x[i ^ 1] + x[i ^ 32] + (1 << 24) + 4)


def test_of_hidden_stores_to_one_place_the_seed_says_which_lands_last():
    kernel = compiled(
        """extern "C" __global__ void all(int* y, int* seen)
{
    if (threadIdx.x) return;
    y[0] = blockIdx.x;
    seen[blockIdx.x] = y[0];
}"""
    )
    last = set()
    for seed in range(60):
        y, seen = np.full(1, -1, np.int32), np.full(4, -1, np.int32)
        run(kernel, 4, 32, y, seen, weak_stores=True, seed=seed, resident_blocks=1, faults=False)
        last.add(int(y[0]))
        assert seen[0] == 0
    assert last == {0, 1, 2, 3}


def test_a_plain_flag_is_seen_in_the_end_and_the_data_behind_it_is_not():
    """No store stays hidden for ever; what others look for comes out first."""
    kernel = compiled(
        """extern "C" __global__ void plain(int* flag, int* data, int* y)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 7;
        flag[0] = 1;
    } else {
        while (*(volatile int*)flag == 0);
        y[0] = data[0];
    }
}"""
    )
    flag, data, y = (np.zeros(1, np.int32) for _ in range(3))
    run(kernel, 2, 32, flag, data, y, faults=False)
    assert y[0] == 0
    assert data[0] == 7


TALKS = {
    "elementwise": ("y[i] = x[i];", False),
    "histogram": ("atomicAdd(&y[x[i]], 1);", False),
    "compaction": ("if (x[i]) y[atomicAdd(&y[0], 1)] = x[i];", False),
    "fence": ("y[i] = x[i]; __threadfence(); y[i + 64] = y[i];", True),
    "fence of the block": ("y[i] = x[i]; __threadfence_block(); y[i + 64] = y[i];", False),
    "the last one": ("y[i] = x[i]; if (atomicAdd(&y[99], 1) == 63) y[98] = y[0];", True),
    "nothing to read": ("y[i] = i; if (atomicAdd(&y[99], 1) == 63) y[98] = 1;", False),
}


@pytest.mark.parametrize(("body", "talks"), TALKS.values(), ids=TALKS)
def test_only_programs_whose_blocks_talk_hide_stores_by_themselves(body, talks):
    kernel = compiled(
        f"""extern "C" __global__ void talk(const int* __restrict__ x, int* y)
{{
    int i = threadIdx.x;
    {body}
}}"""
    )
    assert program_of(kernel.entry).blocks_talk == talks
