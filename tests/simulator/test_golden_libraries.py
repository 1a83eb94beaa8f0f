"""Stored PTX of libcu++ and CUB: atomics with scope and order, types of the standard library."""

import math

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import MOST, SIZES, VERSIONS, integers, kernel, poisoned, rows

pytestmark = pytest.mark.parametrize("version", VERSIONS)


@pytest.mark.parametrize("n", SIZES)
def test_atomics_of_every_scope_and_order(version, n):
    x = integers(np.int32, 1)[:n]
    cells = np.zeros((3, 5), np.int32)
    # Two blocks that meet by atomics of block scope are in a race.
    blocks, name = -(-n // 32), "atomic_refs/scopes_and_orders"
    run(kernel(version, name), blocks, 32, x.copy(), cells, n, faults=blocks == 1)
    total = x.sum(dtype=np.int32)
    np.testing.assert_array_equal(
        cells, np.tile([total, total, -total, np.bitwise_or.reduce(x), total], (3, 1))
    )


@pytest.mark.parametrize("n", SIZES)
def test_operations_of_atomic_refs(version, n):
    x = np.random.default_rng(2).integers(1, 100, n).astype(np.int32)
    words = np.array([2**32 - 1, 6, 5, 77, 1], np.uint32)
    longs, singles, doubles = np.array([5, 1], np.uint64), np.zeros(2, np.float32), np.zeros(1)
    run(
        kernel(version, "atomic_refs/operations"),
        -(-n // 32),
        32,
        x,
        words,
        longs,
        singles,
        doubles,
        n,
    )
    v = x.tolist()
    want = [
        np.bitwise_and.reduce(x | 0xFF00),
        6 ^ np.bitwise_xor.reduce(x),
        max(5, *v),
        min(77, *v),
        1 + n,
    ]
    np.testing.assert_array_equal(words, want)
    assert longs.tolist() == [5 + sum(v), math.prod(2 * w + 1 for w in v) % 2**64]
    np.testing.assert_array_equal(singles, [sum(v), max(v)])
    assert doubles[0] == sum(v)


@pytest.mark.parametrize("block", [1, 31, 33, 100])
def test_a_spin_lock_in_shared_memory(version, block):
    cells = np.zeros(1, np.int32)
    run(kernel(version, "atomic_refs/spin_lock"), 2, block, cells)
    assert cells[0] == block * (block - 1)


def test_a_block_that_waits_for_the_others(version):
    arrived, data, y = np.zeros(1, np.int32), poisoned(4, np.int32), poisoned(33, np.int32)
    run(kernel(version, "atomic_refs/waits_for_others"), 4, 33, arrived, data, y)
    assert y.tolist() == [60] * 33


def test_wait_and_notify(version):
    cell, y = np.zeros(1, np.int32), poisoned(33, np.int32)
    run(kernel(version, "atomic_refs/wait_and_notify"), 2, 33, cell, y)
    assert y.tolist() == [9] * 33


def plane(seed):
    return np.random.default_rng(seed).uniform(-1.5, 1, MOST).astype(np.float32)


def test_iterations_of_complex_numbers(version):
    """Products may be fused with sums, so a number at the edge of the set may differ."""
    re, im = plane(3), plane(4)

    def escapes(c):
        z, steps = 0j, 0
        while steps < 30 and abs(z) <= 2:
            z, steps = z * z + c, steps + 1
        return steps

    want = np.array([escapes(complex(a, b)) for a, b in zip(re, im, strict=True)])
    for n in SIZES:
        y = poisoned(n, np.int32)
        run(
            kernel(version, "standard_library/escapes"),
            -(-n // 32),
            32,
            re[:n].copy(),
            im[:n].copy(),
            y,
            n,
        )
        assert (y != want[:n]).mean() <= 0.02
        assert (np.abs(y - want[:n]) <= 1).all()


def test_products_and_quotients_of_complex_numbers(version):
    re, im = plane(5), plane(6)
    c = re.astype(np.complex128) + 1j * im
    d = (im + np.float32(2)) + 1j * (re - np.float32(1.5)).astype(np.complex128)
    want = [(c * d).real, (c * d).imag, (c / d).real, (c / d).imag]
    for n, y in rows(version, "standard_library/complex_arithmetic", [re, im], np.float32, 4):
        np.testing.assert_allclose(y, np.array(want)[:, :n], rtol=1e-5, atol=1e-6)


def test_array_optional_bit_tuple(version):
    x = np.random.default_rng(7).integers(0, 130, MOST).astype(np.int32)
    x[:3] = [7, 0, 1 << 20]

    def results(v):
        root = math.isqrt(v)
        trailing = (v & -v).bit_length() - 1 if v else 32
        turned = (v << 5 | v >> 27) % 2**32
        return [121 * (v % 3), root if root * root == v else -1, int(np.float32(v).view(np.int32)),
                v.bit_count() * 10000 + (32 - v.bit_length()) * 100 + trailing, v + 5,
                2**31 - 1 if v == 7 else (turned + 2**31) % 2**32 - 2**31]  # fmt: skip

    want = np.array([results(int(v)) for v in x]).T
    for n, y in rows(version, "standard_library/values", [x], np.int32, 6):
        np.testing.assert_array_equal(y, want[:, :n])


def test_reductions_and_scans_of_cub(version):
    x = np.random.default_rng(8).integers(-9, 10, (3, 64)).astype(np.int32)
    y = poisoned((3, 2), np.int32)
    run(kernel(version, "block_primitives/reduces"), 3, 64, x, y)
    np.testing.assert_array_equal(y, np.stack([x.sum(axis=1), x[:, :32].sum(axis=1)], axis=1))
    y = poisoned((2, 3, 64), np.int32)
    run(kernel(version, "block_primitives/scans"), 3, 64, x, y, x.size)
    sums = np.cumsum(x, axis=1)
    np.testing.assert_array_equal(y[0], sums)
    np.testing.assert_array_equal(y[1], sums - x + 1000 * sums[:, -1:])
