"""Lesson 07, the trade-off: where to meet, what it costs, and how far the sum may be off."""

import numpy as np
import pytest
import torch

from curriculum.lesson_07 import host, tradeoff
from harness.judging.returned import number
from harness.launching.launch_settings import changed
from references import reductions
from references.reductions import whole


def checked(call, got, wanted, tolerance=1e-9):
    said = f"{call} is {number(call, got):.6g}, not {wanted:.6g}"
    assert got == pytest.approx(wanted, rel=tolerance), said


# --- What a meeting costs -------------------------------------------------------------------------


EACH_WAY = {
    "tree": "each halving has a barrier before it, one thread has the one atomic",
    "shuffle": "five in each warp, one meeting of several warps, five in one warp, one atomic",
    "atomic": "each thread has its own atomic, and nobody waits",
}


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "threads, way, barriers, shuffles, atomics",
    [
        (256, "tree", 8, 0, 1),
        (1024, "tree", 10, 0, 1),
        (32, "tree", 5, 0, 1),
        (256, "shuffle", 1, 45, 1),
        (1024, "shuffle", 1, 165, 1),
        (32, "shuffle", 0, 5, 1),
        (64, "shuffle", 1, 15, 1),
        (256, "atomic", 0, 0, 256),
        (64, "atomic", 0, 0, 64),
    ],
)
def test_each_way_to_meet_has_its_price(threads, way, barriers, shuffles, atomics):
    got = tradeoff.meeting(threads, way)
    wanted = {"barriers": barriers, "shuffles": shuffles, "atomics": atomics}
    for what, count in wanted.items():
        found = getattr(got, what, got)
        said = f"a block of {threads}, {way}: {found} {what}, not {count}"
        assert found == count, f"{said}; {EACH_WAY[way]}"


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("threads", [32, 128, 512])
def test_the_simulator_counts_the_barriers_of_a_tree(threads, rng, profile, close):
    x = whole(1024, rng)
    launches = profile(lambda: host.block_sums("block_sum_interleaved", x, threads))
    close.equal(launches.result, reductions.block_sums(x, threads))
    counters = launches["block_sum_interleaved"].counters
    each = counters.barriers / counters.warps
    got = tradeoff.meeting(threads, "tree").barriers
    said = f"a tree over {threads} threads: {each:g} barriers a warp on the simulator"
    assert got == each, f"{said}; meeting says {got}"


@pytest.mark.task(6)
@pytest.mark.simulated
def test_the_simulator_counts_the_updates_of_one_address(rng, profile, close):
    x = whole(2048, rng)
    launches = profile(lambda: host.atomic_each(x))
    close.equal(launches.result, reductions.total(x))
    hottest = launches["atomic_each"].buffers["out"].hottest_updates
    got = 8 * tradeoff.meeting(256, "atomic").atomics
    said = f"8 blocks of 256, each element an atomic: {hottest} updates of one address"
    assert got == hottest, f"{said}; meeting says {got}"


# --- Who works in a tree --------------------------------------------------------------------------


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "threads, interleaved, wanted",
    [
        (256, False, 255 / 384),
        (256, True, 255 / 1504),
        (32, False, 31 / 160),
        (32, True, 31 / 160),
        (64, False, 63 / 192),
        (1024, False, 1023 / 1152),
    ],
)
def test_a_tree_keeps_few_lanes_at_work(threads, interleaved, wanted):
    kind = "interleaved" if interleaved else "side by side"
    got = tradeoff.tree_efficiency(threads, interleaved)
    checked(f"tree_efficiency of {threads} threads, {kind},", got, wanted)


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("threads", [64, 256])
def test_the_simulator_sees_as_many_lanes_at_work(threads, rng, profile, close):
    x = whole(1024, rng)
    launches = profile(lambda: host.block_sums("block_sum_interleaved", x, threads))
    close.equal(launches.result, reductions.block_sums(x, threads))
    adding = launches["block_sum_interleaved"].line("tile[t] += tile[t + step]")
    seen = adding.execution_efficiency
    got = number("tree_efficiency", tradeoff.tree_efficiency(threads, True))
    said = f"the line that adds, {threads} threads: {seen:.3f} of its lanes at work"
    assert got == pytest.approx(seen, rel=0.02), f"{said}; tree_efficiency says {got:.3f}"


