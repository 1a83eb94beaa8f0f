"""Lesson 06: branches that cost both arms, loops that wait for one lane, barriers for all."""

import math
import re

import pytest
import torch

from curriculum.lesson_06 import host
from harness import cuda
from references import warps
from references.vectors import spread

# one element, the edges of a warp and of a block of 64, a prime, several blocks
SIZES = [1, 2, 3, 31, 32, 33, 63, 64, 65, 997, 1024]


def integers(n, rng, device="cpu", low=-(2**31), high=2**31):
    return torch.randint(low, high, (n,), generator=rng).to(torch.int32).to(device)


# --- Task 1: the branch ---------------------------------------------------------------------------


@pytest.mark.task(1)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("threads", [64, 192])
def test_each_element_goes_through_its_own_arm(n, threads, device, rng, close):
    x = integers(n, rng, device)
    y = host.branch("branch_aligned", x, 5, threads)
    close.equal(y, warps.scrambled_by_parity(x, 5))


@pytest.mark.task(1)
@pytest.mark.parametrize("threads", [64, 128, 256, 1024])
@pytest.mark.parametrize("trips", [0, 1, 17])
def test_aligned_is_what_parity_is(threads, trips, device, rng, close):
    x = integers(3000, rng, device)
    got = host.branch("branch_aligned", x, trips, threads)
    close.equal(got, host.branch("branch_parity", x, trips, threads))


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("n, threads", [(64, 64), (768, 192), (2048, 1024)])
def test_no_warp_goes_both_ways(n, threads, rng, profile, close):
    x = integers(n, rng)
    launches = profile(lambda: host.branch("branch_aligned", x, 16, threads))
    close.equal(launches.result, warps.scrambled_by_parity(x, 16))
    counters = launches["branch_aligned"].counters
    said = f"n = {n}, {counters.warps} warps in blocks of {threads}"
    parted, lanes = counters.divergent_branches, counters.execution_efficiency
    assert parted == 0, f"{said}: warps part at a branch {parted} times, not 0"
    assert lanes >= 0.95, f"{said}: {32 * lanes:.1f} of 32 lanes at work on average, not 30.4"


@pytest.mark.task(1)
@pytest.mark.simulated
def test_one_more_trip_costs_half_of_what_it_costs_by_parity(rng, profile, close):
    # Between 64 and 128 trips the rest of the kernel is the same, so the difference is the arms.
    x, issued = integers(512, rng), {}
    for kernel in ("branch_parity", "branch_aligned"):
        for trips in (64, 128):
            launches = profile(lambda k=kernel, t=trips: host.branch(k, x, t, 128))
            close.equal(launches.result, warps.scrambled_by_parity(x, trips))
            issued[kernel, trips] = launches[kernel].counters.warp_instructions
    parity, aligned = (
        issued[kernel, 128] - issued[kernel, 64] for kernel in ("branch_parity", "branch_aligned")
    )
    said = f"64 more trips: {aligned} more warp instructions, by parity {parity}"
    assert 2 * aligned == parity, f"{said}; half as many are enough"


@pytest.mark.task(1)
@pytest.mark.simulated
def test_aligning_reads_and_writes_each_element_once(rng, profile, close):
    x = integers(640, rng)
    launches = profile(lambda: host.branch("branch_aligned", x, 3, 64))
    close.equal(launches.result, warps.scrambled_by_parity(x, 3))
    counters = launches["branch_aligned"].counters
    loaded, stored = counters.global_load_bytes, counters.global_store_bytes
    assert loaded == 2560, f"n = 640: {loaded} bytes of loads requested at L1, not 2560"
    assert stored == 2560, f"n = 640: {stored} bytes of stores requested at L1, not 2560"


# --- Task 2: the loop -----------------------------------------------------------------------------


@pytest.mark.task(2)
@pytest.mark.parametrize("n", SIZES)
def test_each_number_counts_its_own_steps(n, device, rng, close):
    x = integers(n, rng, device, low=1, high=100_000)
    close.equal(host.collatz_steps(x, threads=64), warps.collatz(x, 10_000))


@pytest.mark.task(2)
def test_no_number_below_one_ever_comes_to_one(device, close):
    x = torch.tensor([0, -1, -7, -(2**31), 1, 2, 3, 4], dtype=torch.int32, device=device)
    wanted = torch.tensor([-1, -1, -1, -1, 0, 1, 7, 2], dtype=torch.int32)
    close.equal(host.collatz_steps(x), wanted)


