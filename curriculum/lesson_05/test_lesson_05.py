"""Lesson 05, tasks 1 to 3: a product as it stands, a tile turned round, a product by tiles."""

from functools import partial

import pytest
import torch

from curriculum.lesson_05 import host
from harness.judging.data import rectangles, spread
from references import access_patterns, matrices

# (M, N, K): one element, the edges of a tile of 16 and of 32, primes, rectangles, several tiles
SHAPES = [
    (1, 1, 1),
    (1, 17, 2),
    (33, 1, 3),
    (15, 16, 17),
    (16, 16, 16),
    (31, 32, 33),
    (2, 3, 67),
    (64, 32, 48),
    (37, 101, 53),
]


# --- Task 1: one thread, one element --------------------------------------------------------------


@pytest.mark.task(1)
@pytest.mark.parametrize("M, N, K", SHAPES)
def test_each_thread_computes_one_product(M, N, K, device, rng, close):
    close.function(
        host.matmul_naive, matrices.product, *matrices.pair(M, N, K, rng, device), sums=True
    )


@pytest.mark.task(1)
def test_infinity_times_zero_is_nan(device, rng, close):
    close.function(
        host.matmul_naive, matrices.product, *matrices.special_pair(rng, device), sums=True
    )


@pytest.mark.task(1)
def test_a_sum_of_nothing_is_zero(device, close):
    a, b = torch.empty(5, 0, device=device), torch.empty(0, 7, device=device)
    close.equal(host.matmul_naive(a, b), torch.zeros(5, 7))


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K", [(8, 32, 16), (16, 64, 40)])
def test_a_warp_loads_five_sectors_a_step(M, N, K, rng, profile, close):
    a, b = matrices.pair(M, N, K, rng)
    launches = profile(lambda: host.matmul_naive(a, b))
    close(launches.result, matrices.product, a, b, sums=True)
    counters, steps = launches["matmul_naive"].counters, M * N * K // 32
    each = counters.global_load_sectors / steps
    said = f"M, N, K = {M}, {N}, {K}: {each:g} sectors for a warp's step of k"
    assert each <= 5, f"{said}, not 5: one of a, the same for all lanes, and four of b"
    stored = counters.global_store_sectors
    assert stored == M * N // 8, f"the stores touch {stored} sectors; {M * N // 8} hold all of c"


# --- Task 2: a transpose with both sides in order -------------------------------------------------


@pytest.mark.task(2)
@pytest.mark.parametrize("side", [32, 64])
@pytest.mark.parametrize("rows, columns", rectangles(32))
def test_rows_become_columns(rows, columns, side, device, rng, close):
    a = spread(rows, columns, rng=rng, device=device)
    turned = close.function(partial(host.transpose_tiled, side=side), access_patterns.transposed, a)
    close.equal(turned, access_patterns.transposed(a))


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("side", [32, 64])
@pytest.mark.parametrize("rows, columns", [(64, 64), (64, 192)])
def test_both_sides_are_in_order(rows, columns, side, rng, profile, close):
    a = spread(rows, columns, rng=rng)
    launches = profile(lambda: host.transpose_tiled(a, side))
    close.equal(launches.result, access_patterns.transposed(a))
    counters, said = launches["transpose_tiled"].counters, f"a [{rows}, {columns}], SIDE {side}"
    wanted = rows * columns // 32
    requests = counters.global_load_requests, counters.global_store_requests
    told = f"{said}: {requests[0]} load and {requests[1]} store requests"
    assert requests == (wanted, wanted), f"{told}; {wanted} of each move every element once"
    loads = counters.global_load_sectors / counters.global_load_requests
    assert loads == 4, f"{said}: {loads:g} sectors a load request, not 4"
    stores = counters.global_store_sectors / counters.global_store_requests
    assert stores == 4, f"{said}: {stores:g} sectors a store request, not 4"


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("side", [32, 64])
def test_ragged_sides_are_in_order_too(side, rng, profile, close):
    a = spread(70, 45, rng=rng)
    launches = profile(lambda: host.transpose_tiled(a, side))
    close.equal(launches.result, access_patterns.transposed(a))
    counters, said = launches["transpose_tiled"].counters, f"a [70, 45], SIDE {side}"
    advice = "a row that begins inside a sector takes one more than 4"
    loads = counters.global_load_sectors / counters.global_load_requests
    assert loads <= 5, f"{said}: {loads:.3g} sectors a load request; {advice}"
    stores = counters.global_store_sectors / counters.global_store_requests
    assert stores <= 5, f"{said}: {stores:.3g} sectors a store request; {advice}"


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("side", [32, 64])
def test_no_two_lanes_want_different_words_of_one_bank(side, rng, profile, close):
    a = spread(64, 128, rng=rng)
    launches = profile(lambda: host.transpose_tiled(a, side))
    close.equal(launches.result, access_patterns.transposed(a))
    counters, said = launches["transpose_tiled"].counters, f"a [64, 128], SIDE {side}"
    loads, stores = counters.shared_load_requests, counters.shared_store_requests
    wanted = 64 * 128 // 32
    told = f"{said}: {stores} stores to shared memory, {loads} loads from it"
    assert (loads, stores) == (wanted, wanted), f"{told}; {wanted} each turn every element once"
    advice = "not 1; how far apart are the rows of the tile?"
    passes = counters.shared_store_wavefronts / stores
    told = f"{said}: a shared store takes {passes:g} passes through the banks, {advice}"
    assert counters.shared_store_conflicts == 0, told
    passes = counters.shared_load_wavefronts / loads
    told = f"{said}: a shared load takes {passes:g} passes through the banks, {advice}"
    assert counters.shared_load_conflicts == 0, told


