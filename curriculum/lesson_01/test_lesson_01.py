"""Lesson 01: a launch is a grid of blocks, a block is cut into warps of 32 threads."""

from collections.abc import Iterable
from itertools import product
from numbers import Integral

import pytest
import torch

from curriculum.lesson_01 import host, lattice
from harness.judging.mismatch import Mismatch
from references.execution import launched, members_of, served, threads_of
from references.hardware import THREADS_PER_BLOCK

# Whole warps, a warp and one thread more, less than a warp, a prime, the largest block.
LAUNCHES = [(1, 1), (1, 32), (2, 33), (3, 31), (5, 128), (7, 257), (3, THREADS_PER_BLOCK)]
SHAPES = [(1, 1, 1), (33, 1, 1), (8, 8, 3), (16, 16, 1), (1024, 1, 1), (1, 1, 64), (7, 11, 13)]
SHAPES += [(40, 5, 2)]  # rows that are longer than a warp, and no whole number of warps
SMALL_SHAPES = [shape for shape in product(range(1, 9), repeat=3) if len(set(shape)) > 1]


def parts(call, got, *names):
    """What a function returned, if it is one part for each name."""
    if not isinstance(got, tuple | list) or len(got) != len(names):
        pytest.fail(f"{call} returned {got!r}, not ({', '.join(names)})", pytrace=False)
    return got


def listed(call, got, of_what):
    """What a function returned, as a list, if it is one."""
    if not isinstance(got, Iterable):
        pytest.fail(f"{call} returned {got!r}, not a list of {of_what}", pytrace=False)
    return list(got)


# Task 1: who is this thread?


def check_answers(close, answers, blocks, threads, **expected):
    """Compare what the threads of a launch wrote into the arrays that are named."""
    for name, numbers in expected.items():
        try:
            close.equal(getattr(answers, name), numbers)
        except Mismatch as wrong:
            array = f"`{name}` of {blocks} blocks of {threads} threads"
            raise Mismatch(str(wrong).replace("the result", array, 1)) from None


