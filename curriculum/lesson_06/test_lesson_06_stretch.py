"""Lesson 06, beyond what it requires: a warp moves what it keeps to the front."""

import math

import pytest
import torch

from curriculum.lesson_06 import host
from references import warps
from references.vectors import spread

LEFT = -7.0  # what the places behind the kept elements hold before and after


def compacted(x, threads=64):
    """(out, counts), after a launch that had to leave the rest of out alone."""
    out = torch.full_like(x, LEFT)
    return out, host.warp_compact(x, out, threads)


def check(x, got, close):
    close.equal(got, warps.compacted(x, torch.full_like(x, LEFT)))


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 63, 64, 65, 997, 1024])
@pytest.mark.parametrize("threads", [32, 64])
def test_what_is_above_zero_moves_to_the_front_in_order(n, threads, device, rng, close):
    x = spread(n, rng, device)
    check(x, compacted(x, threads), close)


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("kept", ["none", "all", "the last lane", "the first lane"])
def test_all_lanes_or_one_are_kept(kept, device, rng, close):
    x = spread(96, rng, device).abs()
    lane = torch.arange(96, device=device) % 32
    keep = {
        "none": lane < 0,
        "all": lane >= 0,
        "the last lane": lane == 31,
        "the first lane": lane == 0,
    }[kept]
    x = torch.where(keep, x, -x)
    check(x, compacted(x), close)


@pytest.mark.stretch
@pytest.mark.task(7)
def test_zero_and_nan_are_not_above_zero(device, close):
    few = [math.nan, 1.0, 0.0, -0.0, math.inf, -math.inf, 1e-45, -math.nan, 2.0]
    x = torch.tensor(few * 5, device=device)
    check(x, compacted(x), close)


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [33, 1000])
def test_one_vote_finds_every_place(n, rng, profile, close):
    x = spread(n, rng)
    launches = profile(lambda: compacted(x))
    check(x, launches.result, close)
    counters, warps_ = launches["warp_compact"].counters, -(-n // 32)
    kept = int((x > 0).sum())
    said = f"n = {n}, {warps_} warps with an element, {kept} elements above 0"
    votes, stores, loaded = counters.votes, counters.global_store_bytes, counters.global_load_bytes
    assert votes <= counters.warps, f"{said}: {votes} votes; one a warp tells every lane its place"
    wanted = 4 * (kept + warps_)
    assert stores == wanted, f"{said}: {stores} bytes of stores requested at L1, not {wanted}"
    assert loaded == 4 * n, f"{said}: {loaded} bytes of loads requested at L1, not {4 * n}"
