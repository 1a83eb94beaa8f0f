"""Warps apart, and the order of atomics: other schedules of the same kernel.

A right kernel gives the same in all of them; one without its barrier gives wrong values in some,
also where nobody looks for races.
"""

from pathlib import Path

import numpy as np
import pytest

from simulator import FaultKind, Settings
from tests.simulator import compiled as compiled_module
from tests.simulator.compiled import compiled, fault, run

SEEDS = range(5)

TRANSPOSE = """extern "C" __global__ void swap(const int* x, int* y)
{
    __shared__ int tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = x[i];
    BARRIER
    y[i] = tile[255 - t];
}"""

TREE = """extern "C" __global__ void tree(const int* x, int* y)
{
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 128; k; k /= 2) {
        if (t < k) tile[t] += tile[t + k];
        BARRIER
    }
    if (t == 0) y[blockIdx.x] = tile[0];
}"""

TWO_TILES = """extern "C" __global__ void tiles(const int* x, int* y, int rounds)
{
    __shared__ int tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, sum = 0;
    for (int k = 0; k < rounds; ++k) {
        tile[t] = x[i] + k;
        __syncthreads();
        sum += tile[(t + 32) % 256] * (k + 1);
        BARRIER
    }
    y[i] = sum;
}"""

SHIFT = """extern "C" __global__ void shift(int* x)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    int v = x[(i + 32) % (256 * gridDim.x)];
    BARRIER
    x[i] = v;
}"""


def swap(barrier, blocks=2, **settings):
    x = np.arange(256 * blocks, dtype=np.int32)
    y = np.zeros_like(x)
    run(compiled(TRANSPOSE.replace("BARRIER", barrier)), blocks, 256, x, y, **settings)
    return y, x.reshape(blocks, 256)[:, ::-1].reshape(-1)


def tree(barrier, blocks=2, **settings):
    x, y = np.arange(256 * blocks, dtype=np.int32), np.zeros(blocks, np.int32)
    run(compiled(TREE.replace("BARRIER", barrier)), blocks, 256, x, y, **settings)
    return y, x.reshape(blocks, 256).sum(1)


def tiles(barrier, blocks=2, **settings):
    x = np.arange(256 * blocks, dtype=np.int32)
    y = np.zeros_like(x)
    run(compiled(TWO_TILES.replace("BARRIER", barrier)), blocks, 256, x, y, 3, **settings)
    turned = np.roll(x.reshape(blocks, 256), -32, axis=1).reshape(-1)
    return y, sum((turned + k) * (k + 1) for k in range(3))


def shift(barrier, **settings):
    x = np.arange(256, dtype=np.int32)
    y = x.copy()
    run(compiled(SHIFT.replace("BARRIER", barrier)), 1, 256, y, **settings)
    return y, np.roll(x, -32)


KERNELS = {"transpose": swap, "tree": tree, "two tiles": tiles, "shift in place": shift}
ORDERS = ("forward", "reversed", "shuffled")


