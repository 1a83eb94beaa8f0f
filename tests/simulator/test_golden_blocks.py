"""Stored PTX of barriers, shared memory and waiting blocks gives what the block agreed on."""

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import SIZES, VERSIONS, integers, kernel, poisoned, rows

pytestmark = pytest.mark.parametrize("version", VERSIONS)


def blocks_of(x, block=64):
    """[blocks][block], padded with zeros."""
    padded = np.zeros(-(-len(x) // block) * block, x.dtype)
    padded[: len(x)] = x
    return padded.reshape(-1, block)


def test_barriers_that_count_and_agree(version):
    x = np.random.default_rng(1).integers(-4, 5, max(SIZES)).astype(np.int32)
    x[64:] = np.abs(x[64:])
    for n, y in rows(version, "barriers/barriers_that_count", [x], np.int32, 3):
        blocks = blocks_of(x[:n])
        want = np.stack(
            [(blocks > 0).sum(axis=1), (blocks > -3).all(axis=1), (blocks > 3).any(axis=1)]
        )
        np.testing.assert_array_equal(y, np.repeat(want, 64, axis=1)[:, :n])


@pytest.mark.parametrize("block", [1, 32, 128])
def test_a_tree_of_sums(version, block):
    x = integers(np.int32, 2)
    for n in SIZES:
        sums = poisoned(-(-n // block), np.int32)
        run(kernel(version, "barriers/tree"), len(sums), block, x[:n].copy(), sums, n)
        np.testing.assert_array_equal(sums, blocks_of(x[:n], block).sum(axis=1, dtype=np.int32))


@pytest.mark.parametrize("blocks", [1, 3])
def test_named_barriers_of_half_a_block(version, blocks):
    x = np.arange(128 * blocks, dtype=np.int32) * 3 - 50
    y = poisoned(len(x), np.int32)
    run(kernel(version, "barriers/named_barriers"), blocks, 128, x, y)
    halves = x.reshape(blocks, 2, 64)[:, :, ::-1] * np.array([1, 10])[None, :, None]
    first = halves.reshape(blocks, 128)
    np.testing.assert_array_equal(y.reshape(blocks, 128), first + first[:, ::-1])


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_producer_arrives_and_a_consumer_waits(version, blocks):
    x = np.arange(32 * blocks, dtype=np.int32)
    y = poisoned(len(x), np.int32)
    run(kernel(version, "barriers/producer_and_consumer"), blocks, 64, x, y)
    np.testing.assert_array_equal(y.reshape(blocks, 32), 2 * x.reshape(blocks, 32)[:, ::-1])


@pytest.mark.parametrize(("blocks", "rounds"), [(1, 1), (1, 5), (3, 4)])
def test_a_tile_is_handed_over_again_and_again(version, blocks, rounds):
    x = np.random.default_rng(7).integers(0, 99, (blocks, rounds, 32)).astype(np.int32)
    y = poisoned(x.shape, np.int32)
    run(kernel(version, "barriers/handed_over"), blocks, 64, x, y, rounds)
    np.testing.assert_array_equal(y, x[:, :, ::-1] + np.arange(rounds)[:, None])


def test_threads_past_the_end_release_a_barrier(version):
    for n in SIZES:
        x = integers(np.int32, 3)[:n]
        y = poisoned(n, np.int32)
        run(kernel(version, "barriers/some_leave_early"), -(-n // 64), 64, x.copy(), y, n)
        want = [x[k ^ 1] if k ^ 1 < n else -1 for k in range(n)]
        np.testing.assert_array_equal(y, want)


def test_the_last_block_sees_what_all_have_written(version):
    for n in SIZES:
        x = integers(np.int32, 4)[:n]
        grid = -(-n // 32)
        partial, arrived, total = (
            poisoned(grid, np.int32),
            np.zeros(1, np.uint32),
            poisoned(1, np.int32),
        )
        # A race by the letter: no fence stands between the last ticket and the loads behind it.
        arguments = (x.copy(), partial, arrived, total, n)
        run(kernel(version, "barriers/last_block"), grid, 32, *arguments, faults=False)
        assert total[0] == (x & 1).sum()
        assert arrived[0] == 0  # ready for the next launch
        np.testing.assert_array_equal(partial, [(b & 1).sum() for b in blocks_of(x, 32)])


@pytest.mark.parametrize("block", [1, 31, 33, 100])
def test_several_arrays_in_the_same_dynamic_memory(version, block):
    x = np.random.default_rng(5).integers(-9, 9, (3, block)).astype(np.float32)
    means, largest = poisoned(3, np.float64), poisoned(3, np.int32)
    ranks = poisoned((3, block), np.uint8)
    size = 8 * (-(-block // 2) * 2) + 16 * block + block
    name = "dynamic_shared_memory/several_arrays"
    run(kernel(version, name), 3, block, x, means, largest, ranks, shared_bytes=size)
    np.testing.assert_allclose(means, x.mean(axis=1, dtype=np.float64), rtol=1e-15)
    np.testing.assert_array_equal(largest, x.argmax(axis=1))
    order = np.argsort(np.argsort(x, axis=1, kind="stable"), axis=1)
    np.testing.assert_array_equal(ranks, order[:, ::-1])


def test_a_message_from_the_last_block_to_all_others(version):
    flag, data, y = np.zeros(1, np.int32), poisoned(64, np.int32), poisoned((3, 64), np.int32)
    run(kernel(version, "cached_accesses/message"), 4, 64, flag, data, y)
    np.testing.assert_array_equal(y, 3 * np.arange(64) + np.arange(3)[:, None])


def test_clocks_go_forward(version):
    for n in SIZES:
        x = np.random.default_rng(6).normal(size=n).astype(np.float32)
        y, z = poisoned((4, n), np.int64), poisoned(n, np.float32)
        run(kernel(version, "clocks/clocks"), -(-n // 32), 32, x, y, z, n)
        assert (y[:2] > 0).all()
        assert (y[0] < 1 << 40).all()
        want = x.astype(np.float64) / 16 + 1.875
        np.testing.assert_allclose(z, want, rtol=1e-6)


def test_a_wait_that_sleeps_longer_and_longer(version):
    flag, y = np.zeros(1, np.int32), poisoned(32, np.int32)
    run(kernel(version, "clocks/backs_off"), 2, 32, flag, y)
    assert y.tolist() == [7] * 32
