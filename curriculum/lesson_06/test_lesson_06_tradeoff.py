"""Lesson 06, the trade-off: align a branch, or run both of its arms?"""

import math
from itertools import groupby

import pytest
import torch

from curriculum.lesson_06 import host, tradeoff
from harness.judging.returned import number
from references import warps

ODD, EVEN = 30, 20  # slots of the two arms


def checked(call, got, wanted, tolerance=1e-9):
    said = f"{call} is {number(call, got):.6g}, not {wanted:.6g}"
    assert got == pytest.approx(wanted, rel=tolerance), said


CONDITIONS = {
    "every second lane": ([1, 0] * 64, 4 * (ODD + EVEN)),
    "every second warp": (([1] * 32 + [0] * 32) * 2, 2 * ODD + 2 * EVEN),
    "nobody": ([0] * 128, 4 * EVEN),
    "everybody": ([1] * 128, 4 * ODD),
    "one lane of 128": ([0] * 77 + [1] + [0] * 50, 4 * EVEN + ODD),
    "one thread": ([1], ODD),
    "a warp and one thread": ([0] * 32 + [1], EVEN + ODD),
    "no thread": ([], 0),
    "5 in one place, -3 in another": ([5, 0, -3] + [0] * 61, ODD + 2 * EVEN),
    "one thread, whose condition is 2": ([2], ODD),
    "one thread, whose condition is -3": ([-3], ODD),
}


@pytest.mark.task(6)
@pytest.mark.parametrize("pattern", CONDITIONS)
def test_a_warp_pays_for_each_arm_that_it_enters(pattern):
    condition, wanted = CONDITIONS[pattern]
    got = tradeoff.branch_cost(condition, ODD, EVEN)
    said = f"{pattern} in the odd arm (not 0) of {ODD} slots, else {EVEN},"
    checked(f"branch_cost, {said}", got, wanted)


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("chance", [0.0, 0.01, 0.1, 0.5, 1.0])
def test_the_simulator_issues_what_branch_cost_says(chance, rng, profile, close):
    # An arm takes the same number of instructions for each four trips. So the instructions that
    # 64 more trips bring are, for each arm, 64 trips of every warp that enters it.
    n = 2048
    x = torch.arange(n, dtype=torch.int32)
    condition = (torch.rand(n, generator=rng) < chance).to(torch.int32)

    def issued(odd_trips, even_trips):
        launches = profile(lambda: host.branch_on(condition, x, odd_trips, even_trips))
        wanted = warps.scrambled(x, condition != 0, odd_trips, even_trips)
        close.equal(launches.result, wanted)
        return launches["branch_on"].counters.warp_instructions

    start = issued(64, 64)
    added = {"odd": issued(128, 64) - start, "even": issued(64, 128) - start}
    for arm, trips in {"odd": (64, 0), "even": (0, 64)}.items():
        predicted = number("branch_cost", tradeoff.branch_cost(condition.tolist(), *trips))
        each = slots_of_64_trips(arm, profile) / 64  # of one warp and one trip
        said = f"chance {chance}, 64 more trips of the {arm} arm: {added[arm]} more instructions"
        assert added[arm] == each * predicted, f"{said}; branch_cost says {each * predicted:g}"


def slots_of_64_trips(arm, profile):
    """Instructions that one warp, all in one arm, issues for 64 trips more."""
    condition = torch.full((32,), int(arm == "odd"), dtype=torch.int32)
    counted = [
        profile(lambda t=trips: host.branch_on(condition, condition, t, t)).counters
        for trips in (64, 128)
    ]
    return counted[1].warp_instructions - counted[0].warp_instructions


@pytest.mark.task(6)
@pytest.mark.parametrize("p", [0.0, 0.01, 0.1, 0.5, 0.9, 1.0])
def test_a_rare_arm_is_not_rare_for_a_warp(p, rng):
    # 20,000 warps thrown with dice: no formula knows of them
    lanes = torch.rand(20_000, 32, generator=rng) < p
    thrown = (ODD * lanes.any(1) + EVEN * (~lanes).any(1)).double().mean().item()
    got = number("expected_cost", tradeoff.expected_cost(p, ODD, EVEN))
    said = f"chance {p} for each lane: expected_cost says {got:.2f} slots a warp"
    assert math.isclose(got, thrown, rel_tol=0.02), f"{said}; 20,000 thrown warps take {thrown:.2f}"