@pytest.mark.task(1)
@pytest.mark.parametrize(("blocks", "threads"), LAUNCHES)
def test_every_thread_finds_its_own_place(blocks, threads, device, close):
    answers = host.whoami(blocks, threads, device)
    places = torch.arange(blocks * threads, dtype=torch.int32)
    expected = {"block": places // threads, "thread": places % threads}
    check_answers(close, answers, blocks, threads, **expected)


@pytest.mark.task(1)
@pytest.mark.parametrize(("blocks", "threads"), LAUNCHES)
def test_lanes_count_from_zero_again_in_each_block(blocks, threads, device, close):
    answers = host.whoami(blocks, threads, device)
    lanes = torch.arange(threads, dtype=torch.int32).repeat(blocks) % 32
    check_answers(close, answers, blocks, threads, lane=lanes)


@pytest.mark.task(1)
@pytest.mark.parametrize(("blocks", "threads"), LAUNCHES)
def test_a_block_stays_on_one_sm(blocks, threads, device, close):
    answers = host.whoami(blocks, threads, device)
    numbers = torch.arange(blocks, dtype=torch.int32).repeat_interleave(threads)
    sm_of_first_thread = answers.sm.cpu()[::threads].repeat_interleave(threads)
    check_answers(close, answers, blocks, threads, block=numbers, sm=sm_of_first_thread)


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize(("blocks", "threads"), [(4, 32), (3, 33), (2, 1024)])
def test_no_two_threads_write_one_place(blocks, threads, profile):
    whoami = profile(lambda: host.whoami(blocks, threads))["whoami"]
    elements = blocks * threads
    for name in ("block", "thread", "lane", "sm"):
        written = whoami.buffers[name].bytes_written // 4
        said = f"{elements} threads wrote {written} elements of the array `{name}`, not {elements}"
        assert written == elements, f"{said}: did several write the same one, or none at all?"
    stored = whoami.counters.global_store_bytes // 4
    assert stored == 4 * elements, f"{elements} threads stored {stored} numbers: four each?"


@pytest.mark.task(1)
@pytest.mark.simulated
def test_one_thread_more_than_a_warp_issues_everything_twice(profile, close):
    counts = {}
    for threads in (32, 33):
        launches = profile(lambda threads=threads: host.whoami(6, threads))
        places = torch.arange(6 * threads, dtype=torch.int32)
        check_answers(close, launches.result, 6, threads, thread=places % threads)
        counts[threads] = launches["whoami"].counters
    for threads, warps in ((32, 6), (33, 12)):
        got = counts[threads].warps
        assert got == warps, f"6 blocks of {threads} threads: {got} warps, not {warps}"
    one, two = counts[32].warp_instructions, counts[33].warp_instructions
    assert two == 2 * one, f"warps issued {one} instructions for 32 threads a block, {two} for 33"
    for threads, wanted in ((32, 1.0), (33, 33 / 64)):
        got = counts[threads].execution_efficiency
        said = f"{threads} threads a block: {got:.1%} of the lanes were at work, not {wanted:.1%}"
        assert got == wanted, f"{said}: do all threads take the same way?"


@pytest.mark.gpu
@pytest.mark.task(1)
def test_a_large_launch_reaches_nearly_every_sm(device):
    sms = torch.cuda.get_device_properties(device).multi_processor_count
    reached = len(host.whoami(8 * sms, 1024, device).sm.unique())
    assert reached > 0.9 * sms, f"{8 * sms} blocks reached {reached} SMs of {sms}"


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
            got = parts(f"warp_lane({tid})", lattice.warp_lane(tid), "warp", "lane")
            said = f"thread {tid}: (warp, lane) = {tuple(got)}, not {(warp, lane)}"
            assert tuple(got) == (warp, lane), said
            for number in got:
                assert isinstance(number, Integral), f"warp and lane are two ints, not {got}"
            tid += 1


@pytest.mark.task(2)
@pytest.mark.parametrize("block", SHAPES)
def test_the_hardware_hands_out_the_same_lanes(block, device, close):
    predicted = torch.empty(block, dtype=torch.int32)
    for x, y, z in threads_of(block):
        tid = lattice.linear_tid(x, y, z, block)
        assert tid is not None, f"linear_tid({x}, {y}, {z}, {block}) returned None, not a number"
        found = parts(f"warp_lane({tid})", lattice.warp_lane(tid), "warp", "lane")
        predicted[x, y, z] = found[1]
    try:
        close.equal(predicted, host.lanes(block, device).cpu())
    except Mismatch as wrong:
        array = f"your lane of thread [x, y, z] of a {block} block"
        raise Mismatch(str(wrong).replace("the result", array, 1)) from None


# Task 3: who moves together?


def members(block, warp):
    got = lattice.warp_members(block, warp)
    return listed(f"warp_members({block}, {warp})", got, "threads (x, y, z)")


def check_warp(block, warp, expected):
    got, threads = members(block, warp), len(threads_of(block))
    warps = -(-threads // 32)
    said = f"warp {warp} of a {block} block, which has {threads} threads, {warps} warps"
    count, wanted = len(got), len(expected)
    assert count == wanted, f"{said}: {count} members, not {wanted}"
    for lane, (ours, wanted) in enumerate(zip(got, expected, strict=True)):
        assert ours == wanted, f"{said}: lane {lane} is {ours}, not {wanted}"


@pytest.mark.task(3)
def test_a_warp_of_a_square_block_is_two_rows():
    check_warp((16, 16, 1), 3, [(x, y, 0) for y in (6, 7) for x in range(16)])


@pytest.mark.task(3)
def test_as_many_warps_can_have_other_members():
    check_warp((32, 4, 1), 0, [(x, 0, 0) for x in range(32)])  # 32 neighbours in one row
    check_warp((4, 32, 1), 0, [(x, y, 0) for y in range(8) for x in range(4)])  # a patch of 4 by 8


@pytest.mark.task(3)
@pytest.mark.parametrize("block", [*SHAPES, (8, 4, 2), (5, 7, 3), (32, 32, 1)])
def test_the_warps_of_a_block_are_its_threads_in_order(block):
    warps = -(-len(threads_of(block)) // 32)
    for warp in (*range(warps + 1), 40):  # the last two are no warps of this block
        check_warp(block, warp, members_of(block, warp))


@pytest.mark.task(3)
def test_every_small_shape_is_cut_into_the_right_warps():
    for block in SMALL_SHAPES:
        for warp in range(-(-len(threads_of(block)) // 32) + 1):
            check_warp(block, warp, members_of(block, warp))


# Task 4: how large a launch?


def shape_of(n, threads):
    got = lattice.launch_shape(n, threads)
    return parts(f"launch_shape({n}, {threads})", got, "blocks", "warps", "idle lanes")


@pytest.mark.task(4)
@pytest.mark.parametrize("threads", [1, 31, 32, 33, 96, 100, 256, 1000, 1024])
def test_a_launch_has_just_enough_blocks(threads):
    for n in (0, 1, 2, 31, 32, 33, threads - 1, threads, threads + 1, 997, 4096):
        numbers = zip(shape_of(n, threads), launched(n, threads), strict=True)
        for name, (got, counted) in zip(("blocks", "warps", "idle lanes"), numbers, strict=True):
            said = f"n = {n}, {threads} threads a block: {name} is {got}, not {counted}"
            assert got == counted, said


@pytest.mark.task(4)
@pytest.mark.timeout(10)  # for those who count up to a trillion
@pytest.mark.parametrize("n", [2**31 - 1, 2**31, 2**40 - 1, 2**40, 2**40 + 1, 2**60 + 1])
@pytest.mark.parametrize("threads", [32, 96, 33])
def test_a_launch_of_a_trillion_elements_is_exact(n, threads):
    blocks, warps, idle = shape_of(n, threads)
    said = f"n = {n}, {threads} threads a block: "
    assert blocks is not None, f"{said}blocks is None"
    spare = blocks * threads - n
    assert spare >= 0, f"{said}{blocks} blocks are too few, by {-spare}: did a float round?"
    assert spare < threads, f"{said}{blocks} blocks, and a whole one has nothing to do"
    wanted = blocks * ((threads + 31) // 32)
    assert warps == wanted, f"{said}warps is {warps}, not {wanted} for {blocks} blocks"
    assert idle == 32 * warps - n, f"{said}idle lanes is {idle}, not {32 * warps - n}"
    for number in (blocks, warps, idle):
        assert isinstance(number, Integral), f"{said}a float rounds sooner or later: {number!r}"


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize(
    ("n", "threads"), [(1, 1), (100, 32), (100, 33), (1000, 256), (130, 1000), (1025, 1024)]
)
def test_the_simulator_counts_the_warps_that_were_predicted(n, threads, profile):
    blocks = -(-n // threads)
    counted = profile(lambda: host.spin(blocks, threads, 0, "cpu"))["spin"].counters
    numbers = (counted.blocks, counted.warps, 32 * counted.warps - n)
    predicted = zip(("blocks", "warps", "idle lanes"), shape_of(n, threads), numbers, strict=True)
    for name, got, number in predicted:
        said = f"n = {n}, {threads} threads a block: {name} is {got}; the simulator counts {number}"
        assert got == number, said


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("threads", [1, 31, 33, 48, 100, 1000])
def test_a_ragged_block_wastes_the_lanes_that_were_predicted(threads, profile):
    counted = profile(lambda: host.lanes((threads, 1, 1)))["lanes"].counters
    wasted = round((1 - counted.execution_efficiency) * 32 * counted.warps)
    _, _, idle = shape_of(threads, threads)
    assert idle == wasted, f"one block of {threads} threads: {idle} idle lanes, not {wasted}"


# Task 5: who runs where? (stretch)


def check_schedule(durations, sms, per_sm, expected):
    given = list(durations)
    call = f"assign_blocks of {len(given)} blocks, {sms} SMs, {per_sm} blocks an SM"
    got = listed(call, lattice.assign_blocks(given, sms, per_sm), "(SM, start, end)")
    assert given == durations, "the list of durations is the caller's, and has changed"
    count, wanted = len(got), len(durations)
    assert count == wanted, f"{call}: {count} entries, not {wanted}"
    for block, (ours, wanted) in enumerate(zip(got, expected, strict=True)):
        entry = parts(f"{call}: block {block}", ours, "SM", "start", "end")
        said = f"block {block} of {len(given)}: (SM, start, end) = {tuple(entry)}, not {wanted}"
        assert tuple(entry) == wanted, f"{said} ({call})"


@pytest.mark.task(5)
@pytest.mark.stretch
def test_the_first_blocks_spread_over_the_sms():
    expected = [(0, 0.0, 1.0), (1, 0.0, 1.0), (2, 0.0, 1.0), (0, 0.0, 1.0), (1, 0.0, 1.0)]
    check_schedule([1.0] * 5, 3, 2, expected)


@pytest.mark.task(5)
@pytest.mark.stretch
def test_one_long_block_does_not_hold_up_the_others():
    others = [(1, 0.0, 1.0), (1, 1.0, 3.0), (1, 3.0, 4.0), (1, 4.0, 5.0), (1, 5.0, 8.0)]
    check_schedule([8.0, 1.0, 2.0, 1.0, 1.0, 3.0], 2, 1, [(0, 0.0, 8.0), *others])


@pytest.mark.task(5)
@pytest.mark.stretch
@pytest.mark.parametrize(("sms", "per_sm"), [(1, 1), (3, 1), (1, 4), (4, 3), (132, 2)])
def test_every_block_takes_the_first_free_slot(sms, per_sm):
    for blocks in (0, 1, 2, 11, 97):
        # Quarters add up without rounding, and give many ties.
        durations = [(7 * block % 11 + 1) / 4 for block in range(blocks)]
        check_schedule(durations, sms, per_sm, served(durations, sms, per_sm))
