"""Lesson 07: the sum of each block, in shared memory and by shuffles."""

import math
import re

import pytest
import torch

from curriculum.lesson_07 import host
from harness import cuda
from references import reductions
from references.reductions import whole
from references.vectors import spread

# one element, the edges of a warp and of a block, a prime, several blocks
SIZES = [1, 2, 3, 31, 32, 33, 255, 256, 257, 1009, 4096]
STRANGE = {"nan": [math.nan], "infinity": [math.inf, -1.0], "both": [math.inf, -math.inf]}


def check_block_sums(kernel, n, threads, device, rng, close):
    """Exactly, by whole numbers; and within the bounds, by numbers of any size."""
    for size in (n, n + 2):  # one value alone is a sum already
        x = whole(size, rng, device)
        close.equal(host.block_sums(kernel, x, threads), reductions.block_sums(x, threads))
    x = spread(n, rng, device)
    sums = host.block_sums(kernel, x, threads)
    close(sums, reductions.block_sums, x, threads, sums=True)


def check_strange_values(kernel, values, device, close):
    """NaN and infinity come through, alone and in the last place of a second block."""
    for before in (0, 300):
        x = torch.cat([torch.ones(before), torch.tensor(values)]).to(device)
        close.equal(host.block_sums(kernel, x, 256), reductions.block_sums(x, 256))


def counters_of_blocks(kernel, n, threads, rng, profile, close):
    """The counters of a launch, whose result is right."""
    x = whole(n, rng)
    launches = profile(lambda: host.block_sums(kernel, x, threads))
    close.equal(launches.result, reductions.block_sums(x, threads))
    counters = launches[kernel].counters
    loaded = counters.global_load_bytes
    said = f"{kernel}, n = {n}, blocks of {threads}"
    assert loaded == 4 * n, f"{said}: {loaded} bytes of loads requested at L1, not {4 * n}"
    return said, counters


# --- Task 1: a tree in shared memory --------------------------------------------------------------


@pytest.mark.task(1)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("threads", [32, 256])
def test_a_tree_in_shared_memory_sums_each_block(n, threads, device, rng, close):
    check_block_sums("block_sum_smem", n, threads, device, rng, close)


@pytest.mark.task(1)
@pytest.mark.parametrize("threads", [64, 512, 1024])
def test_the_tree_is_right_for_any_power_of_two(threads, device, rng, close):
    check_block_sums("block_sum_smem", 5000, threads, device, rng, close)


@pytest.mark.task(1)
@pytest.mark.parametrize("values", STRANGE)
def test_a_tree_swallows_no_nan_and_no_infinity(values, device, close):
    check_strange_values("block_sum_smem", STRANGE[values], device, close)


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("threads", [64, 256])
def test_working_threads_stand_side_by_side(threads, rng, profile, close):
    said, counters = counters_of_blocks("block_sum_smem", 1024, threads, rng, profile, close)
    parted = counters.divergent_branches / counters.blocks
    assert parted <= 12, f"{said}: a block parts at a branch {parted:g} times; 5 will do: half < 32"
    conflicts = counters.shared_load_conflicts + counters.shared_store_conflicts
    assert conflicts == 0, f"{said}: {conflicts} bank conflicts, not 0"


@pytest.mark.task(1)
@pytest.mark.simulated
def test_a_barrier_stands_before_each_halving(rng, profile, close):
    said, counters = counters_of_blocks("block_sum_smem", 1024, 256, rng, profile, close)
    each = counters.barriers / counters.warps
    assert 3 <= each <= 10, f"{said}: {each:g} barriers a warp; 8 halvings need 8"
    shuffles, stored = counters.shuffles, counters.shared_store_requests
    assert shuffles == 0, f"{said}: {shuffles} shuffles; those are task 2"
    assert stored >= counters.warps, f"{said}: {stored} writes to shared memory by warps"


# --- Task 2: shuffles -----------------------------------------------------------------------------


@pytest.mark.task(2)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("threads", [32, 96, 256])
def test_shuffles_sum_each_block(n, threads, device, rng, close):
    check_block_sums("block_sum_shfl", n, threads, device, rng, close)


@pytest.mark.task(2)
@pytest.mark.parametrize("threads", [64, 160, 992, 1024])
def test_shuffles_are_right_for_any_number_of_warps(threads, device, rng, close):
    check_block_sums("block_sum_shfl", 5000, threads, device, rng, close)


@pytest.mark.task(2)
@pytest.mark.parametrize("values", STRANGE)
def test_shuffles_swallow_no_nan_and_no_infinity(values, device, close):
    check_strange_values("block_sum_shfl", STRANGE[values], device, close)


@pytest.mark.task(2)
@pytest.mark.parametrize("threads", [32, 64, 96, 256, 1024])
def test_every_thread_of_a_block_knows_the_sum(threads, device, rng):
    x = whole(3 * threads - 5, rng, device)
    held = host.held("block_sum_held", x, threads)
    wanted = reductions.block_sums(x, threads)
    wrong = (held != wanted[:, None]).nonzero().tolist()
    if wrong:
        block, thread = wrong[0]
        pytest.fail(
            f"block_sum, 3 blocks of {threads}: thread {thread} of block {block} holds "
            f"{held[block, thread].item():g}, not {wanted[block].item():g}; {len(wrong)} of "
            f"{held.numel()} threads hold another value\n"
            "  Every thread needs the sum: softmax divides by it. After __shfl_down_sync lane 0 "
            "alone has\n  the sum of its warp, after __shfl_xor_sync every lane. "
            "Which warps add up what stands in of_warp?",
            pytrace=False,
        )


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("threads", [64, 256, 1024])
def test_one_barrier_and_ten_shuffles_a_warp_are_enough(threads, rng, profile, close):
    said, counters = counters_of_blocks("block_sum_shfl", 4096, threads, rng, profile, close)
    warps = counters.warps
    each = counters.barriers / warps
    assert each <= 2, f"{said}: {each:g} barriers a warp; 2 are enough"
    shuffles = counters.shuffles / warps
    assert shuffles <= 10, f"{said}: {shuffles:g} shuffles a warp; 10 are enough"
    assert shuffles >= 5, f"{said}: {shuffles:g} shuffles a warp; a warp's sum takes five"
    stored = counters.shared_store_requests / warps
    assert stored <= 2, f"{said}: {stored:g} writes to shared memory a warp; 2 are enough"
    loaded = counters.shared_load_requests / warps
    assert loaded <= 2, f"{said}: {loaded:g} reads of shared memory a warp; 2 are enough"
    code = re.sub(r"//[^\n]*", "", cuda.module(__file__, "kernel.cu").source)
    promised = "__activemask" not in code
    assert promised, "__activemask() says who is here, not who will come: name all 32 in the mask"
