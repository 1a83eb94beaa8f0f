"""Stored PTX of warp intrinsics gives what a model of 32 lanes says."""

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import (
    MOST,
    SIZES,
    VERSIONS,
    integers,
    kernel,
    poisoned,
    results,
    rows,
)

pytestmark = pytest.mark.parametrize("version", VERSIONS)

WARPS = (32, 64, 96)  # threads, whole warps


def in_warps(values, function):
    """function(list of one warp's values, lane) for every thread."""
    found = []
    for start in range(0, len(values), 32):
        warp = list(values[start : start + 32])
        found += [function(warp, lane) for lane in range(len(warp))]
    return found


def from_lane(source, width=32):
    """A shuffle: source(lane) says where from; outside its group a lane keeps its own."""

    def one(warp, lane):
        at = source(lane)
        same_group = at // width == lane // width and at >= 0
        return warp[at] if same_group and at < len(warp) else warp[lane]

    return one


def test_shuffles_at_several_widths(version):
    """In a ragged warp only those results have a value whose source is there."""
    x = np.random.default_rng(1).normal(size=MOST).astype(np.float32)
    sources = [(lambda t: 0, 32), (lambda t: t // 8 * 8 + 3, 8), (lambda t: t - 1, 32),
               (lambda t: t - 3, 16),
               (lambda t: t + 2, 4), (lambda t: t, 32), (lambda t: t // 8 * 8, 8)]  # fmt: skip
    for n in (31, 32, 63, 64):
        y = results(version, "shuffles/shuffles", [x], np.float32, 7, n)
        there = [[s(t % 32) % 32 < n % 32 or n % 32 == 0 for t in range(n)] for s, _ in sources]
        for k, (source, width) in enumerate(sources):
            want = np.array(in_warps(x[:n], from_lane(source, width)), np.float32)
            np.testing.assert_array_equal(y[k][there[k]], want[there[k]], str(k))


def test_shuffles_of_whole_warps(version):
    for n in WARPS:
        x = integers(np.int32, 2, n)
        z = np.random.default_rng(3).normal(size=n)
        y, w = poisoned((9, n), np.int32), poisoned((2, n), np.float64)
        run(kernel(version, "shuffles/shuffles_of_full_warps"), n // 32, 32, x, z, y, w, n)
        sources = [(lambda t: t ^ 1, 32), (lambda t: t ^ 16, 32), (lambda t: t ^ 5, 8),
                   (lambda t: (7 * t + 3) % 32, 32), None, (lambda t: t + 16, 32),
                   (lambda t: t - t % 4, 32),
                   (lambda t: t + 1, 2), (lambda t: 31 - t, 32)]  # fmt: skip
        for k, source in enumerate(sources):
            one = from_lane(*source) if source else (lambda warp, lane: warp[warp[lane] & 31])
            np.testing.assert_array_equal(y[k], in_warps(x, one), str(k))
        np.testing.assert_array_equal(w[0], in_warps(z, from_lane(lambda t: t ^ 3)))
        both = [(int(v) << 33) + 2**64 | k % 32 for k, v in enumerate(x)]
        both = [v % 2**64 - (v % 2**64 >> 63 << 64) for v in both]
        np.testing.assert_array_equal(
            w[1], np.array(in_warps(both, from_lane(lambda t: t + 4)), np.float64)
        )


def test_two_halves_of_a_warp_on_two_sides_of_a_branch(version):
    x = integers(np.int32, 4, 96) >> 8
    y = poisoned(96, np.int32)
    run(kernel(version, "shuffles/shuffles_of_half_warps"), 1, 96, x, y)
    halves = x.reshape(-1, 2, 16)
    want = np.stack([halves[:, 0].sum(axis=1), halves[:, 1].max(axis=1)], axis=1)
    np.testing.assert_array_equal(y, np.repeat(want.reshape(-1), 16))


def mask_of(warp, chosen):
    return sum(1 << k for k, v in enumerate(warp) if chosen(v))


def test_votes_and_matches(version):
    x = np.random.default_rng(5).integers(-8, 9, MOST).astype(np.int32)
    x[64:96] = 7  # one warp agrees
    wanted = [
        lambda w, k: mask_of(w, lambda v: True),
        lambda w, k: all(v > -5 for v in w),
        lambda w, k: any(v > 5 for v in w),
        lambda w, k: mask_of(w, lambda v: v & 1),
        lambda w, k: len({v > 0 for v in w}) == 1,
        lambda w, k: mask_of(w, lambda v: v == w[k]),
        lambda w, k: mask_of(w, lambda v: v == w[k]),
        lambda w, k: mask_of(w, lambda v: True),
        lambda w, k: sum(v > 0 for v in w[:k]),
        lambda w, k: mask_of(w, lambda v: True) * (len({int(v / 100) for v in w}) == 1),
        lambda w, k: len({int(v / 100) for v in w}) == 1,
        lambda w, k: mask_of(w, lambda v: True) * (len({int(v / 100) for v in w}) == 1),
        lambda w, k: len({int(v / 100) for v in w}) == 1,
    ]
    x[:5] = [0, 250, -250, 100, 100]
    for n, y in rows(version, "votes/votes", [x], np.uint32, 13):
        for k, function in enumerate(wanted):
            np.testing.assert_array_equal(y[k], in_warps(x[:n].tolist(), function), str(k))


def test_reductions_of_a_warp(version):
    x = integers(np.int32, 6)

    def unsigned(w):
        return [v % 2**32 for v in w]

    def folded(operation, w):
        total = w[0]
        for v in w[1:]:
            total = operation(total, v)
        return total

    wanted = [
        sum, min, max, sum, lambda w: min(unsigned(w)), lambda w: max(unsigned(w)),
        lambda w: folded(int.__and__, w), lambda w: folded(int.__or__, w),
        lambda w: folded(int.__xor__, w),
    ]  # fmt: skip
    for n, y in rows(version, "votes/reductions", [x], np.int32, 9):
        for k, function in enumerate(wanted):
            want = [v % 2**32 for v in in_warps(x[:n].tolist(), lambda w, _, f=function: f(w))]
            np.testing.assert_array_equal(y[k].view(np.uint32), want, str(k))


def test_a_histogram_whose_equal_lanes_add_once(version):
    for n in SIZES:
        keys = (integers(np.int32, 7)[:n] % 11 + 11) % 11
        bins = np.zeros(11, np.int32)
        run(kernel(version, "votes/aggregated_histogram"), -(-n // 64), 64, keys, bins, n)
        np.testing.assert_array_equal(bins, np.bincount(keys, minlength=11))
