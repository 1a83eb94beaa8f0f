"""Lesson 05, the trade-off: what does a larger tile save, and what does it take?"""

from numbers import Integral, Real

import pytest
import torch

from curriculum.lesson_05 import host, tradeoff
from harness.judging.returned import number
from references import matrices
from references.hardware import H200, KIB


@pytest.mark.task(5)
@pytest.mark.parametrize(
    "M, N, K, rows, columns, expected",
    [
        (4096, 4096, 4096, 1, 1, 549_822_922_752),  # 0.20 GB are compulsory
        (4096, 4096, 4096, 16, 16, 34_426_847_232),
        (4096, 4096, 4096, 64, 64, 8_657_043_456),
        (4096, 4096, 4096, 128, 128, 4_362_076_160),
        (17, 16, 1, 16, 16, 4 * (17 + 2 * 16 + 17 * 16)),  # a second row of blocks for one row
        (10, 100, 7, 5, 50, 4 * (10 * 7 * 2 + 7 * 100 * 2 + 1000)),
        (5, 7, 0, 16, 16, 140),
    ],
)
def test_each_block_brings_what_it_needs_once(M, N, K, rows, columns, expected):
    call = f"requested_bytes({M}, {N}, {K}, {rows}, {columns})"
    got = tradeoff.requested_bytes(M, N, K, rows, columns)
    assert isinstance(got, Integral), f"{call} returned {got!r}; bytes are counted in ints"
    assert got == expected, f"{call} is {got}, not {expected}"


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K, tile", [(48, 64, 32, 16), (37, 53, 41, 16), (65, 33, 40, 32)])
def test_the_simulator_counts_the_predicted_bytes(M, N, K, tile, rng, profile):
    a, b = matrices.pair(M, N, K, rng)
    launches = profile(lambda: host.matmul_tiled(a, b, tile))
    if not torch.allclose(launches.result, matrices.product(a, b), rtol=1e-3, atol=1e-2):
        said = "task 3 first: this test counts the bytes of matmul_tiled"
        pytest.fail(f"{said}, which is not right yet", pytrace=False)
    counters = launches["matmul_tiled"].counters
    loaded, stored = counters.global_load_bytes + counters.async_copy_bytes, 4 * M * N
    fewest = 4 * (M * K * -(-N // tile) + K * N * -(-M // tile))
    if (loaded, counters.global_store_bytes) != (fewest, stored):
        said = f"task 3 first: matmul_tiled loads {loaded} bytes and stores"
        told = f"{said} {counters.global_store_bytes}, where {fewest} and {stored} are enough"
        pytest.fail(told, pytrace=False)
    counted = loaded + stored
    predicted = tradeoff.requested_bytes(M, N, K, tile, tile)
    said = f"M, N, K = {M}, {N}, {K}, TILE {tile}"
    assert predicted == counted, f"{said}: {predicted} bytes predicted, {counted} counted"


@pytest.mark.task(5)
@pytest.mark.parametrize(
    "tile, expected", [(1, 0.25), (16, 3.992), (32, 7.969), (64, 15.876), (128, 31.508)]
)
def test_the_intensity_grows_with_the_tile(tile, expected):
    got = number(f"intensity, tile {tile}", tradeoff.intensity(4096, 4096, 4096, tile, tile))
    said = f"4096 cubed by tiles of {tile} x {tile}: {got:.4g} operations a byte"
    assert got == pytest.approx(expected, rel=1e-3), f"{said}, not {expected}"


@pytest.mark.task(5)
@pytest.mark.parametrize(
    "M, N, K, rows, columns, expected",
    [(64, 32, 16, 16, 8, 2.0), (64, 32, 16, 32, 8, 16 / 7), (1, 1, 1, 16, 16, 1 / 6)],
)
def test_rectangles_have_an_intensity_too(M, N, K, rows, columns, expected):
    got = number("intensity", tradeoff.intensity(M, N, K, rows, columns))
    said = f"M, N, K = {M}, {N}, {K} by tiles of {rows} x {columns}: {got:.4g} operations a byte"
    assert got == pytest.approx(expected), f"{said}, not {expected:.4g}"


@pytest.mark.task(5)
@pytest.mark.parametrize(
    "shared_bytes, buffers, expected",
    [
        (48 * KIB, 1, 78),  # without asking
        (48 * KIB, 2, 55),
        (H200.shared_bytes_per_block, 1, 170),
        (H200.shared_bytes_per_block, 3, 98),
        (2 * 4 * 64 * 64, 1, 64),  # exactly full
        (2 * 4 * 64 * 64 - 1, 1, 63),
        (7, 1, 0),
    ],
)
def test_shared_memory_limits_the_tile(shared_bytes, buffers, expected):
    got = tradeoff.largest_tile(shared_bytes, buffers)
    said = f"{shared_bytes} bytes of shared memory, {buffers} of each tile"
    assert got == expected, f"{said}: the largest tile is {expected}, not {got}"


@pytest.mark.task(5)
@pytest.mark.parametrize("tm, tn, expected", [(1, 1, 2), (4, 4, 0.5), (8, 8, 0.25), (8, 4, 0.375)])
def test_a_larger_register_tile_loads_fewer_floats(tm, tn, expected):
    got = number("shared_loads_per_fma", tradeoff.shared_loads_per_fma(tm, tn))
    said = f"{tm} x {tn} sums a thread: {got:.3g} floats for each multiply-add"
    assert got == pytest.approx(expected), f"{said}, not {expected}"


@pytest.mark.task(5)
@pytest.mark.parametrize(
    "passes, expected", [(2, 1 / 8), (1, 1 / 4), (0.5, 1 / 2), (0.25, 1), (0.125, 1)]
)
def test_shared_memory_feeds_a_share_of_the_multiply_adds(passes, expected):
    got = number("shared_ceiling", tradeoff.shared_ceiling(passes))
    said = f"{passes} passes for each multiply-add: {got:.3g} of the multiply-adds are fed"
    assert got == pytest.approx(expected), f"{said}, not {expected:g}"


@pytest.mark.task(5)
@pytest.mark.simulated
def test_one_sum_a_thread_feeds_an_eighth(rng, profile):
    a, b = matrices.pair(64, 64, 64, rng)
    launches = profile(lambda: host.matmul_tiled(a, b, 32))
    if not torch.allclose(launches.result, matrices.product(a, b), rtol=1e-3, atol=1e-2):
        said = "task 3 first: this test counts the passes of matmul_tiled"
        pytest.fail(f"{said}, which is not right yet", pytrace=False)
    passes = launches["matmul_tiled"].counters.shared_load_wavefronts / (64**3 / 32)
    got = number("shared_ceiling", tradeoff.shared_ceiling(passes))
    # The compiler may bring two or four neighbours of a's tile by one load: then it is more.
    said = f"{passes:.3g} passes counted for each multiply-add: {got:.3g} of them are fed"
    assert got == pytest.approx(1 / (4 * passes)) and got >= 1 / 8, said


@pytest.mark.task(5)
def test_the_published_gain_of_turning_the_lanes_was_predicted():
    row, column = tradeoff.sectors_per_step("row"), tradeoff.sectors_per_step("column")
    said = f"lanes along a row of c: {row} sectors a step; along a column: {column}"
    assert (row, column) == (5, 33), f"{said}; 5 and 33 are right"
    gflops = matrices.WORKLOG_GFLOPS
    measured = gflops["lanes along rows"] / gflops["lanes along columns"]
    told = f"{said}: {column / row:.2f} times fewer; measured {measured:.2f} times as fast"
    assert column / row == pytest.approx(measured, rel=0.1), told