@pytest.mark.task(6)
@pytest.mark.parametrize("p, odd, even", [(0.01, 100, 0), (0.99, 0, 100)])
def test_one_lane_in_a_hundred_is_a_quarter_of_the_warps(p, odd, even):
    got = tradeoff.expected_cost(p, odd, even)
    said = f"expected_cost of p = {p}, arms of {odd} and {even} slots, 1 - 0.99^32 of the warps,"
    checked(said, got, 27.5, 2e-3)


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "condition, odd, even, wanted",
    [
        pytest.param([1, 0] * 16, 10, 10, 0.5, id="every second lane"),
        pytest.param([1] * 32 + [0] * 32, 10, 10, 1.0, id="every second warp"),
        pytest.param([1] + [0] * 31, 90, 10, 0.125, id="one lane takes the long arm"),
        pytest.param([2] + [0] * 31, 90, 10, 0.125, id="what is not 0 holds"),
        pytest.param([0] * 8, 90, 10, 0.25, id="eight threads"),
        pytest.param([1] * 40 + [0] * 56, 30, 10, 0.6875, id="three unlike warps"),
    ],
)
def test_lanes_wait_while_the_other_arm_runs(condition, odd, even, wanted):
    got = tradeoff.efficiency(condition, odd, even)
    runs = [f"{len([*run])} of {value}" for value, run in groupby(condition)]
    said = ", ".join(runs[:4]) + ", …" * (len(runs) > 4)
    checked(f"efficiency of [{said}], arms of {odd} and {even} slots,", got, wanted)


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "trips, wanted",
    [
        pytest.param([7] * 64, 14, id="all alike"),
        pytest.param([0] * 31 + [100], 100, id="one slow lane"),
        pytest.param([*range(32)] * 3, 93, id="a staircase in each warp"),
        pytest.param([0] * 32, 0, id="nobody"),
        pytest.param([5] * 32 + [9], 14, id="a warp and one thread"),
        pytest.param([], 0, id="no thread"),
    ],
)
def test_a_warp_leaves_its_loop_with_its_last_lane(trips, wanted):
    checked(f"loop_cost of {trips}", tradeoff.loop_cost(trips), wanted)


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("order", ["shuffled", "sorted"])
def test_the_simulator_walks_as_many_trips_as_loop_cost_says(order, rng, profile):
    # Trips in steps of four, as the compiler unrolls: then each four take the same instructions.
    trips = 4 * torch.randint(1, 65, (1024,), generator=rng).to(torch.int32)
    trips = trips.sort().values if order == "sorted" else trips
    issued = [
        profile(lambda t=t: host.walk(t))["walk"].counters.warp_instructions
        for t in (trips, 2 * trips)
    ]
    one = torch.full((32,), 64, dtype=torch.int32)
    each = [profile(lambda t=t: host.walk(t)).counters.warp_instructions for t in (one, 2 * one)]
    added, per_trip = issued[1] - issued[0], (each[1] - each[0]) / 64
    predicted = number("loop_cost", tradeoff.loop_cost(trips.tolist())) * per_trip
    said = f"1024 {order} loops, each made twice as long: {added} more warp instructions"
    # Within 2 %, should a compiler leave a loop otherwise than it goes round.
    assert added == pytest.approx(predicted, rel=0.02), f"{said}; loop_cost says {predicted:g}"


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "condition, odd, even, branching, selecting, wanted",
    [
        pytest.param([1, 0] * 16, 30, 30, 3, 1, "predicate", id="both arms are wanted anyway"),
        pytest.param(([1] * 32 + [0] * 32) * 4, 30, 30, 3, 1, "branch", id="whole warps agree"),
        pytest.param(([1] * 32 + [0] * 32) * 4, 1, 1, 3, 1, "predicate", id="short arms"),
        pytest.param([0] * 31 + [1] + [0] * 224, 40, 8, 3, 1, "branch", id="one warp of eight"),
        pytest.param([1] * 64, 2, 2, 3, 1, "predicate", id="a tie"),
        pytest.param([1] * 32 + [0] * 32, 4, 1, 3, 1, "branch", id="each warp has to select"),
        pytest.param([], 30, 30, 3, 1, "predicate", id="a tie of nobody"),
        pytest.param([1, 0] * 16, 10, 10, 3, 5, "branch", id="selecting costs more"),
        pytest.param([1] * 40, 30, 9, 9, 0, "predicate", id="a tie, the second warp not full"),
        pytest.param([1] * 40, 30, 10, 9, 0, "branch", id="one slot less"),
    ],
)
def test_long_arms_are_worth_a_branch_if_warps_agree(
    condition, odd, even, branching, selecting, wanted
):
    got = tradeoff.cheaper(condition, odd, even, branching, selecting)
    costs = f"arms of {odd} and {even} slots, {branching} to branch, {selecting} to select"
    warps_ = -(-len(condition) // 32)
    said = f"{sum(condition)} of {len(condition)} threads, {warps_} warps, {costs}"
    assert got == wanted, f"{said}: cheaper says {got!r}, not {wanted!r}"
