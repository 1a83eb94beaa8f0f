"""Lesson 09, the trade-off: the shape of a tile against the shape of an instruction."""

from functools import partial
from numbers import Integral

import pytest
import torch

from curriculum.lesson_09 import host, tradeoff
from harness.judging.returned import number
from references import matrices
from references.hardware import MEASURED_H200
from references.tensor_cores import MMA_SYNC_TERAFLOPS, pair


def counters_of(name, task, multiply, M, N, K, rng, profile):
    """The counters of one of the learner's kernels, if its answer is right."""
    a, b = pair(M, N, K, rng)
    launches = profile(lambda: multiply(a, b))
    right = matrices.product(a.double(), b.double())
    if not torch.allclose(launches.result.double(), right, rtol=1e-3, atol=1e-2):
        said = f"task {task} first: this test counts what {name} does"
        pytest.fail(f"{said}, which is not right yet", pytrace=False)
    return launches[name].counters


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "M, N, K, tile, expected",
    [
        (16, 8, 16, (16, 8, 16), 1),
        (16, 16, 16, (16, 16, 16), 2),
        (17, 16, 16, (16, 16, 16), 4),
        (1, 1, 1, (16, 8, 16), 1),
        (1, 1, 1, (32, 32, 16), 8),
        (33, 50, 40, (32, 32, 16), 2 * 2 * 3 * 8),
        (4096, 4096, 4096, (128, 256, 64), 4096**3 // 2048),
        (8, 9, 0, (16, 8, 16), 0),
    ],
)
def test_whole_tiles_are_multiplied(M, N, K, tile, expected):
    got, call = tradeoff.mma_count(M, N, K, tile), f"mma_count({M}, {N}, {K}, {tile})"
    assert isinstance(got, Integral), f"{call} returned {got!r}; instructions are counted in ints"
    assert got == expected, f"{call} is {got}, not {expected}"


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "M, N, K, tile, expected",
    [
        (17, 16, 16, (16, 16, 16), 15 / 32),
        (17, 17, 16, (16, 16, 16), 1 - 17 * 17 / 1024),
        (16, 16, 16, (16, 16, 16), 0),
        (1, 4096, 4096, (128, 256, 64), 127 / 128),
        (1000, 1000, 1000, (128, 256, 64), 1 - 1e9 / 1024**3),
        (3, 5, 7, (16, 8, 16), 1 - 105 / 2048),
    ],
)
def test_what_lies_in_the_padding_is_wasted(M, N, K, tile, expected):
    got = number("padding_waste", tradeoff.padding_waste(M, N, K, tile))
    said = f"{M}, {N}, {K} by tiles of {tile}: {got:.3f} of the work is wasted"
    assert got == pytest.approx(expected, abs=1e-9), f"{said}, not {expected:.3f}"


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K", [(33, 50, 40), (64, 32, 17)])
def test_the_simulator_counts_the_predicted_instructions(M, N, K, rng, profile):
    counters = counters_of("wmma_gemm_pad", 4, host.wmma_gemm_pad, M, N, K, rng, profile)
    # A warp whose tile hangs over both edges altogether may leave its instructions out.
    fewest, most = (tradeoff.mma_count(M, N, K, tile) for tile in ((16, 16, 16), (32, 32, 16)))
    said = f"M, N, K = {M}, {N}, {K}: {counters.mma} instructions counted"
    told = f"{said}; mma_count says {fewest} by tiles of 16 x 16, {most} by 32 x 32"
    assert fewest <= counters.mma <= most, told
    useful, done = 2 * M * N * K, 32 * 128 * counters.mma
    waste = tradeoff.padding_waste(M, N, K, (32, 32, 16))
    assert 1 - useful / done <= waste + 1e-9, f"{said}: {1 - useful / done:.3f} of it is padding"


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "rows, columns, expected",
    [(16, 16, 8), (32, 64, 64 / 3), (64, 64, 32), (128, 128, 64), (128, 256, 256 / 3)],
)
def test_a_larger_block_brings_fewer_bytes(rows, columns, expected):
    got = number("intensity", tradeoff.intensity(rows, columns))
    said = f"blocks of {rows} x {columns}: {got:.4g} operations for each byte"
    assert got == pytest.approx(expected), f"{said}, not {expected:.4g}"


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("down, across", [(1, 1), (2, 1)])
def test_the_copies_are_as_many_as_the_intensity_says(down, across, rng, profile):
    M, N, K = 64, 128, 64
    multiply = partial(host.gemm_two_stages, down=down, across=across)
    counters = counters_of("gemm_two_stages", 5, multiply, M, N, K, rng, profile)
    counted = 2 * M * N * K / counters.async_copy_bytes
    got = number("intensity", tradeoff.intensity(32 * down, 64 * across))
    said = f"blocks of {32 * down} x {64 * across}: {counted:.4g} operations for each byte copied"
    assert got == pytest.approx(counted), f"{said}; intensity says {got:.4g}"


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "rows, columns, expected", [(16, 8, 768), (16, 16, 512), (32, 32, 256), (64, 64, 128)]
)
def test_a_larger_warp_tile_loads_fewer_fragments(rows, columns, expected):
    got = number("bytes_per_mma", tradeoff.bytes_per_mma(rows, columns))
    said = f"a warp with {rows} x {columns} sums: {got:g} bytes for each instruction"
    assert got == pytest.approx(expected), f"{said}, not {expected}"


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("down, across", [(1, 1), (2, 2)])
def test_the_passes_through_the_banks_were_predicted(down, across, rng, profile):
    multiply = partial(host.gemm_two_stages, down=down, across=across)
    M, N = 32 * down, 64 * across
    counters = counters_of("gemm_two_stages", 5, multiply, M, N, 64, rng, profile)
    passes = counters.shared_load_wavefronts / counters.mma
    got = number("bytes_per_mma", tradeoff.bytes_per_mma(16 * down, 16 * across))
    said = f"{down} x {across} fragments a warp: {passes:g} passes of 128 bytes an instruction"
    assert got == pytest.approx(128 * passes), f"{said}; bytes_per_mma says {got:g} bytes"


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "block, warp, expected",
    [
        ((16, 16), (64, 64), 66.4),  # L2
        ((64, 64), (64, 64), 265.6),
        ((256, 256), (16, 16), 267.6),  # shared memory
        ((256, 256), (32, 32), 535.3),
        ((256, 256), (16, 32), 356.9),  # rectangles
        ((16, 64), (64, 64), 106.2),
        ((128, 256), (64, 64), 634.0),  # the tensor cores
    ],
)
def test_the_slowest_of_three_sets_the_pace(block, warp, expected):
    got = number("ceiling", tradeoff.ceiling(block, warp))
    said = f"blocks of {block}, warps of {warp}: at most {got:.4g} TFLOP/s"
    assert got == pytest.approx(expected, rel=2e-3), f"{said}, not {expected}"


