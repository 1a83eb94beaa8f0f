"""Stored PTX of cooperative groups gives what each group agreed on."""

import numpy as np
import pytest

from simulator import DoesNotFit, FaultKind
from tests.simulator.compiled import fault, run
from tests.simulator.golden.stored import VERSIONS, fresh, kernel, poisoned

pytestmark = pytest.mark.parametrize("version", VERSIONS)

BLOCKS = 3


def numbers(block, low=-9, high=10, seed=1):
    return np.random.default_rng(seed).integers(low, high, (BLOCKS, block)).astype(np.int32)


@pytest.mark.parametrize("block", [1, 31, 33, 128])
def test_a_block_is_a_group(version, block):
    x, y = numbers(block), poisoned((BLOCKS, block), np.int32)
    run(kernel(version, "cooperative_blocks/blocks"), BLOCKS, block, x, y)
    np.testing.assert_array_equal(y, x[:, ::-1] + np.arange(block) * block)


@pytest.mark.parametrize("width", [32, 16, 4])
@pytest.mark.parametrize("block", [32, 96])
def test_tiles_of_a_warp(version, width, block):
    x = numbers(block)
    y = poisoned((9, BLOCKS * block), np.int32)
    run(kernel(version, f"cooperative_blocks/tiles_of_{width}"), BLOCKS, block, x, y, x.size)
    tiles = x.reshape(-1, width)
    lane = np.arange(width)
    per_block = block // width

    def spread(values):
        return np.repeat(values, width).reshape(-1)

    def ballot(verdicts):
        return (verdicts.astype(np.int64) << lane).sum(axis=-1)

    equal = tiles[:, :, None] == tiles[:, None, :]
    rank = np.tile(np.arange(per_block), BLOCKS)
    want = [
        spread(tiles.sum(axis=1)), spread(tiles[:, 1]), tiles[:, np.maximum(lane - 1, 0)],
        tiles[:, np.where(lane + 2 < width, lane + 2, lane)], spread(ballot(tiles & 1)),
        spread((tiles > 5).any(axis=1)), spread((tiles > -5).all(axis=1)), ballot(equal),
        lane + 0 * tiles,
    ]  # fmt: skip
    want[-1] = lane * 1000 + rank[:, None] * 100 + per_block
    for k, values in enumerate(want):
        np.testing.assert_array_equal(
            y[k].view(np.uint32), values.reshape(-1).astype(np.int64) % 2**32, str(k)
        )


@pytest.mark.parametrize("width", [1, 8, 32])
def test_tiles_whose_width_is_known_at_run_time(version, width):
    x, y = numbers(64), poisoned((BLOCKS, 64), np.int32)
    run(kernel(version, "cooperative_blocks/tiles_at_run_time"), BLOCKS, 64, x, y, width)
    np.testing.assert_array_equal(y.reshape(-1), np.repeat(x.reshape(-1, width).sum(axis=1), width))


@pytest.mark.parametrize("block", [32, 64])
def test_reductions(version, block):
    x = numbers(block)
    z = numbers(block, seed=2).astype(np.float32)
    y, w = poisoned((5, x.size), np.int32), poisoned((2, x.size), np.float32)
    run(kernel(version, "cooperative_reductions/reduced"), BLOCKS, block, x, z, y, w, x.size)
    warps, eights = x.reshape(-1, 32), x.reshape(-1, 8)
    xor = np.bitwise_xor.reduce(eights, axis=1)
    parity = warps.sum(axis=1) & 1  # of any tree of differences
    rows = [
        (warps.sum(axis=1), 32),
        (warps.min(axis=1), 32),
        (eights.max(axis=1), 8),
        (xor, 8),
        (parity, 32),
    ]
    for k, (values, width) in enumerate(rows):
        np.testing.assert_array_equal(y[k], np.repeat(values, width), str(k))
    np.testing.assert_array_equal(w[0], np.repeat(z.reshape(-1, 32).sum(axis=1), 32))
    np.testing.assert_array_equal(w[1], np.repeat(z.reshape(-1, 8).max(axis=1), 8))


@pytest.mark.parametrize("block", [32, 64])
def test_scans(version, block):
    x, z = numbers(block), numbers(block, seed=3).astype(np.float32)
    y, w = poisoned((3, x.size), np.int32), poisoned(x.size, np.float32)
    run(kernel(version, "cooperative_reductions/scanned"), BLOCKS, block, x, z, y, w, x.size)
    sums = np.cumsum(x.reshape(-1, 32), axis=1)
    np.testing.assert_array_equal(y[0], sums.reshape(-1))
    np.testing.assert_array_equal(y[1], (sums - x.reshape(-1, 32)).reshape(-1))
    np.testing.assert_array_equal(y[2], np.maximum.accumulate(x.reshape(-1, 4), axis=1).reshape(-1))
    np.testing.assert_array_equal(w, np.cumsum(z.reshape(-1, 32), axis=1).reshape(-1))


