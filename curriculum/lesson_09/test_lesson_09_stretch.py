"""Lesson 09, task 7: registers, swizzled pieces, and several stages under way."""

from functools import partial

import pytest

from curriculum.lesson_09 import host
from references import matrices
from references.tensor_cores import pair

# (M, N, K, DOWN, ACROSS): fewer stages than there is room for, as many, more; several blocks
WHOLE = [
    (32, 64, 64, 1, 2),
    (32, 64, 192, 1, 2),
    (64, 64, 448, 1, 2),
    (96, 128, 128, 1, 2),
    (64, 128, 128, 2, 4),
    (128, 256, 64, 4, 8),
]


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("M, N, K, down, across", WHOLE)
def test_the_fast_product_is_the_product(M, N, K, down, across, device, rng, close):
    multiply = partial(host.gemm_fast, down=down, across=across)
    close.tensor_product(multiply, matrices.product, *pair(M, N, K, rng, device))


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
@pytest.mark.parametrize("down, across", [(1, 2), (2, 4)])
def test_every_pass_through_the_banks_carries_128_bytes(down, across, rng, profile, close):
    M, N, K = 32 * down, 32 * across, 256
    multiply = partial(host.gemm_fast, down=down, across=across)
    a, b = pair(M, N, K, rng)
    launches = profile(lambda: close.tensor_product(multiply, matrices.product, a, b))
    counters, said = launches["gemm_fast"].counters, f"M, N, K = {M}, {N}, {K}"
    conflicts = counters.shared_load_conflicts
    told = f"{said}: {conflicts} passes too many through the banks"
    assert conflicts == 0, f"{told}; do eight rows of one piece lie in eight places?"
    sectors, need = counters.async_copy_sectors, 2 * (M * K + K * N) // 32
    told = f"{said}: the copies touch {sectors} sectors; {need} hold all"
    assert sectors == need, f"{told}, where no row is shifted by half a sector"
    passes = counters.shared_load_wavefronts / counters.mma
    few = (4 * down + 2 * across) / (down * across)  # of 128 bytes
    told = f"{said}: {passes:g} passes of shared memory for each instruction"
    assert passes <= few, f"{told}; {few:g} bring each fragment once for each 16 of K"


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
def test_one_barrier_a_tile_and_more_than_one_stage_under_way(rng, profile, close):
    tiles = 9
    a, b = pair(32, 64, 64 * tiles, rng)
    launches = profile(lambda: close.tensor_product(host.gemm_fast, matrices.product, a, b))
    counters = launches["gemm_fast"].counters
    barriers, waits = counters.barriers / counters.warps, counters.load_waits / counters.warps
    told = f"K = {64 * tiles}: a warp comes to {barriers:g} barriers for {tiles} tiles"
    assert barriers <= tiles + 1, f"{told}; one for each is enough"
    told = f"K = {64 * tiles}: a warp waits {waits:g} times for copies, for {tiles} tiles"
    assert waits <= tiles // 2 + 1, f"{told}; with two stages under way it is about {tiles // 2}"
