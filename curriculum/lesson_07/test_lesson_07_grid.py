"""Lesson 07, many blocks: the sum of everything, by atomics and by two passes."""

import math

import numpy as np
import pytest
import torch

from curriculum.lesson_07 import host
from harness import cuda
from harness.judging.earlier import needs_task
from harness.judging.operators import Operators
from harness.launching.launch_settings import changed
from references import reductions
from references.reductions import whole
from references.vectors import spread

# nothing, one element, the edges of a warp and of a block, primes, several blocks
SIZES = [0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1009, 4096, 65_521, 65_536]
ORDERS = {"forward": 0, "reversed": 0, "shuffled": 7}  # of the blocks, each with a seed
SUMS = [
    pytest.param("sum_atomic", marks=pytest.mark.task(3)),
    pytest.param("sum_two_pass", marks=pytest.mark.task(4)),
]
MAKES_ROOM = {"empty", "empty_like", "empty_strided", "zeros", "new_empty", "new_zeros", "fill_"}
MAKES_ROOM |= {"zero_", "view", "reshape", "select", "slice", "detach", "full", "new_full"}


def needs_block_sum(device):
    x = torch.arange(1.0, 301.0, device=device)
    wanted = reductions.block_sums(x, 96)[:, None]
    said = "the kernel of this task may call block_sum"
    needs_task(2, said, lambda: (host.held("block_sum_held", x, 96) == wanted).all())


# --- Task 3: atomics ------------------------------------------------------------------------------


@pytest.mark.task(3)
@pytest.mark.parametrize("n", [1, 33, 1009, 4096])
@pytest.mark.parametrize("blocks, threads", [(1, 32), (5, 96)])
def test_the_kernel_alone_adds_to_what_is_there(n, blocks, threads, device, rng, close):
    needs_block_sum(device)
    x, out = whole(n, rng, device), torch.full((1,), 1000.0, device=device)
    kernel = cuda.module(__file__, "kernel.cu").get_function("sum_atomic")
    kernel((blocks,), (threads,), (x, out, np.int64(n)))
    close.equal(out, reductions.total(x) + 1000)


@pytest.mark.task(3)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("blocks, threads", [(1, 32), (5, 96), (8, 256)])
def test_blocks_add_their_sums_one_after_another(n, blocks, threads, device, rng, close):
    needs_block_sum(device)
    x = whole(n, rng, device)
    wanted = reductions.total(x)
    first = host.sum_atomic(x, blocks, threads)
    close.equal(first, wanted)
    close.equal(host.sum_atomic(2 * x, blocks, threads), 2 * wanted)  # from 0 again
    said = f"the first sum was {wanted.item():g}, and after a second call it is {first.item():g}"
    assert torch.equal(first, wanted), f"{said}: each call needs a tensor of its own"


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("order", ORDERS)
def test_any_order_of_blocks_is_right_within_its_bounds(order, rng, close):
    needs_block_sum("cpu")
    x = spread(20_000, rng)
    with changed(order=order, seed=ORDERS[order]):
        got = host.sum_atomic(x, blocks=30, threads=64)
    close(got, reductions.total, x, sums=True)


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [100, 10_000])
def test_a_block_updates_the_sum_once(n, rng, profile, close):
    needs_block_sum("cpu")
    x = whole(n, rng)
    launches = profile(lambda: host.sum_atomic(x, 8, 64))
    close.equal(launches.result, reductions.total(x))
    kernel = launches["sum_atomic"]
    said, updates = f"n = {n}, 8 blocks", kernel.counters.atomic_lanes
    assert updates == 8, f"{said}: {updates} atomic updates; each block's sum is one"
    loaded = kernel.counters.global_load_bytes
    assert loaded == 4 * n, f"{said}: {loaded} bytes of loads requested at L1, not {4 * n}"


# --- Tasks 3 and 4: no value is lost --------------------------------------------------------------


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_swallows_no_nan_and_no_infinity(name, device, close):
    needs_block_sum(device)
    for value in (math.nan, math.inf, -math.inf):
        for place in (0, 4_000, 9_000):
            x = torch.ones(9_001, device=device)
            x[place] = value
            close.equal(getattr(host, name)(x), torch.tensor([value]))