@pytest.mark.task(2)
@pytest.mark.parametrize("start", [113_383, 159_487, 1_410_123_943, 1_674_652_263, 2**31 - 1])
def test_a_number_may_rise_beyond_32_bits_on_its_way(start, device, close):
    # 113,383 rises to 2.5 * 10^9, 1,410,123,943 to 7.1 * 10^18; 1,674,652,263 takes 1,008 steps
    x = torch.full((32,), start, dtype=torch.int32, device=device)
    close.equal(host.collatz_steps(x), warps.collatz(x, 10_000))


@pytest.mark.task(2)
@pytest.mark.parametrize("cap", [0, 1, 110, 111, 112])
def test_a_number_that_needs_more_steps_than_the_cap_gives_up(cap, device, close):
    x = torch.tensor([27, 1, 2, 0, 31, 6], dtype=torch.int32, device=device)  # 27 needs 111
    close.equal(host.collatz_steps(x, cap), warps.collatz(x, cap))


@pytest.mark.task(2)
@pytest.mark.simulated
def test_numbers_sorted_by_steps_keep_their_lanes_busy(rng, profile, close):
    x = torch.randperm(4096, generator=rng).to(torch.int32) + 1
    steps = warps.collatz(x, 10_000)
    lanes = {}
    for order, numbers in {
        "shuffled": x,
        "sorted by value": x.sort().values,
        "sorted by steps": x[steps.argsort()],
    }.items():
        launches = profile(lambda numbers=numbers: host.collatz_steps(numbers))
        close.equal(launches.result, warps.collatz(numbers, 10_000))
        lanes[order] = launches["collatz_steps"].counters.execution_efficiency
    said = ", ".join(f"{order} {share:.2f}" for order, share in lanes.items())
    said = f"1 to 4096, the share of lanes at work: {said}"
    assert lanes["sorted by steps"] >= 0.95, f"{said}; one step a trip reaches 0.98 where sorted"
    assert lanes["shuffled"] <= 0.6, f"{said}; a warp cannot be so busy with unlike numbers"


# --- Task 3: the vote -----------------------------------------------------------------------------


@pytest.mark.task(3)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("threads", [32, 96])
def test_each_warp_counts_its_own_elements(n, threads, device, rng, close):
    x = integers(n, rng, device, low=-3, high=5)
    close.equal(host.vote_count(x, threads), warps.counted(x))


