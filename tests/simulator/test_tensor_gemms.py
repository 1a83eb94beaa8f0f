"""Whole products on tensor cores, in CUDA C++: against float64, and what they count."""

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import VERSIONS, kernel
from tests.simulator.matrices import HELD, bound, exact, random_matrix

TILES = {  # shape of a tile, type of a and b, of c
    "half_to_float": ((16, 16, 16), "f16", "f32"),
    "half_to_half": ((16, 16, 16), "f16", "f16"),
    "half_tall": ((32, 8, 16), "f16", "f32"),
    "half_wide": ((8, 32, 16), "f16", "f32"),
    "bfloat": ((16, 16, 16), "bf16", "f32"),
    "tensor_float": ((16, 16, 8), "tf32", "f32"),
    "doubles": ((8, 8, 4), "f64", "f64"),
    "signed_char": ((16, 16, 16), "s8", "s32"),
    "unsigned_char": ((16, 16, 16), "u8", "s32"),
}
ISSUED = {"tensor_float": 4, "doubles": 1}  # hardware instructions for a tile's product; others 2


def made(random, m, n, k, factor, total):
    a, b = random_matrix(random, (m, k), factor), random_matrix(random, (k, n), factor)
    return a, b, np.full((m, n), 85, HELD[total])


def close(c, a, b, factor, total, step):
    """Whether c is a b, rounded to its type each `step` along k."""
    x, y = exact(a, factor), exact(b, factor)
    allowed = sum(
        bound(x[:, : i + step], y[: i + step], np.zeros(c.shape), step, total)
        for i in range(0, x.shape[1], step)
    )
    return bool(np.all(np.abs(exact(c, total) - x @ y) <= allowed))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", TILES)
@pytest.mark.parametrize("tiles", [(1, 1, 1), (2, 3, 5), (3, 1, 4)])
def test_a_warp_for_each_tile(version, name, tiles):
    (tile_m, tile_n, tile_k), factor, total = TILES[name]
    m, n, k = tiles[0] * tile_m, tiles[1] * tile_n, tiles[2] * tile_k
    a, b, c = made(np.random.default_rng([m, n, k]), m, n, k, factor, total)
    chosen = kernel(version, f"tensor_gemms/{name}")
    launched = run(chosen, tiles[0] * tiles[1] + 1, 32, a, b, c, m, n, k)
    assert close(c, a, b, factor, total, tile_k)
    assert launched.counters.mma == tiles[0] * tiles[1] * tiles[2] * ISSUED.get(name, 2)
    floats = 0 if total == "s32" else 2 * m * n * k
    assert launched.counters.float_operations == floats


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (1, 1, 1), (17, 33, 40), (5, 50, 31)])
def test_edges_are_zeros_in_shared_memory(version, m, n, k):
    a, b, c = made(np.random.default_rng([m, n, k]), m, n, k, "f16", "f32")
    chosen = kernel(version, "tensor_gemms/with_edges")
    launched = run(chosen, (-(-n // 16), -(-m // 16)), 32, a, b, c, m, n, k)
    assert close(c, a, b, "f16", "f32", 16)
    assert launched.counters.mma == 2 * -(-m // 16) * -(-n // 16) * -(-k // 16)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["blocked", "by_hand"])
def test_four_warps_share_tiles_that_they_load_without_bank_conflicts(version, name):
    m, n, k = 128, 192, 96
    a, b, c = made(np.random.default_rng(1), m, n, k, "f16", "f32")
    chosen = kernel(version, f"tensor_gemms/{name}")
    counters = run(chosen, (n // 64, m // 64), 128, a, b, c, m, n, k).counters
    assert close(c, a, b, "f16", "f32", 16)
    assert counters.mma == m * n * k // (16 * 8 * 16)
    assert counters.float_operations == 2 * m * n * k
    blocks, steps, warps = m * n // 64**2, k // 16, 4
    # 16 x 16 halves are 4 tiles of 8 rows, and a warp reads two such of a and two of b a step.
    assert counters.shared_load_wavefronts == blocks * steps * warps * 16
    assert counters.shared_load_conflicts == 0
    assert counters.global_load_efficiency == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_elements_of_fragments_may_be_changed_wherever_they_are(version):
    random = np.random.default_rng(2)
    a, b = (random_matrix(random, (16, 16), "f16") for _ in range(2))
    c = random_matrix(random, (16, 16), "f32")
    bias = c.copy()
    run(kernel(version, "tensor_gemms/elementwise"), 1, 32, a, b, c, 0.25)
    product = exact(a, "f16") / 2 @ exact(b.T, "f16")
    want = np.maximum(0, 0.25 * product + bias)
    np.testing.assert_allclose(c, want, rtol=1e-6, atol=1e-5)
    assert (c == 0).any() and (c > 0).any()