@pytest.mark.parametrize("n", [1, 31, 33, 96])
def test_lanes_on_the_same_side_of_a_branch(version, n):
    x = numbers(32).reshape(-1)[:n]
    y, counter = poisoned((3, n), np.int32), np.zeros(1, np.int32)
    y[1:] = -7
    run(kernel(version, "cooperative_reductions/coalesced"), BLOCKS, 32, x.copy(), y, counter, n)
    assert counter[0] == (x > 0).sum()
    np.testing.assert_array_equal(np.sort(y[0][x > 0]), np.arange((x > 0).sum()))
    np.testing.assert_array_equal(y[0][x <= 0], -1)
    for start in range(0, n, 32):
        warp = slice(start, min(n, start + 32))
        kept = x[warp][x[warp] > 0]
        agreed = 2 * (kept > 8).any() + (kept > 1).all()
        for row, value in ((1, kept.sum()), (2, agreed)):
            np.testing.assert_array_equal(y[row, warp], np.where(x[warp] > 0, value, -7))


def test_partitions_by_label_and_by_side(version):
    x = numbers(64, low=0, high=6)
    y = poisoned((2, x.size), np.int32)
    run(kernel(version, "cooperative_reductions/labeled"), BLOCKS, 64, x, y, x.size)
    for start in range(0, x.size, 32):
        warp = x.reshape(-1)[start : start + 32].tolist()
        sizes = [warp.count(v) * 100 + warp[:k].count(v) for k, v in enumerate(warp)]
        sides = [sum(v for v in warp if (v > 2) == (own > 2)) for own in warp]
        np.testing.assert_array_equal(y[:, start : start + 32], [sizes, sides])


def test_one_lane_speaks_for_its_warp(version):
    y = poisoned((BLOCKS, 64), np.int32)
    run(kernel(version, "cooperative_reductions/invoked_by_one"), BLOCKS, 64, y)
    np.testing.assert_array_equal(y, np.tile(np.repeat([50, 51], 32), (BLOCKS, 1)))


@pytest.mark.parametrize(("blocks", "block"), [(1, 32), (3, 33), (5, 64)])
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_all_blocks_of_a_grid_meet(version, blocks, block, rounds):
    n = blocks * block - 5
    x = np.random.default_rng(4).integers(0, 9, n).astype(np.int32)
    want, y = x.copy(), poisoned(n, np.int32)
    pair = [x, y]
    for _ in range(rounds):
        edged = np.concatenate([want[:1], want, want[-1:]])
        want = edged[:-2] + edged[1:-1] + edged[2:]
    chosen = kernel(version, "cooperative_grids/smoothed")
    run(chosen, blocks, block, *pair, rounds, n, cooperative=True)
    np.testing.assert_array_equal(pair[rounds % 2], want)


def test_ranks_in_a_grid(version):
    y = poisoned(5 * 33, np.int32)
    run(kernel(version, "cooperative_grids/ranks"), 5, 33, y, cooperative=True)
    np.testing.assert_array_equal(y, np.repeat(np.arange(5), 33) * 1000 + 501)


def test_a_cooperative_grid_must_be_resident_as_a_whole(version):
    x, y = np.ones(96, np.int32), poisoned(96, np.int32)
    chosen = fresh(version, "cooperative_grids/smoothed")
    with pytest.raises(DoesNotFit, match="a cooperative launch of 3 blocks: resident are 2"):
        run(chosen, 3, 32, x, y, 1, 96, resident_blocks=2, cooperative=True)


def test_a_grid_meets_in_a_cooperative_launch_only(version):
    x, y = np.ones(96, np.int32), poisoned(96, np.int32)
    chosen = fresh(version, "cooperative_grids/smoothed")
    found = fault(chosen, 3, 32, x, y, 1, 96)
    assert found.kind is FaultKind.TRAP
    assert found.line == chosen.line("grid.sync();")
    assert "enable_cooperative_groups=True" in found.advice


def test_in_other_launches_a_grid_is_not_valid(version):
    y = poisoned(5 * 33, np.int32)
    run(kernel(version, "cooperative_grids/ranks"), 5, 33, y)
    np.testing.assert_array_equal(y, np.repeat(np.arange(5), 33) * 1000 + 500)