# --- Task 3: a product by tiles in shared memory --------------------------------------------------


@pytest.mark.task(3)
@pytest.mark.parametrize("tile", [16, 32])
@pytest.mark.parametrize("M, N, K", SHAPES)
def test_a_tiled_product_is_the_product(M, N, K, tile, device, rng, close):
    a, b = matrices.pair(M, N, K, rng, device)
    multiply = partial(host.matmul_tiled, tile=tile)
    close.function(multiply, matrices.product, a, b, sums=True)


@pytest.mark.task(3)
def test_padding_makes_no_nan_of_infinity(device, rng, close):
    # Past the end of K both tiles must hold 0: infinity times a 0 of the padding would be NaN.
    a, b = matrices.special_pair(rng, device)
    close.function(host.matmul_tiled, matrices.product, a, b, sums=True)
    # And no tile at all leaves the sums at 0.
    close.equal(host.matmul_tiled(a[:, :0].contiguous(), b[:0]), torch.zeros(20, 35))


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize(
    "M, N, K, tile", [(64, 64, 64, 16), (64, 64, 64, 32), (32, 96, 48, 16), (37, 53, 41, 16)]
)
def test_each_element_is_loaded_once_for_a_whole_tile(M, N, K, tile, rng, profile, close):
    a, b = matrices.pair(M, N, K, rng)
    launches = profile(lambda: host.matmul_tiled(a, b, tile))
    close(launches.result, matrices.product, a, b, sums=True)
    counters = launches["matmul_tiled"].counters
    fewest = 4 * (M * K * -(-N // tile) + K * N * -(-M // tile))
    loaded = counters.global_load_bytes + counters.async_copy_bytes
    said = f"M, N, K = {M}, {N}, {K}, TILE {tile}"
    told = f"{said}: {loaded} bytes of loads requested at L1; {fewest} are enough"
    assert loaded <= fewest, f"{told}, if each block brings each element once"
    if M % tile == N % tile == K % tile == 0:
        sectors, few = counters.global_load_sectors + counters.async_copy_sectors, fewest // 32
        assert sectors <= few, f"{said}: the loads touch {sectors} sectors; {few} hold all"


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("tile", [16, 32])
def test_the_tiles_are_read_without_conflicts(tile, rng, profile, close):
    a, b = matrices.pair(64, 64, 64, rng)
    launches = profile(lambda: host.matmul_tiled(a, b, tile))
    close(launches.result, matrices.product, a, b, sums=True)
    counters, said = launches["matmul_tiled"].counters, f"TILE {tile}"
    conflicts = counters.shared_load_conflicts + counters.shared_store_conflicts
    assert counters.shared_load_requests > 0, f"{said}: nothing is read from shared memory"
    told = f"{said}: {conflicts} passes too many through the banks"
    assert conflicts == 0, f"{told}; let threadIdx.x run along the rows of both tiles"
    tiles, warps = 64 // tile, counters.warps
    waits = counters.barriers / warps
    told = f"{said}: a warp waits {waits:g} times at a barrier for {tiles} tiles"
    assert waits <= 2 * tiles, f"{told}; two for each are enough"
