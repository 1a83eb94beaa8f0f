"""Lesson 08: the budgets of an SM, and the blocks that fit into them."""

from dataclasses import replace
from random import Random

import pytest

from curriculum.lesson_08 import budget
from curriculum.lesson_08.budget import Residency
from harness.launching.resources import Resources
from references.hardware import GPUS, H200, KIB, RTX_3090, RTX_4090
from references.residency import filled

ENDLESS = 1 << 30  # of every budget but one


def checked(call, got, wanted):
    """Check a number of blocks."""
    if isinstance(got, bool) or not isinstance(got, int):
        pytest.fail(f"{call} returned {got!r}; blocks are counted in ints", pytrace=False)
    assert got == wanted, f"{call} is {got}, not {wanted}"


# --- Task 1: the three limits ---------------------------------------------------------------------


@pytest.mark.task(1)
@pytest.mark.parametrize(
    "threads, blocks",
    [(1, 64), (31, 64), (32, 64), (33, 32), (64, 32), (96, 21), (255, 8), (256, 8), (257, 7)]
    + [(768, 2), (1000, 2), (1023, 2), (1024, 2), (1025, 0), (2048, 0)],
)
def test_a_started_warp_takes_a_whole_place(threads, blocks):
    got = budget.blocks_by_warps(H200, threads)
    checked(f"blocks_by_warps(H200, {threads})", got, blocks)


@pytest.mark.task(1)
@pytest.mark.parametrize("gpu", [RTX_3090, RTX_4090], ids=["rtx_3090", "rtx_4090"])
def test_another_gpu_has_other_warp_places(gpu):
    for threads in (32, 256, 512, 1024):
        got, wanted = budget.blocks_by_warps(gpu, threads), 48 * 32 // threads
        checked(f"blocks_by_warps({gpu.name}, {threads})", got, wanted)


@pytest.mark.task(1)
@pytest.mark.parametrize(
    "threads, registers, blocks",
    [
        (256, 32, 8),
        (256, 33, 6),  # 33 are handed out as 40
        (256, 40, 6),
        (256, 64, 4),
        (256, 65, 3),
        (1024, 64, 1),
        (1024, 65, 0),  # not even one: it cannot be launched
        (32, 1, 256),
        (33, 32, 32),  # two warps, of which one has a single thread
        (64, 255, 4),
        (64, 256, 0),  # no instruction can name a 256th register
        (32, 104, 16),  # in one pool it would be 19, but each quarter holds 4 warps
        (32, 152, 12),
        (160, 96, 4),
        (512, 63, 2),
    ],
)
def test_registers_come_in_pieces_from_one_quarter(threads, registers, blocks):
    got = budget.blocks_by_registers(H200, threads, registers)
    checked(f"blocks_by_registers(H200, {threads}, {registers})", got, blocks)


@pytest.mark.task(1)
def test_every_number_of_registers_fits_as_often_as_the_quarters_hold_it():
    sm = replace(H200, warps_per_sm=ENDLESS, blocks_per_sm=ENDLESS, shared_bytes_per_sm=ENDLESS)
    for threads in (32, 64, 96, 160, 256, 352, 1024):
        for registers in (*range(1, 256, 7), 80, 88, 168, 255, 256):
            wanted = filled(sm, threads, registers)[0]
            got = budget.blocks_by_registers(H200, threads, registers)
            checked(f"blocks_by_registers(H200, {threads}, {registers})", got, wanted)


@pytest.mark.task(1)
def test_half_the_registers_hold_half_the_warps():
    half = replace(H200, registers_per_sm=32_768)
    for threads, registers, blocks in ((256, 32, 4), (32, 104, 8), (32, 255, 4), (1024, 33, 0)):
        got = budget.blocks_by_registers(half, threads, registers)
        call = f"blocks_by_registers(an SM of 32,768 registers, {threads}, {registers})"
        checked(call, got, blocks)


@pytest.mark.task(1)
@pytest.mark.parametrize(
    "gpu, shared_bytes, blocks",
    [
        (H200, 0, 228),  # a block that asks for nothing takes the system's KiB
        (H200, 1, 202),  # and 128 bytes more
        (H200, 128, 202),
        (H200, 129, 182),
        (H200, 48 * KIB, 4),
        (H200, 100 * KIB, 2),
        (H200, 113 * KIB, 2),
        (H200, 113 * KIB + 1, 1),
        (H200, 227 * KIB, 1),
        (H200, 227 * KIB + 1, 0),  # more than one block may have
        (RTX_4090, 48 * KIB, 2),
        (RTX_4090, 99 * KIB, 1),
        (RTX_4090, 100 * KIB, 0),
    ],
)
def test_each_block_costs_its_shared_memory_and_the_systems(gpu, shared_bytes, blocks):
    got = budget.blocks_by_shared(gpu, shared_bytes)
    checked(f"blocks_by_shared({gpu.name}, {shared_bytes})", got, blocks)


