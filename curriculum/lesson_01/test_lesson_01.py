"""Lesson 01: a launch is a grid of blocks, a block is cut into warps of 32 threads."""

from itertools import product
from numbers import Integral

import pytest
import torch

from curriculum.lesson_01 import host, lattice

# Whole warps, a warp and one thread more, less than a warp, a prime, the largest block.
LAUNCHES = [(1, 1), (1, 32), (2, 33), (3, 31), (5, 128), (7, 257), (3, 1024)]
SHAPES = [(1, 1, 1), (33, 1, 1), (8, 8, 3), (16, 16, 1), (1024, 1, 1), (1, 1, 64), (7, 11, 13)]
SHAPES += [(40, 5, 2)]  # rows that are longer than a warp, and no whole number of warps
SMALL_SHAPES = [shape for shape in product(range(1, 9), repeat=3) if len(set(shape)) > 1]


def threads_of(block):
    """The threads of a block, in the order in which CUDA numbers them."""
    columns, rows, layers = block
    return [(x, y, z) for z in range(layers) for y in range(rows) for x in range(columns)]


# Task 1: who is this thread?


@pytest.mark.task(1)
@pytest.mark.parametrize(("blocks", "threads"), LAUNCHES)
def test_every_thread_finds_its_own_place(blocks, threads, device, close):
    answers = host.whoami(blocks, threads, device)
    places = torch.arange(blocks * threads, dtype=torch.int32)
    close.equal(answers.block, places // threads)
    close.equal(answers.thread, places % threads)


@pytest.mark.task(1)
@pytest.mark.parametrize(("blocks", "threads"), LAUNCHES)
def test_lanes_count_from_zero_again_in_each_block(blocks, threads, device, close):
    answers = host.whoami(blocks, threads, device)
    close.equal(answers.lane, torch.arange(threads, dtype=torch.int32).repeat(blocks) % 32)


@pytest.mark.task(1)
@pytest.mark.parametrize(("blocks", "threads"), LAUNCHES)
def test_a_block_stays_on_one_sm(blocks, threads, device, close):
    answers = host.whoami(blocks, threads, device)
    close.equal(answers.block, torch.arange(blocks, dtype=torch.int32).repeat_interleave(threads))
    first_of_block = answers.sm.cpu()[::threads]
    close.equal(answers.sm, first_of_block.repeat_interleave(threads))


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize(("blocks", "threads"), [(4, 32), (3, 33), (2, 1024)])
def test_no_two_threads_write_one_place(blocks, threads, profile):
    whoami = profile(lambda: host.whoami(blocks, threads))["whoami"]
    for name in ("block", "thread", "lane", "sm"):
        written = whoami.buffers[name].bytes_written // 4
        assert written == blocks * threads, f"{blocks * threads} threads wrote {written} of {name}"
    stored = whoami.counters.global_store_bytes // 4
    assert stored == 4 * blocks * threads, f"{blocks * threads} threads stored {stored} numbers"


@pytest.mark.task(1)
@pytest.mark.simulated
def test_one_thread_more_than_a_warp_issues_everything_twice(profile, close):
    counts = {}
    for threads in (32, 33):
        answers = []
        launches = profile(lambda t=threads, kept=answers: kept.append(host.whoami(6, t)))
        places = torch.arange(6 * threads, dtype=torch.int32)
        close.equal(answers[0].thread, places % threads)
        counts[threads] = launches["whoami"].counters
    assert counts[33].warps == 2 * counts[32].warps == 12
    assert counts[33].warp_instructions == 2 * counts[32].warp_instructions
    assert counts[32].execution_efficiency == 1.0
    assert counts[33].execution_efficiency == 33 / 64


@pytest.mark.gpu
@pytest.mark.task(1)
def test_a_large_launch_reaches_nearly_every_sm(device):
    sms = torch.cuda.get_device_properties(device).multi_processor_count
    answers = host.whoami(8 * sms, 1024, device)
    assert len(answers.sm.unique()) > 0.9 * sms


# Task 2: the number of a thread, its warp, its lane


@pytest.mark.task(2)
@pytest.mark.parametrize("block", SHAPES)
def test_threads_are_numbered_x_first_then_y_then_z(block):
    for number, (x, y, z) in enumerate(threads_of(block)):
        got = lattice.linear_tid(x, y, z, block)
        assert got == number, f"thread {(x, y, z)} of a {block} block: {got}, not {number}"
        assert isinstance(got, Integral), f"a thread's number is an int, not {got!r}"


@pytest.mark.task(2)
def test_a_warp_is_thirty_two_numbers_in_a_row():
    tid = 0
    for warp in range(32):
        for lane in range(32):
            got = lattice.warp_lane(tid)
            assert got == (warp, lane), f"thread {tid}: (warp, lane) = {got}, not {(warp, lane)}"
            assert all(isinstance(n, Integral) for n in got), f"two ints, not {got}"
            tid += 1


@pytest.mark.task(2)
@pytest.mark.parametrize("block", SHAPES)
def test_the_hardware_hands_out_the_same_lanes(block, device, close):
    predicted = torch.empty(block, dtype=torch.int32)
    for x, y, z in threads_of(block):
        predicted[x, y, z] = lattice.warp_lane(lattice.linear_tid(x, y, z, block))[1]
    close.equal(host.lanes(block, device), predicted)


# Task 3: who moves together?


@pytest.mark.task(3)
def test_a_warp_of_a_square_block_is_two_rows():
    rows = [(x, y, 0) for y in (6, 7) for x in range(16)]
    assert list(lattice.warp_members((16, 16, 1), 3)) == rows


@pytest.mark.task(3)
def test_as_many_warps_can_have_other_members():
    flat, tall = lattice.warp_members((32, 4, 1), 0), lattice.warp_members((4, 32, 1), 0)
    assert {y for _, y, _ in flat} == {0}  # 32 neighbours in one row
    assert {y for _, y, _ in tall} == set(range(8))  # a patch of 4 by 8
    assert len(flat) == len(tall) == 32


def check_warps(block):
    threads = threads_of(block)
    warps = -(-len(threads) // 32)
    for warp in (*range(warps + 1), 40):  # the last two are no warps of this block
        got, expected = list(lattice.warp_members(block, warp)), threads[32 * warp : 32 * warp + 32]
        said = f"warp {warp} of a {block} block, which has {len(threads)} threads, {warps} warps"
        assert len(got) == len(expected), f"{said}: {len(got)} members, not {len(expected)}"
        for lane, pair in enumerate(zip(got, expected, strict=True)):
            assert pair[0] == pair[1], f"{said}: lane {lane} is {pair[0]}, not {pair[1]}"


@pytest.mark.task(3)
@pytest.mark.parametrize("block", [*SHAPES, (8, 4, 2), (5, 7, 3), (32, 32, 1)])
def test_the_warps_of_a_block_are_its_threads_in_order(block):
    check_warps(block)


@pytest.mark.task(3)
def test_every_small_shape_is_cut_into_the_right_warps():
    for block in SMALL_SHAPES:
        check_warps(block)


# Task 4: how large a launch?


def counted_launch(n, threads):
    """launch_shape by counting: add blocks until every element has a thread."""
    blocks = warps = 0
    while blocks * threads < n:
        blocks += 1
        warps += len(range(0, threads, 32))
    return blocks, warps, 32 * warps - n


@pytest.mark.task(4)
@pytest.mark.parametrize("threads", [1, 31, 32, 33, 96, 100, 256, 1000, 1024])
def test_a_launch_has_just_enough_blocks(threads):
    for n in (0, 1, 2, 31, 32, 33, threads - 1, threads, threads + 1, 997, 4096):
        names = ("blocks", "warps", "idle lanes")
        shape = lattice.launch_shape(n, threads)
        assert len(shape) == 3, f"blocks, warps and idle lanes are three numbers, not {shape}"
        numbers = zip(shape, counted_launch(n, threads), strict=True)
        for name, (got, counted) in zip(names, numbers, strict=True):
            assert got == counted, (
                f"{n} elements, {threads} threads a block: {got} {name}, not {counted}"
            )


@pytest.mark.task(4)
@pytest.mark.timeout(10)  # for those who count up to a trillion
@pytest.mark.parametrize("n", [2**31 - 1, 2**31, 2**40 - 1, 2**40, 2**40 + 1, 2**60 + 1])
@pytest.mark.parametrize("threads", [32, 96, 33])
def test_a_launch_of_a_trillion_elements_is_exact(n, threads):
    blocks, warps, idle = lattice.launch_shape(n, threads)
    assert blocks * threads >= n, f"{n - blocks * threads} threads too few: a float rounded?"
    assert blocks * threads < n + threads, "a whole block has nothing to do"
    assert warps == blocks * ((threads + 31) // 32)
    assert idle == 32 * warps - n
    for number in (blocks, warps, idle):
        assert isinstance(number, Integral), f"a float rounds sooner or later: {number!r}"


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize(
    ("n", "threads"), [(1, 1), (100, 32), (100, 33), (1000, 256), (130, 1000), (1025, 1024)]
)
def test_the_simulator_counts_the_warps_that_were_predicted(n, threads, profile):
    blocks, warps, idle = lattice.launch_shape(n, threads)
    counted = profile(lambda: host.whoami(blocks, threads))["whoami"].counters
    assert (counted.blocks, counted.warps) == (blocks, warps)
    assert 32 * counted.warps - n == idle


# Task 5: who runs where? (stretch)


def served_by_hand(durations, sms, per_sm):
    """Give each block, in order, the first place to be free: look at all of them every time."""
    places = {(place, sm): 0.0 for place in range(per_sm) for sm in range(sms)}
    schedule = []
    for duration in durations:
        place, sm = min(places, key=lambda key: (places[key], key))
        start = places[place, sm]
        places[place, sm] = start + duration
        schedule.append((sm, start, start + duration))
    return schedule


@pytest.mark.task(5)
@pytest.mark.stretch
def test_the_first_blocks_spread_over_the_sms():
    assert lattice.assign_blocks([1.0] * 5, sms=3, per_sm=2) == [
        (0, 0.0, 1.0), (1, 0.0, 1.0), (2, 0.0, 1.0), (0, 0.0, 1.0), (1, 0.0, 1.0)
    ]  # fmt: skip


@pytest.mark.task(5)
@pytest.mark.stretch
def test_one_long_block_does_not_hold_up_the_others():
    schedule = lattice.assign_blocks([8.0, 1.0, 2.0, 1.0, 1.0, 3.0], sms=2, per_sm=1)
    assert [sm for sm, _, _ in schedule] == [0, 1, 1, 1, 1, 1]
    assert max(end for _, _, end in schedule) == 8.0


@pytest.mark.task(5)
@pytest.mark.stretch
@pytest.mark.parametrize(("sms", "per_sm"), [(1, 1), (3, 1), (1, 4), (4, 3), (132, 2)])
def test_every_block_takes_the_first_free_place(sms, per_sm):
    for blocks in (0, 1, 2, 11, 97):
        # Quarters add up without rounding, and give many ties.
        durations = [(7 * block % 11 + 1) / 4 for block in range(blocks)]
        given = list(durations)
        got = lattice.assign_blocks(given, sms, per_sm)
        assert given == durations, "the list of durations is the caller's, and has changed"
        assert len(got) == blocks, f"{len(got)} entries for {blocks} blocks"
        for block, pair in enumerate(zip(got, served_by_hand(durations, sms, per_sm), strict=True)):
            said = f"block {block} of {blocks}: (SM, start, end) = {pair[0]}, not {pair[1]}"
            assert pair[0] == pair[1], said