@pytest.mark.parametrize("launch", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("order", ORDERS)
def test_kernels_with_their_barriers_are_right_with_warps_apart(launch, order):
    for seed in SEEDS:
        got, want = launch("__syncthreads();", order=order, seed=seed, warps_apart=True)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("launch", KERNELS.values(), ids=KERNELS)
def test_a_missing_barrier_gives_wrong_values_in_nearly_every_shuffled_schedule(launch):
    wrong = 0
    for seed in SEEDS:
        settings = {"order": "shuffled", "seed": seed, "warps_apart": True, "faults": False}
        wrong += np.not_equal(*launch("", **settings)).any()
    assert wrong >= len(SEEDS) - 1


@pytest.mark.parametrize("launch", KERNELS.values(), ids=KERNELS)
def test_forward_and_reversed_find_a_missing_barrier_between_them(launch):
    wrong = [
        np.not_equal(*launch("", order=order, warps_apart=True, faults=False)).any()
        for order in ("forward", "reversed")
    ]
    assert any(wrong)


def test_in_lock_step_these_kernels_would_pass():
    """So warps apart are what tells them from right ones."""
    for launch in (swap, tiles, shift):
        np.testing.assert_array_equal(*launch("", faults=False))


@pytest.mark.parametrize("order", ORDERS)
def test_a_schedule_is_the_same_each_time(order):
    settings = {"order": order, "seed": 3, "warps_apart": True, "faults": False}
    first, again = (tiles("", **settings)[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_blocks_are_apart_too():
    """A block that reads what another one of the same wave has not written yet."""
    kernel = compiled(
        """extern "C" __global__ void neighbour(int* x, int* y)
{
    int b = blockIdx.x;
    ((volatile int*)x)[b] = 1;
    y[b] = ((volatile int*)x)[(b + 1) % gridDim.x];
}"""
    )
    for order in ORDERS:
        x, y = np.zeros(8, np.int32), np.zeros(8, np.int32)
        run(kernel, 8, 32, x, y, order=order, warps_apart=True, faults=False)
        assert 0 < y.sum() < 8


SPINS = """extern "C" __global__ void spins(volatile int* flags, int* y)
{
    __shared__ volatile int turn;
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (turn != warps - 1 - warp);
        y[blockIdx.x * warps + turn] = warp;
        __threadfence_block();
        turn = turn + 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int next = gridDim.x - 1 - blockIdx.x;
        while (next && flags[next - 1] == 0);
        flags[next] = 1;
    }
}"""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("apart", [False, True])
def test_whoever_runs_first_those_who_wait_let_the_others_pass(order, apart):
    flags, y = np.zeros(4, np.int32), np.zeros((4, 8), np.int32)
    run(compiled(SPINS), 4, 256, flags, y, order=order, warps_apart=apart)
    np.testing.assert_array_equal(y, np.tile(np.arange(8)[::-1], (4, 1)))
    assert flags.all()


def test_counters_do_not_depend_on_the_schedule():
    kernel = compiled(TREE.replace("BARRIER", "__syncthreads();"))
    x = np.arange(256 * 6, dtype=np.int32)
    counted = [
        run(kernel, 6, 256, x, np.zeros(6, np.int32), order=order, warps_apart=apart).counters
        for order in ORDERS
        for apart in (False, True)
    ]
    assert all(c == counted[0] for c in counted)


def test_a_barrier_that_some_warps_never_reach_is_found_with_warps_apart():
    kernel = compiled(
        """extern "C" __global__ void half(int* y)
{
    if (threadIdx.x < 64) __syncthreads(); // some
    y[threadIdx.x] = 1;
    __syncthreads();
}"""
    )
    found = fault(kernel, 2, 128, np.zeros(128, np.int32), warps_apart=True, order="shuffled")
    assert found.kind is FaultKind.DIVERGENT_BARRIER
    assert found.line == kernel.line("// some")


def test_an_endless_loop_around_a_barrier_is_proven_with_warps_apart():
    kernel = compiled(
        """extern "C" __global__ void around(const int* x, int* y)
{
    __shared__ int k;
    int turns = 0;
    if (threadIdx.x == 0) k = x[0];
    __syncthreads();
    while (k >= 0) {
        ++turns;
        __syncthreads();
    }
    y[threadIdx.x] = turns;
}"""
    )
    for order in ORDERS:
        y = np.zeros(128, np.int32)
        found = fault(kernel, 1, 128, np.zeros(1, np.int32), y, warps_apart=True, order=order)
        assert found.kind is FaultKind.ENDLESS_LOOP
        assert "loops for ever" in found.what


# ---- all stored kernels


class Apart:
    """A pytest plugin: every launch has its warps apart. The values are what counts."""

    def __init__(self, seed):
        self.seed = seed

    @pytest.fixture(autouse=True)
    def _apart(self, monkeypatch):
        def settings(**given):
            chosen = {"order": "shuffled", "seed": self.seed, "warps_apart": True}
            return Settings(**{"faults": False} | chosen | given)

        monkeypatch.setattr(compiled_module, "Settings", settings)


LAUNCHING = set(Path(__file__).parent.glob("test_golden_*.py"))
GOLDEN = sorted(path for path in LAUNCHING if path.stem != "test_golden_ptx")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_tests_of_stored_kernels_hold_with_warps_apart(path):
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header"]
    options += ["-k", "not 13_5"]  # one version of the compiler is enough here
    options += [str(path)]
    assert pytest.main(options, plugins=[Apart(seed=1)]) == pytest.ExitCode.OK
