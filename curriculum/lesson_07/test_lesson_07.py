"""Lesson 07: sums of blocks, sums of everything, and softmax of rows."""

import math

import pytest
import torch

from curriculum.lesson_07 import host
from harness.judging.operators import Operators
from harness.launching.launch_settings import changed
from references import reductions
from references.reductions import whole
from references.vectors import spread

# one element, the edges of a warp and of a block, a prime, several blocks
SIZES = [1, 2, 3, 31, 32, 33, 255, 256, 257, 1009, 4096]
LARGE = [*SIZES, 65_521, 65_536]
ORDERS = {"forward": 0, "reversed": 0, "shuffled": 7}  # of the blocks, each with a seed


def check_block_sums(kernel, n, threads, device, rng, close):
    """Exactly, by whole numbers; and within the bounds, by numbers of any size."""
    for size in (n, n + 2):  # one value alone is a sum already
        x = whole(size, rng, device)
        close.equal(host.block_sums(kernel, x, threads), reductions.block_sums(x, threads))
    x = spread(n, rng, device)
    sums = host.block_sums(kernel, x, threads)
    close(sums, reductions.block_sums, x, threads, sums=True)


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
@pytest.mark.simulated
@pytest.mark.parametrize("threads", [64, 256, 1024])
def test_one_barrier_and_ten_shuffles_a_warp_are_enough(threads, rng, profile, close):
    said, counters = counters_of_blocks("block_sum_shfl", 4096, threads, rng, profile, close)
    warps = counters.warps
    for what, got, most in (
        ("barriers a warp", counters.barriers / warps, 2),
        ("shuffles a warp", counters.shuffles / warps, 10),
        ("writes to shared memory a warp", counters.shared_store_requests / warps, 2),
        ("reads of shared memory a warp", counters.shared_load_requests / warps, 2),
    ):
        assert got <= most, f"{said}: {got:g} {what}; {most} are enough"
    shuffles = counters.shuffles / warps
    assert shuffles >= 5, f"{said}: {shuffles:g} shuffles a warp; a warp's sum takes five"


def needs_task_2(device):
    """The kernels of later tasks call block_sum: say so if it is not right yet."""
    x = torch.arange(1.0, 301.0, device=device)
    wanted = reductions.block_sums(x, 96)
    try:
        right = torch.equal(host.block_sums("block_sum_shfl", x, 96), wanted)
    except Exception:
        right = False
    if not right:
        said = "task 2 first: the kernel of this task may call block_sum"
        pytest.fail(f"{said}, and block_sum is not right yet", pytrace=False)


# --- Task 3: atomics ------------------------------------------------------------------------------


@pytest.mark.task(3)
@pytest.mark.parametrize("n", [0, *LARGE])
@pytest.mark.parametrize("blocks, threads", [(1, 32), (5, 96), (8, 256)])
def test_blocks_add_their_sums_one_after_another(n, blocks, threads, device, rng, close):
    needs_task_2(device)
    x = whole(n, rng, device)
    close.equal(host.sum_atomic(x, blocks, threads), reductions.total(x))
    close.equal(host.sum_atomic(x, blocks, threads), reductions.total(x))  # from 0 again


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("order", ORDERS)
def test_any_order_of_blocks_is_right_within_its_bounds(order, rng, close):
    needs_task_2("cpu")
    x = spread(20_000, rng)
    with changed(order=order, seed=ORDERS[order]):
        got = host.sum_atomic(x, blocks=30, threads=64)
    close(got, reductions.total, x, sums=True)


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [100, 10_000])
def test_a_block_updates_the_sum_once(n, rng, profile, close):
    needs_task_2("cpu")
    x = whole(n, rng)
    launches = profile(lambda: host.sum_atomic(x, 8, 64))
    close.equal(launches.result, reductions.total(x))
    kernel = launches["sum_atomic"]
    said, updates = f"n = {n}, 8 blocks", kernel.counters.atomic_lanes
    assert updates == 8, f"{said}: {updates} atomic updates; each block's sum is one"
    loaded = kernel.counters.global_load_bytes
    assert loaded == 4 * n, f"{said}: {loaded} bytes of loads requested at L1, not {4 * n}"


# --- Task 4: two passes ---------------------------------------------------------------------------


@pytest.mark.task(4)
@pytest.mark.parametrize("n", [0, *LARGE])
def test_two_passes_sum_everything(n, device, rng, close):
    needs_task_2(device)
    x = whole(n, rng, device)
    close.equal(host.sum_two_pass(x), reductions.total(x))
    x = spread(n, rng, device)
    close(host.sum_two_pass(x), reductions.total, x, sums=True)


