"""Lesson 05, further on: neighbours across blocks, and two tiles in turn."""

import math
from functools import partial

import pytest
import torch

from curriculum.lesson_05 import host
from harness.judging.data import spread
from references import matrices

# --- Task 6: a stencil ----------------------------------------------------------------------------

SIZES = [1, 2, 3, 63, 64, 65, 127, 128, 129, 1009, 4096]


@pytest.mark.stretch
@pytest.mark.task(6)
@pytest.mark.parametrize("threads", [32, 64, 256])
@pytest.mark.parametrize("n", SIZES)
def test_each_element_meets_both_neighbours(n, threads, device, rng, close):
    x = spread(n, rng=rng, device=device)
    smooth = partial(host.stencil3, threads=threads)
    close.function(smooth, matrices.smoothed, x)


@pytest.mark.stretch
@pytest.mark.task(6)
def test_infinity_touches_its_neighbours_only(device, rng, close):
    x = spread(300, rng=rng, device=device)
    x[0], x[64], x[128 - 1], x[299] = math.inf, math.nan, -math.inf, math.inf
    close(host.stencil3(x, 64), matrices.smoothed, x)


@pytest.mark.stretch
@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("n, threads", [(4096, 256), (1009, 64)])
def test_a_block_reads_its_piece_and_two_more(n, threads, rng, profile, close):
    x = spread(n, rng=rng)
    launches = profile(lambda: host.stencil3(x, threads))
    close(launches.result, matrices.smoothed, x)
    counters = launches["stencil3"].counters
    fewest = 4 * (n + 2 * (-(-n // threads) - 1))
    loaded = counters.global_load_bytes
    said = f"n = {n}, {threads} threads a block: {loaded} bytes requested at L1"
    assert loaded <= fewest, f"{said}; {fewest} are enough: each piece, and one float at each side"


# --- Task 7: two tiles in turn --------------------------------------------------------------------

# one tile, two, three, a ragged last one; whole tiles and not
SHAPES = [(1, 1, 1), (64, 64, 16), (64, 128, 32), (64, 64, 48), (67, 65, 33), (3, 5, 50)]


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("M, N, K", SHAPES)
def test_a_buffered_product_is_the_product(M, N, K, device, rng, close):
    close.function(
        host.matmul_buffered, matrices.product, *matrices.pair(M, N, K, rng, device), sums=True
    )


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("M, N, K", [(128, 128, 48), (130, 100, 20)])
def test_eight_by_eight_is_buffered_too(M, N, K, device, rng, close):
    a, b = matrices.pair(M, N, K, rng, device)
    multiply = partial(host.matmul_buffered, each=8)
    close.function(multiply, matrices.product, a, b, sums=True)


@pytest.mark.stretch
@pytest.mark.task(7)
def test_infinity_nan_and_no_tile_are_as_before(device, rng, close):
    a, b = matrices.special_pair(rng, device)
    close.function(host.matmul_buffered, matrices.product, a, b, sums=True)
    close.equal(host.matmul_buffered(a[:, :0].contiguous(), b[:0]), torch.zeros(20, 35))


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K, each", [(64, 128, 96, 4), (128, 128, 64, 8)])
def test_one_barrier_a_tile_is_enough(M, N, K, each, rng, profile, close):
    a, b = matrices.pair(M, N, K, rng)
    launches = profile(lambda: host.matmul_buffered(a, b, each))
    close(launches.result, matrices.product, a, b, sums=True)
    counters, tiles = launches["matmul_buffered"].counters, K // 16
    waits = counters.barriers / counters.warps
    said = f"M, N, K = {M}, {N}, {K}, {each} x {each} a thread"
    told = f"{said}: a warp waits {waits:g} times at a barrier for {tiles} tiles"
    assert waits <= tiles + 1, f"{told}; one for each, and one at the start"
    side = 16 * each
    fewest = 4 * (M * K * (N // side) + K * N * (M // side))
    loaded = counters.global_load_bytes + counters.async_copy_bytes
    told = f"{said}: {loaded} bytes of loads requested at L1; {fewest} are enough"
    assert loaded <= fewest, f"{told}: fetch no tile twice, and none past the last"


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K, each", [(64, 128, 48, 4), (128, 128, 48, 8)])
def test_what_is_fetched_waits_in_registers(M, N, K, each, rng, profile, close):
    a, b = matrices.pair(M, N, K, rng)
    launches = profile(lambda: host.matmul_buffered(a, b, each))
    close(launches.result, matrices.product, a, b, sums=True)
    counters = launches["matmul_buffered"].counters
    local = counters.local_load_requests + counters.local_store_requests
    told = f"{M}, {N}, {K}, {each} x {each} a thread: {local} requests to local memory"
    assert local == 0, f"{told}; index arrays of registers by loops of fixed length only"


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
def test_both_tiles_fit_and_no_array_is_put_aside():
    taken = host.kernel("matmul_buffered", "TM=8", "TN=8", "WHOLE_TILES").resources("sm_90")
    least = 4 * 2 * (16 * 128 + 16 * 128)  # two tiles of a and two of b
    said = f"matmul_buffered takes {taken.shared_bytes} bytes of shared memory"
    assert taken.shared_bytes >= least, f"{said}; two tiles of each are at least {least}"
    # The bounds leave 128 registers; 64 sums, and what is fetched, need most of them. One compiler
    # puts a few single values into local memory, another none. An array does not belong there.
    local, array = taken.stack_bytes, 4 * 16
    said = f"{local} bytes of local memory a thread, {taken.spill_store_bytes} of them spilled"
    assert local < array, f"{said}; what a thread fetches is {array}: how long must values live?"