# --- Task 2: all of them together -----------------------------------------------------------------


def checked_residency(gpu, threads, registers, shared_bytes, wanted):
    """Compare with (blocks, warps, limiters)."""
    call = f"occupancy({gpu.name}, {threads} threads, {registers} registers, {shared_bytes} bytes)"
    got = budget.occupancy(gpu, threads, registers, shared_bytes)
    if not isinstance(got, Residency):
        pytest.fail(f"{call} returned {got!r}, which is no Residency", pytrace=False)
    blocks, warps, limiters = wanted
    assert got.blocks == blocks, f"{call}: {got.blocks} blocks, not {blocks}"
    assert got.warps == warps, f"{call}: {got.warps} warps, not {warps}"
    kind = type(got.limiters).__name__
    assert isinstance(got.limiters, tuple), f"{call}: limiters are a {kind}, not a tuple"
    assert got.limiters == limiters, f"{call}: limiters are {got.limiters}, not {limiters}"
    share = warps / gpu.warps_per_sm
    assert got.fraction == pytest.approx(share), f"{call}: fraction {got.fraction}, not {share}"


@pytest.mark.task(2)
@pytest.mark.parametrize(
    "threads, registers, shared_bytes, blocks, warps, limiters",
    [
        (256, 32, 0, 8, 64, ("warps", "registers")),
        (256, 33, 0, 6, 48, ("registers",)),
        (256, 128, 0, 2, 16, ("registers",)),
        (32, 16, 0, 32, 32, ("blocks",)),  # small blocks fill the places for blocks first
        (64, 32, 0, 32, 64, ("warps", "blocks", "registers")),
        (96, 40, 0, 16, 48, ("registers",)),
        (768, 32, 0, 2, 48, ("warps", "registers")),
        (256, 32, 8 * KIB, 8, 64, ("warps", "registers")),
        (256, 32, 48 * KIB, 4, 32, ("shared memory",)),
        (128, 32, 113 * KIB, 2, 8, ("shared memory",)),
        (128, 32, 114 * KIB, 1, 4, ("shared memory",)),
        (33, 32, 0, 32, 64, ("warps", "blocks", "registers")),
        (1024, 65, 0, 0, 0, ("registers",)),
        (1025, 16, 0, 0, 0, ("warps",)),
        (64, 256, 228 * KIB, 0, 0, ("registers", "shared memory")),
    ],
)
def test_the_smallest_budget_decides(threads, registers, shared_bytes, blocks, warps, limiters):
    checked_residency(H200, threads, registers, shared_bytes, (blocks, warps, limiters))


@pytest.mark.task(2)
@pytest.mark.parametrize("gpu", GPUS.values(), ids=GPUS)
def test_an_sm_is_full_when_the_next_block_finds_no_room(gpu):
    random = Random(8)
    for _ in range(150):
        threads = random.choice([32, 64, 128, 256, random.randint(1, 1056)])
        registers = random.choice([32, random.randint(1, 256)])
        shared_bytes = random.choice([0, random.randint(0, gpu.shared_bytes_per_sm)])
        wanted = filled(gpu, threads, registers, shared_bytes)
        checked_residency(gpu, threads, registers, shared_bytes, wanted)


@pytest.mark.task(2)
def test_nvidias_own_formula_says_the_same():
    """The harness has that of cuda_occupancy.h, checked against recordings of the header."""
    random = Random(88)
    for gpu in GPUS.values():
        major, minor = gpu.compute_capability
        for _ in range(40):
            threads, registers = random.randint(1, 1024), random.randint(16, 255)
            shared_bytes = random.choice([0, random.randint(0, gpu.shared_bytes_per_block)])
            kernel = Resources("any", f"sm_{major}{minor}", registers, 0, 0, 0, 0, 0, None)
            theirs = kernel.occupancy(threads, shared_bytes)
            limiters = {"block slots": "blocks"}
            names = {limiters.get(name.value, name.value) for name in theirs.limited_by}
            ordered = ("warps", "blocks", "registers", "shared memory")
            wanted = theirs.blocks, theirs.warps, tuple(name for name in ordered if name in names)
            checked_residency(gpu, threads, registers, shared_bytes, wanted)