@pytest.mark.task(4)
@pytest.mark.parametrize("start", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 1000, 5001])
def test_a_vector_may_begin_anywhere(start, n, device, rng, close):
    needs_task_2(device)
    x = whole(start + n, rng, device)[start:]  # 4 * start bytes behind a multiple of 16
    close.equal(host.sum_two_pass(x), reductions.total(x))


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1000, 40_000])
def test_the_bits_are_the_same_in_every_order(n, rng, profile, close):
    needs_task_2("cpu")
    x, found = spread(n, rng), {}
    for order, seed in ORDERS.items():
        with changed(order=order, seed=seed):
            launches = profile(lambda: host.sum_two_pass(x))
        close(launches.result, reductions.total, x, sums=True)
        found[order] = launches.result.view(torch.int32).item() % 2**32
        atomics = launches.counters.atomics
        assert atomics == 0, f"n = {n}: {atomics} atomics; two passes need none"
    said = ", ".join(f"{order} {bits:#x}" for order, bits in found.items())
    assert len(set(found.values())) == 1, f"n = {n}, the bits by the order of blocks: {said}"


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [4096, 40_000])
def test_each_element_is_loaded_once_in_whole_sectors(n, rng, profile, close):
    needs_task_2("cpu")
    x = whole(n, rng)
    launches = profile(lambda: host.sum_two_pass(x))
    close.equal(launches.result, reductions.total(x))
    first = launches[0].launched.counters
    said = f"n = {n}, the first launch"
    loaded = first.global_load_bytes
    assert loaded == 4 * n, f"{said}: {loaded} bytes of loads requested at L1, not {4 * n}"
    share = first.global_load_efficiency
    assert share >= 0.95, f"{said}: {share:.2f} of the sectors' bytes are wanted, not 0.95"
    passed = launches.counters.global_store_bytes
    assert passed <= n, f"{said}: {passed} bytes of sums stored; a block leaves one of 4 bytes"


@pytest.mark.task(4)
@pytest.mark.simulated
def test_the_kernels_add_and_torch_only_makes_room(rng, close, unpoisoned):
    needs_task_2("cpu")
    x = whole(10_000, rng)
    with Operators() as operators:
        got = host.sum_two_pass(x)
    close.equal(got, reductions.total(x))
    asked = ", ".join(sorted(operators.names & {"sum", "add", "add_", "cumsum", "mean", "dot"}))
    assert not asked, f"the host asks torch for {asked}; a kernel adds up the sums of blocks, too"


# --- Task 5: softmax ------------------------------------------------------------------------------

SHAPES = [(1, 1), (3, 2), (2, 31), (3, 32), (2, 33), (5, 257), (2, 1000), (3, 1031), (1, 8192)]


@pytest.mark.task(5)
@pytest.mark.parametrize("rows, columns", SHAPES)
@pytest.mark.parametrize("size", [1e-2, 1.0])
def test_each_row_becomes_its_softmax(rows, columns, size, device, rng, close):
    needs_task_2(device)
    x = size * spread(rows * columns, rng, device).reshape(
        rows, columns
    )  # up to 1000 on either side
    close.function(host.softmax_row, reductions.softmax, x)


@pytest.mark.task(5)
def test_large_numbers_do_not_overflow(device, close):
    needs_task_2(device)
    rows = [
        [1e4, 1e4 - 1, -1e4],
        [-1e4, -1e4 + 2, -1e4],
        [3.4e38, 0.0, -3.4e38],
        [88.0, 89.0, 90.0],
    ]
    x = torch.tensor(rows, device=device).repeat(1, 50)
    close.function(host.softmax_row, reductions.softmax, x)


@pytest.mark.task(5)
def test_infinity_and_nan_do_what_they_do_in_torch(device, close):
    needs_task_2(device)
    least, most = -math.inf, math.inf
    rows = [[least] * 3, [least, 1.0, 2.0], [most, 1.0, 2.0], [math.nan, 1.0, 2.0], [1.0, 2.0, 3.0]]
    x = torch.tensor(rows, device=device)
    close.function(host.softmax_row, reductions.softmax, x)
    close.function(host.softmax_row, reductions.softmax, x.repeat(1, 101))


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("columns", [96, 2048])
def test_a_row_is_read_once_and_written_once(columns, rng, profile, close):
    needs_task_2("cpu")
    x = spread(3 * columns, rng).reshape(3, columns)
    launches = profile(lambda: host.softmax_row(x))
    close(launches.result, reductions.softmax, x)
    counters, bytes_ = launches["softmax_row"].counters, 4 * 3 * columns
    said = f"3 rows of {columns}"
    for what, got in (
        ("loads", counters.global_load_bytes),
        ("stores", counters.global_store_bytes),
    ):
        assert got == bytes_, f"{said}: {got} bytes of {what} requested at L1, not {bytes_}"
    each = counters.barriers / counters.warps
    assert each <= 6, (
        f"{said}: {each:g} barriers a warp; one for the largest and one for the sum do"
    )


@pytest.mark.task(5)
def test_no_rows_are_no_work(device, rng, close):
    needs_task_2(device)
    close.equal(host.softmax_row(torch.empty(0, 5, device=device)), torch.empty(0, 5))
    x = spread(40, rng, device).reshape(4, 10)
    close.function(host.softmax_row, reductions.softmax, x)  # and the same function does work