# --- How far off the sum may be -------------------------------------------------------------------


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "n, accumulators, wanted",
    [(1, 1, 0), (1000, 1, 999), (1000, 1000, 10), (1024, 1024, 10), (1024, 32, 36), (1025, 32, 37)]
    + [(2**28, 270_336, 992 + 19), (2**28, 1, 2**28 - 1), (5, 3, 3)],
)
def test_roundings_add_up_in_a_row_and_halve_in_a_tree(n, accumulators, wanted):
    got = tradeoff.roundings(n, accumulators)
    checked(f"roundings of {n} values, {accumulators} accumulators,", got, wanted)


def summed(x, accumulators):
    """The float32 sum of x, len(x) a multiple of accumulators, a power of two."""
    rows = x.reshape(-1, accumulators)
    total = rows[0].copy()
    for row in rows[1:] if accumulators > 1 else ():
        total += row
    if accumulators == 1:
        total = np.cumsum(x)[-1:]  # NumPy adds these in a row
    while len(total) > 1:
        total = total[: len(total) // 2] + total[len(total) // 2 :]
    return float(total[0])


@pytest.mark.task(6)
@pytest.mark.parametrize("accumulators", [1, 64, 2**16])
def test_no_sum_of_float32_lies_farther_off_than_the_bound(accumulators):
    x = np.random.default_rng(7).lognormal(0, 2, 2**20).astype(np.float32)
    exact = float(x.sum(dtype=np.float64))
    off, bound = (
        abs(summed(x, accumulators) - exact),
        tradeoff.error_bound(2**20, accumulators, exact),
    )
    said = f"2^20 values, {accumulators} accumulators: off by {off:.3g}"
    assert off <= bound, f"{said}, and the bound is {bound:.3g}"
    fewer = tradeoff.error_bound(2**20, 2 * accumulators, exact)
    assert fewer < bound, f"{said}: twice as many accumulators have no smaller bound"


@pytest.mark.task(6)
def test_one_accumulator_stops_at_two_to_the_24th():
    # 2^24 + 1 is no float32. From there on, adding 1 changes nothing.
    n = 2**24 + 2**12
    ones = np.ones(n, np.float32)
    for accumulators, wanted in ((1, 2.0**24), (2**12, float(n))):
        assert summed(ones, accumulators) == wanted
        off, bound = n - wanted, tradeoff.error_bound(n, accumulators, n)
        said = f"{n} ones, {accumulators} accumulators: off by {off:g}"
        assert off <= bound, f"{said}, and the bound is {bound:g}"
    got = tradeoff.roundings(n, 2**12)
    assert got == 4108, f"{n} ones, 4096 accumulators: {got} roundings, not 4096 in a row and 12"


# --- Why the bits differ --------------------------------------------------------------------------

PARTS = [1e8, 3.0, -1e8, 2.0, 0.5, 7e6, 12345.5, -7e6]  # 12351 in all


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("order, seed", [("forward", 0), ("reversed", 0), ("shuffled", 7)])
def test_the_order_of_the_blocks_explains_the_bits(order, seed, profile):
    parts = torch.tensor(PARTS)
    with changed(order=order, seed=seed):
        total, before = profile(lambda: host.add_as_they_come(parts)).result
    came = reductions.order_of(PARTS, before.tolist())
    assert came is not None, f"{order}: no order of the blocks explains what they found: {before}"
    got = tradeoff.added_in_order(PARTS, came)
    explained = np.float32(number("added_in_order", got))
    bits, wanted = (np.array([v], np.float32).view(np.uint32)[0] for v in (explained, total.item()))
    said = f"{order}, blocks {came}: the simulator's sum is {total.item()!r} ({wanted:#x})"
    assert bits == wanted, f"{said}; added_in_order says {float(explained)!r} ({bits:#x})"


@pytest.mark.task(6)
def test_three_orders_have_three_sums():
    orders = {
        "forward": (range(8), 12348.0),
        "reversed": (range(7, -1, -1), 12352.0),
        "opposites first": ((0, 2, 5, 7, 1, 3, 4, 6), 12351.0),
        "the first three alone": (range(3), 0.0),
        "nobody": ((), 0.0),
    }
    for name, (order, wanted) in orders.items():
        got = float(number("added_in_order", tradeoff.added_in_order(PARTS, order)))
        assert got == wanted, f"{PARTS}, {name}: {got!r}, not {wanted!r}"


@pytest.mark.task(6)
def test_a_part_is_a_float32_before_it_is_added():
    # Halfway to the neighbour of 1, and a little more that no float32 of that size can hold.
    parts = [1.0, 2.0**-24 + 2.0**-50]
    got = float(number("added_in_order", tradeoff.added_in_order(parts, (0, 1))))
    said = f"{parts}, forward: {got!r}, not 1.0"
    assert got == 1.0, f"{said}; parts[1] is a float32, {np.float32(parts[1])!r}, when it is added"