@pytest.mark.task(6)
def test_the_measured_limits_leave_a_library_ahead():
    # cuBLAS was measured on the same GPU as the instruction alone: it must use another one, wgmma.
    best = number("ceiling", tradeoff.ceiling((128, 256), (64, 64)))
    cublas = MEASURED_H200.bf16_teraflops
    said = f"the best ceiling is {best:.4g} TFLOP/s, cuBLAS was measured at {cublas:g}"
    assert best == MMA_SYNC_TERAFLOPS and 0.85 < best / cublas < 0.9, said
    plain = number("ceiling", tradeoff.ceiling((16, 16), (16, 16)))
    told = f"a tile of 16 x 16 a block: at most {plain / cublas:.3f} of cuBLAS"
    assert 0.08 < plain / cublas < 0.1, told


@pytest.mark.task(6)
@pytest.mark.parametrize(
    "rows, columns, depth, blocks, expected",
    [
        (128, 256, 64, 1, 4),
        (128, 256, 32, 1, 9),
        (128, 128, 64, 1, 7),
        (128, 128, 64, 2, 3),
        (128, 128, 32, 2, 7),
        (32, 64, 32, 2, 18),
        (16, 16, 8, 2, 226),
        (256, 256, 64, 2, 1),
        (1024, 1024, 64, 1, 0),
    ],
)
def test_shared_memory_holds_a_few_stages(rows, columns, depth, blocks, expected):
    got = tradeoff.most_stages(rows, columns, depth, blocks)
    said = f"{blocks} blocks of {rows} x {columns}, {depth} of K a stage"
    assert got == expected, f"{said}: {expected} stages fit, not {got}"