@pytest.mark.task(3)
@pytest.mark.parametrize("value", [1, 0, -1, 2**31 - 1, -(2**31)])
def test_all_or_none_are_counted(value, device, close):
    x = torch.full((75,), value, dtype=torch.int32, device=device)
    close.equal(host.vote_count(x), warps.counted(x))


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [33, 1000])
def test_a_warp_votes_once_and_writes_once(n, rng, profile, close):
    x = integers(n, rng, low=-3, high=5)
    launches = profile(lambda: host.vote_count(x, 64))
    close.equal(launches.result, warps.counted(x))
    counters, warps_ = launches["vote_count"].counters, -(-n // 32)
    said = f"n = {n}, {warps_} warps with an element"
    loaded, stored = counters.global_load_bytes, counters.global_store_bytes
    assert loaded == 4 * n, f"{said}: {loaded} bytes of loads requested at L1, not {4 * n}"
    assert stored == 4 * warps_, f"{said}: {stored} bytes of stores at L1, not 4 a warp"
    stores = counters.global_store_requests
    assert stores == warps_, f"{said}: {stores} store requests; one lane a warp writes"
    votes = counters.votes
    assert warps_ <= votes <= counters.warps, f"{said}: {votes} votes; one a warp is enough"
    code = re.sub(r"//[^\n]*", "", cuda.module(__file__, "kernel.cu").source)
    promised = "__activemask" not in code
    assert promised, "__activemask() says who is here, not who will come: name all 32 in the mask"
    others = counters.shuffles + counters.shared_load_requests
    assert others == 0, f"{said}: {others} shuffles and shared loads; the vote alone has the answer"


# --- Task 4: the shuffle --------------------------------------------------------------------------

BLOCKS = [(32,), (96,), (8, 8), (24, 4)]


def checked_shuffles(kernel, counters, n):
    """One shuffle a warp, and each element read and written once."""
    warps_ = -(-n // 32)
    said = f"{kernel}, n = {n}, {warps_} warps with an element"
    shuffles = counters.shuffles
    assert warps_ <= shuffles <= counters.warps, f"{said}: {shuffles} shuffles; one a warp, no more"
    loaded, stored = counters.global_load_bytes, counters.global_store_bytes
    assert loaded == 4 * n, f"{said}: {loaded} bytes of loads requested at L1, not {4 * n}"
    assert stored == 4 * n, f"{said}: {stored} bytes of stores requested at L1, not {4 * n}"


@pytest.mark.task(4)
@pytest.mark.parametrize("n", [*SIZES, 3000])
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_the_first_lane_speaks_for_its_warp(n, block, device, rng, close):
    for size in (n, n + 2):  # one element alone has nowhere to go
        x = spread(size, rng, device)
        before = x.clone()
        close.equal(host.broadcast_first(x, block), warps.spread_first(before))


@pytest.mark.task(4)
@pytest.mark.parametrize("shift", [1, 5, 0, -1, 31, 32, 33, -40, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("n", [1, 3, 32, 63, 997])
def test_the_lanes_of_a_warp_move_round(n, shift, device, rng, close):
    for size, by in ((n, shift), (40, 1)):  # whole turns move nothing; the second always does
        x = spread(size, rng, device)
        before = x.clone()
        close.equal(host.rotate_lanes(x, by), warps.rotated(before, by))


@pytest.mark.task(4)
def test_nan_and_infinity_move_as_all_others_do(device, close):
    x = torch.tensor([math.nan, 1.0, math.inf, 2.0, -math.inf] * 9, device=device)
    close.equal(host.broadcast_first(x.clone()), warps.spread_first(x))
    close.equal(host.rotate_lanes(x.clone(), 1), warps.rotated(x, 1))


@pytest.mark.task(4)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_of_two_dimensions_has_the_same_warps(block, device, rng, close):
    x = spread(3000, rng, device)
    before = x.clone()
    close.equal(host.rotate_lanes(x, 3, block), warps.rotated(before, 3))


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [33, 1000])
def test_lanes_talk_through_registers(n, rng, profile, close):
    x = spread(n, rng)
    before = x.clone()
    launches = profile(lambda: host.broadcast_first(x, (64,)))
    close.equal(launches.result, warps.spread_first(before))
    checked_shuffles("broadcast_first", launches["broadcast_first"].counters, n)
    before = x.copy_(before.flip(0)).clone()
    launches = profile(lambda: host.rotate_lanes(x, -7, (64,)))
    close.equal(launches.result, warps.rotated(before, -7))
    checked_shuffles("rotate_lanes", launches["rotate_lanes"].counters, n)


# --- Task 5: the barrier --------------------------------------------------------------------------


def rings(n, rng, device="cpu", most=6):
    return spread(n, rng, device), integers(n, rng, device, low=0, high=most + 1)


@pytest.mark.task(5)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("threads", [32, 64])
def test_each_element_settles_for_its_own_rounds(n, threads, device, rng, close):
    x, rounds = rings(n, rng, device)
    close(host.settle(x, rounds, threads), warps.settled, x, rounds, threads)


@pytest.mark.task(5)
@pytest.mark.parametrize("most", [0, 1, 9, 33])
def test_blocks_differ_in_their_rounds(most, device, rng, close):
    x, rounds = rings(1000, rng, device)
    rounds[:128] = 0
    rounds[128:256] = most
    rounds[256] = most
    rounds[300:] = rounds[300:].clamp(max=most)
    rounds[257:300] = 0
    close(host.settle(x, rounds, 128), warps.settled, x, rounds, 128)


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [64, 150])
def test_every_thread_comes_to_every_barrier(n, rng, profile, close):
    x, rounds = rings(n, rng)
    rounds[0] = 6
    launches = profile(lambda: host.settle(x, rounds, 64))
    close(launches.result, warps.settled, x, rounds, 64)
    kernel = launches["settle"]
    said = f"n = {n}, blocks of 64, up to 6 rounds"
    assert not kernel.notes, f"{said}: {kernel.notes[0]}. Keep every thread until the last barrier"
    each = kernel.counters.barriers / kernel.counters.warps
    assert 7 <= each <= 20, f"{said}: {each:g} barriers a warp; two a round, and one before, do"
    loaded = kernel.counters.global_load_bytes
    assert loaded <= 8 * n, f"{said}: {loaded} bytes of loads requested at L1; {8 * n} are enough"


# --- The host, supplied ---------------------------------------------------------------------------


@pytest.mark.simulated
def test_nothing_is_launched_for_no_elements(close):
    none, no_floats = torch.empty(0, dtype=torch.int32), torch.empty(0)
    close.equal(host.collatz_steps(none), none)
    close.equal(host.vote_count(none), none)
    close.equal(host.broadcast_first(no_floats.clone()), no_floats)
    close.equal(host.rotate_lanes(no_floats.clone(), 3), no_floats)
    close.equal(host.settle(no_floats, none), no_floats)
    close.equal(host.warp_compact(no_floats, no_floats.clone()), none)
