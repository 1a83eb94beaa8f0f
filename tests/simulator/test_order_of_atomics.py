"""Lanes that update one address take turns in the order of the schedule."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run

ORDERS = ("forward", "reversed", "shuffled")

SUM = """extern "C" __global__ void sum(const float* x, float* total, float* before)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    before[i] = atomicAdd(total, x[i]);
}"""


def float_sums(order, seed=0):
    x = (np.random.default_rng(1).standard_normal(1024) * 1e3).astype(np.float32)
    total, before = np.zeros(1, np.float32), np.zeros_like(x)
    run(compiled(SUM), 4, 256, x, total, before, order=order, seed=seed)
    np.testing.assert_allclose(total[0], x.astype(np.float64).sum(), atol=0.1)
    return x, total, before


def test_float_sums_differ_in_the_last_bits_between_orders():
    totals = {float_sums("shuffled", seed)[1].tobytes() for seed in range(8)}
    totals |= {float_sums(order)[1].tobytes() for order in ORDERS}
    assert len(totals) > 4


@pytest.mark.parametrize("order", ORDERS)
def test_in_each_order_the_old_values_are_one_chain_of_sums(order):
    x, total, before = float_sums(order, 2)
    followed = (before.astype(np.float32) + x).astype(np.float32)
    nexts = np.sort(np.append(before[before != 0], total[0]))
    np.testing.assert_array_equal(np.sort(followed), nexts)


@pytest.mark.parametrize(("order", "first"), [("forward", 0), ("reversed", 255)])
def test_who_is_first_at_one_address(order, first):
    kernel = compiled(
        """extern "C" __global__ void ticket(int* taken, int* mine)
{
    mine[threadIdx.x] = atomicAdd(taken, 1);
}"""
    )
    mine = np.zeros(256, np.int32)
    run(kernel, 1, 256, np.zeros(1, np.int32), mine, order=order)
    assert mine[first] == 0
    assert sorted(mine) == list(range(256))


def test_shuffled_tickets_are_a_permutation_that_the_seed_draws():
    kernel = compiled(
        """extern "C" __global__ void draw(int* taken, int* mine)
{
    mine[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(taken, 1);
}"""
    )
    drawn = []
    for seed in (1, 1, 2):
        mine = np.zeros(512, np.int32)
        run(kernel, 2, 256, np.zeros(1, np.int32), mine, order="shuffled", seed=seed)
        assert sorted(mine) == list(range(512))
        drawn.append(mine.tolist())
    assert drawn[0] == drawn[1] != drawn[2]
