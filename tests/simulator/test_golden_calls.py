"""Stored PTX of functions that stay functions: values and structs, recursion, pointers, virtual."""

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import MOST, SIZES, VERSIONS, kernel, poisoned

pytestmark = pytest.mark.parametrize("version", VERSIONS)


def launched(version, name, n, *arguments, block=32):
    run(kernel(version, name), -(-n // block), block, *arguments, n)


def small_floats(seed, count=MOST):
    """Quarters from -8 to 8: sums and products of a few of them are exact."""
    return (np.random.default_rng(seed).integers(-32, 33, count) / 4).astype(np.float32)


def test_a_function_called_by_some_lanes_twice(version):
    coefficients = np.array([1, -0.5, 0.25, 2], np.float32)
    x = small_floats(1)
    once = ((2 * x + np.float32(0.25)) * x - np.float32(0.5)) * x + 1
    want = np.where(np.arange(MOST) % 2, once * np.float32(-0.5) + 1, once)
    for n in SIZES:
        y = poisoned(n, np.float32)
        launched(version, "device_functions/values", n, x[:n].copy(), coefficients, y)
        np.testing.assert_allclose(y, want[:n], rtol=1e-6)


def test_structs_by_value(version):
    x = small_floats(2)
    for n in SIZES:
        sums, squares, counts = (
            poisoned(n, np.float32),
            poisoned(n, np.float64),
            poisoned(n, np.int32),
        )
        launched(version, "device_functions/structs", n, x[:n].copy(), sums, squares, counts)
        for i in range(n):
            last = i % 4
            assert sums[i] == x[i] * (last + 1) + last * (last + 1) / 2
            assert squares[i] == float(x[i]) ** 2 * (last + 1)
            assert counts[i] == (last + 1) * 1000 + 100 + (last + 1) * 10 + 7


def test_references_and_narrow_parameters(version):
    x = np.random.default_rng(3).integers(-100, 100, MOST).astype(np.int32)
    for n in SIZES:
        y = poisoned((3, n), np.int32)
        launched(version, "device_functions/references", n, x[:n].copy(), y)
        low, high = np.minimum(x, 5 - x)[:n], np.maximum(x, 5 - x)[:n]
        np.testing.assert_array_equal(y[:2], [low, high])
        narrow = (low.astype(np.int8).astype(np.int64) * 3 + high.astype(np.uint16)).astype(
            np.int16
        )
        np.testing.assert_array_equal(y[2], np.where(np.arange(n) % 2, -narrow, narrow))


def test_vectors_as_parameters_and_results(version):
    for n in SIZES:
        x = small_floats(4, 4 * n).reshape(n, 4)
        y = poisoned((n, 4), np.float32)
        launched(version, "device_functions/vectors", n, x.copy(), y)
        np.testing.assert_array_equal(y, np.roll(x, 1, axis=1))


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_a_function_that_calls_itself_twice(version):
    x = np.random.default_rng(5).integers(0, 11, MOST).astype(np.int32)
    for n in SIZES:
        y = poisoned(n, np.int32)
        launched(version, "recursion/numbers_of_fibonacci", n, x[:n].copy(), y)
        np.testing.assert_array_equal(y, [fibonacci(int(v)) for v in x[:n]])


def test_two_functions_that_call_each_other(version):
    x = np.random.default_rng(6).integers(0, 20, MOST).astype(np.int32)
    for n in SIZES:
        y = poisoned(n, np.int32)
        launched(version, "recursion/parity", n, x[:n].copy(), y)
        np.testing.assert_array_equal(y, 2 - x[:n] % 2)


def test_quicksort_of_a_local_array(version):
    for n in SIZES:
        y = np.random.default_rng(7).integers(-50, 50, (n, 8)).astype(np.int32)
        want = np.sort(y, axis=1)
        launched(version, "recursion/sorted_rows", n, y)
        np.testing.assert_array_equal(y, want)


def test_depths_of_a_tree(version):
    nodes = np.array([(2 * k + 1 if k % 3 else -1, 2 * k + 2, k) for k in range(40)], np.int32)
    nodes[:, :2][nodes[:, :2] >= 40] = -1

    def depth(at):
        return 0 if at < 0 else 1 + max(depth(nodes[at, 0]), depth(nodes[at, 1]))

    for n in (1, 31, 32, 33, 40):
        y = poisoned(n, np.int32)
        launched(version, "recursion/depths", n, nodes.copy(), y)
        np.testing.assert_array_equal(y, [depth(k) for k in range(n)])


OPERATIONS = (np.add, np.subtract, np.multiply)


def applied(which, x, other):
    return np.array(
        [OPERATIONS[w](v, np.float32(other)) for w, v in zip(which, x, strict=True)], np.float32
    )


def test_a_function_chosen_at_run_time(version):
    x, which = small_floats(8), np.random.default_rng(8).integers(0, 3, MOST).astype(np.int32)
    for n in SIZES:
        y = poisoned(n, np.float32)
        launched(version, "function_pointers/chosen", n, x[:n].copy(), which[:n].copy(), y)
        np.testing.assert_array_equal(y, applied(which[:n], x[:n], 2))


def test_tables_of_functions_in_global_and_constant_memory(version):
    x, which = small_floats(9), np.random.default_rng(9).integers(0, 3, MOST).astype(np.int32)
    fixed = np.where(which & 1, 0, 2)  # multiply, add
    for n in SIZES:
        y = poisoned(n, np.float32)
        launched(version, "function_pointers/from_a_table", n, x[:n].copy(), which[:n].copy(), y)
        np.testing.assert_array_equal(
            y, applied(which[:n], x[:n], 3) + applied(fixed[:n], x[:n], 0.5)
        )


def test_one_function_for_all_threads(version):
    x = small_floats(10)
    for which in range(3):
        y = poisoned(MOST, np.float32)
        run(kernel(version, "function_pointers/one_for_all"), 2, 64, x, y, MOST, which)
        np.testing.assert_array_equal(y, OPERATIONS[which](x, np.float32(4)))


def test_virtual_functions(version):
    x, which = small_floats(11), np.random.default_rng(11).integers(0, 2, MOST).astype(np.int32)
    for n in SIZES:
        y = poisoned(n, np.float32)
        launched(
            version, "function_pointers/virtual_functions", n, x[:n].copy(), which[:n].copy(), y
        )
        np.testing.assert_array_equal(y, np.where(which[:n], 3 * x[:n] * x[:n], 0))
