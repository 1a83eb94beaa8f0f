"""Stored PTX of a first course's kernels: product, softmax, layer norm, scan, Philox, sort."""

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import SIZES, VERSIONS, integers, kernel, poisoned

pytestmark = pytest.mark.parametrize("version", VERSIONS)


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (16, 32, 48), (17, 31, 33), (40, 7, 100)])
def test_a_tiled_product_of_matrices(version, m, n, k):
    """Sums of small whole numbers: exact in any order."""
    random = np.random.default_rng(1)
    a, b = (random.integers(-8, 9, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    c = poisoned((m, n), np.float32)
    run(
        kernel(version, "teaching_kernels/matmul"),
        (-(-n // 16), -(-m // 16)),
        (16, 16),
        a,
        b,
        c,
        m,
        n,
        k,
    )
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("columns", [1, 31, 32, 33, 100])
def test_an_online_softmax(version, columns):
    """exp within 1 ulp, a few sums and products: 2e-6 of the value is room for the worst."""
    x = np.random.default_rng(2).normal(0, 5, (6, columns)).astype(np.float32)
    y = poisoned(x.shape, np.float32)
    run(kernel(version, "teaching_kernels/online_softmax"), 2, 128, x, y, 6, columns)
    wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, wide / wide.sum(axis=1, keepdims=True), rtol=4e-6)


@pytest.mark.parametrize("columns", [2, 31, 33, 100])
def test_a_layer_norm_by_welford(version, columns):
    random = np.random.default_rng(3)
    x, gain = (random.normal(2, 3, shape).astype(np.float32) for shape in ((3, columns), columns))
    y = poisoned(x.shape, np.float32)
    run(kernel(version, "teaching_kernels/layer_norm"), 3, 32, x, gain, y, columns)
    wide = x.astype(np.float64)
    normal = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(
        wide.var(axis=1, keepdims=True) + 1e-5
    )
    np.testing.assert_allclose(y, normal * gain, rtol=1e-4, atol=1e-5)


def test_a_scan_in_one_pass_with_blocks_that_wait(version):
    for n in SIZES:
        x = np.random.default_rng(4).integers(0, 50, n).astype(np.int32)
        blocks = -(-n // 64)
        y, state = poisoned(n, np.int32), np.zeros(blocks, np.int32)
        run(kernel(version, "teaching_kernels/chained_scan"), blocks, 64, x, y, state, n)
        np.testing.assert_array_equal(y, np.cumsum(x))


def philox(counter, seed):
    """Philox 4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"."""
    c, k = [counter, 0, 0, 0], [seed, ~seed % 2**32]
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [second >> 32 ^ c[1] ^ k[0], second % 2**32, first >> 32 ^ c[3] ^ k[1], first % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def test_random_numbers_by_counting(version):
    for n in SIZES:
        y = poisoned((n, 4), np.uint32)
        run(
            kernel(version, "teaching_kernels/philox"), -(-n // 32), 32, y, np.uint32(0xDEADBEEF), n
        )
        assert y.tolist() == [philox(i, 0xDEADBEEF) for i in range(n)]


@pytest.mark.parametrize("block", [2, 32, 256])
def test_a_bitonic_sort_of_each_block(version, block):
    x = integers(np.int32, 5, 3 * block).reshape(3, block)
    want = np.sort(x, axis=1)
    run(kernel(version, "teaching_kernels/bitonic_sort"), 3, block, x, shared_bytes=4 * block)
    np.testing.assert_array_equal(x, want)
