"""Stored PTX of atomics leaves in memory what any order of the threads would."""

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import SIZES, VERSIONS, integers, kernel, poisoned

pytestmark = pytest.mark.parametrize("version", VERSIONS)


def launched(version, name, n, *arguments):
    # Those of block scope are atomics among the threads of one block, and a race between two.
    blocks = -(-n // 64)
    run(kernel(version, name), blocks, 64, *arguments, n, faults=blocks == 1)


def folded(operation, start, values):
    for v in values:
        start = operation(start, v)
    return start


@pytest.mark.parametrize("n", SIZES)
def test_atomics_of_words(version, n):
    x = integers(np.int32, 1)[:n]
    start = np.array(
        [5, 5, 100, -100, -1, 0, 9, 2**31 - 5, 3, 2, 4, 1, 2, -9, 0, 0, 1, -7], np.int32
    )
    cells = start.copy()
    launched(version, "atomics/atomics_int", n, x.copy(), cells)
    v, u = x.tolist(), [w % 2**32 for w in x.tolist()]
    first = start.tolist()

    def down(old, _):
        return 6 if old == 0 or old > 6 else old - 1

    want = [
        first[0] + sum(v), first[1] - sum(v), min([100, *v]), max([-100, *v]), folded(int.__and__,
        -1, v),
        folded(int.__or__, 0, v), folded(int.__xor__, 9, v), min([first[7], *u]), max([3, *u]),
        folded(lambda old, _: 0 if old >= 6 else old + 1, 2, v), folded(down, 4, v), 1 + sum(v),
        2 + sum(v),
        max([-9, *v]), 77, 9, 1 + sum(v), -7,
    ]  # fmt: skip
    np.testing.assert_array_equal(cells.view(np.uint32), [w % 2**32 for w in want])


@pytest.mark.parametrize("n", SIZES)
def test_atomics_of_long_words(version, n):
    x = integers(np.uint64, 2)[:n]
    start = np.array([7, 1 << 60, 5, 3, 2**64 - 9, 2**64 - 1, 0, 11, 0, 0, 1, 42], np.uint64)
    cells = start.copy()
    launched(version, "atomics/atomics_long", n, x.copy(), cells)
    v = x.tolist()
    s = x.view(np.int64).tolist()
    want = [7 + sum(v), min([1 << 60, *v]), max([5, *v]), min([3, *s]), max([-9, *s]),
            folded(int.__and__, 2**64 - 1, v), folded(int.__or__, 0, v), folded(int.__xor__, 11,
            v), 1 << 40,
            3 << 40, 1 + sum(v), 42]  # fmt: skip
    assert cells.tolist() == [w % 2**64 for w in want]


@pytest.mark.parametrize("n", SIZES)
def test_atomic_sums_of_floats(version, n):
    x = np.random.default_rng(3).integers(-50, 50, n).astype(np.float32)
    singles, doubles = np.ones(4, np.float32), np.ones(2)
    launched(version, "atomics/atomics_float", n, x.copy(), singles, doubles)
    np.testing.assert_array_equal(singles, [*[1 + x.sum()] * 3, 2.5])
    np.testing.assert_array_equal(doubles, [1 + x.sum()] * 2)


@pytest.mark.parametrize("n", SIZES)
def test_every_ticket_is_drawn_once(version, n):
    counter, drawn, swapped = (
        np.array([4, 1], np.int32),
        poisoned(n, np.int32),
        poisoned(n, np.int32),
    )
    launched(version, "atomics/tickets", n, counter, drawn, swapped)
    assert counter.tolist() == [4 + n, 1 + 3 * n]
    np.testing.assert_array_equal(np.sort(drawn), 4 + np.arange(n))
    np.testing.assert_array_equal(np.sort(swapped), 1 + 3 * np.arange(n))


@pytest.mark.parametrize("n", SIZES)
def test_atomics_on_shared_memory(version, n):
    x = integers(np.int32, 4)[:n]
    bins, sums = np.zeros(18, np.int32), np.zeros(2, np.float32)
    launched(version, "atomics/atomics_shared", n, x.copy(), bins, sums)
    np.testing.assert_array_equal(bins[:16], np.bincount(x & 15, minlength=16))
    np.testing.assert_array_equal(sums, [(x & 15).sum(), n])
    blocks = [x[k : k + 64].view(np.uint32) for k in range(0, n, 64)]
    assert bins[16] == max(int(block.min()) & 0xFFFF for block in blocks)
    assert bins[17] == sum(len(block) % 5 for block in blocks)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", ["half", "bfloat"])
def test_atomic_sums_of_16_bits(version, name, n):
    """Whole numbers small enough for 8 digits: every order gives the same sum."""
    x = np.resize([1, 2, -1, -2, 3, -3, 0.5], n).astype(np.float32)
    cells = np.zeros(4, np.uint16)
    launched(version, f"atomics_half/atomics_{name}", n, x, cells)
    values = (
        cells.view(np.float16)
        if name == "half"
        else (cells.astype(np.uint32) << 16).view(np.float32)
    )
    np.testing.assert_array_equal(values, [x.sum(), 0, x.sum(), -x.sum()])


@pytest.mark.parametrize("n", SIZES)
def test_loops_of_compare_and_swap(version, n):
    x = np.random.default_rng(5).normal(size=n).astype(np.float32)
    x[0] = abs(x[0])
    cells = np.full(2, -np.inf, np.float32)
    shorts = np.array([65000, 4321], np.uint16)
    launched(version, "atomics_half/loops_of_swaps", n, x, cells, shorts)
    np.testing.assert_array_equal(cells, [x.max()] * 2)
    assert shorts.tolist() == [(65000 + 7 * n) % 2**16, 4321]


@pytest.mark.parametrize("n", SIZES)
def test_a_lock_that_every_thread_takes_once(version, n):
    x = np.random.default_rng(6).integers(0, 50, n).astype(np.float32)
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.float32)
    launched(version, "atomics_half/behind_a_lock", n, x.copy(), lock, total)
    assert (int(lock[0]), float(total[0])) == (0, float(x.sum()))