@pytest.mark.gpu
@pytest.mark.parametrize("name", SUMS)
def test_more_values_than_32_bits_count_are_summed(name, unpoisoned):
    n = (1 << 33) + 5  # neither an int nor an unsigned counts them, nor an int the float4 of them
    if torch.cuda.mem_get_info()[0] < 5 * n:
        pytest.skip("34 GB of a GPU's memory are not free")
    x = torch.zeros(n, device="cuda")
    x[0], x[1 << 31], x[1 << 32], x[n - 1] = 1.0, 2.0, 4.0, 8.0
    got = getattr(host, name)(x).item()
    assert got == 15.0, f"{n:,} values, 15 in all: {name} says {got:g}; count them by long long"


# --- Task 4: two passes ---------------------------------------------------------------------------


@pytest.mark.task(4)
@pytest.mark.parametrize("n", [0, 1, 33, 1009, 4097])
@pytest.mark.parametrize("blocks, threads", [(1, 32), (5, 96)])
def test_the_kernel_alone_leaves_a_sum_for_each_block(n, blocks, threads, device, rng, close):
    needs_block_sum(device)
    x, sums = whole(n + 1, rng, device)[1:], torch.empty(blocks, device=device)
    kernel = cuda.module(__file__, "kernel.cu").get_function("partial_sums")
    kernel((blocks,), (threads,), (x, sums, np.int64(n)))
    close.equal(sums.sum().reshape(1), reductions.total(x))


@pytest.mark.task(4)
@pytest.mark.parametrize("n", SIZES)
def test_two_passes_sum_everything(n, device, rng, close):
    needs_block_sum(device)
    x = whole(n, rng, device)
    close.equal(host.sum_two_pass(x), reductions.total(x))
    x = spread(n, rng, device)
    close(host.sum_two_pass(x), reductions.total, x, sums=True)


@pytest.mark.task(4)
@pytest.mark.parametrize("start", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 1000, 5001, 20_002])
def test_a_vector_may_begin_anywhere(start, n, device, rng, close):
    needs_block_sum(device)
    x = whole(start + n, rng, device)[start:]  # 4 * start bytes behind a multiple of 16
    close.equal(host.sum_two_pass(x), reductions.total(x))


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1000, 40_000])
def test_the_bits_are_the_same_in_every_order(n, rng, profile, close):
    needs_block_sum("cpu")
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
def test_many_blocks_leave_sums_and_one_adds_them_up(rng, profile, close):
    needs_block_sum("cpu")
    n = 40_000
    x = whole(n, rng)
    launches = profile(lambda: host.sum_two_pass(x))
    close.equal(launches.result, reductions.total(x))
    kernels = ", ".join(launch.kernel for launch in launches)
    said = f"n = {n}, launched {kernels}"
    assert len(launches) == 2, (
        f"{said}: {len(launches)} launches, not 2; one leaves a sum for each block, the next adds "
        "those up"
    )
    first, last = (math.prod(launch.grid) for launch in launches)
    assert first > 1, f"{said}: one block reads all of x; a block works on one SM of many"
    assert last == 1, f"{said}: {last} blocks in the second launch; who adds up what they leave?"


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [4096, 40_000])
def test_each_element_is_loaded_once_by_lanes_side_by_side(n, rng, profile, close):
    needs_block_sum("cpu")
    x = whole(n, rng)
    launches = profile(lambda: host.sum_two_pass(x))
    close.equal(launches.result, reductions.total(x))
    first = launches[0].launched.counters
    said = f"n = {n}, the first launch"
    loaded = first.global_load_bytes
    assert loaded == 4 * n, f"{said}: {loaded} bytes of loads requested at L1, not {4 * n}"
    # Neighbouring floats that begin anywhere lie in one sector more than they fill, at most.
    sectors, requests = first.global_load_sectors, first.global_load_requests
    most = first.global_load_ideal_sectors + requests
    assert sectors <= most, (
        f"{said}: {sectors} sectors for {requests} load requests; {most} do, wherever a block's "
        "part of x begins: neighbouring lanes should load neighbouring floats"
    )
    passed = launches.counters.global_store_bytes
    assert passed <= n, f"{said}: {passed} bytes of sums stored; a block leaves one of 4 bytes"


@pytest.mark.task(4)
@pytest.mark.simulated
def test_the_kernels_add_and_torch_only_makes_room(rng, close, unpoisoned):
    needs_block_sum("cpu")
    x = whole(10_000, rng)
    with Operators() as operators:
        got = host.sum_two_pass(x)
    close.equal(got, reductions.total(x))
    asked = ", ".join(sorted(operators.names - MAKES_ROOM))
    assert not asked, f"the host asks torch for {asked}; a kernel adds up the sums of blocks, too"
