"""Grids, blocks and shared bytes that CUDA would refuse are refused with advice."""

import numpy as np
import pytest
import torch

from harness.launching.launch_shape import check_shared, launch_shape
from harness.telling.learner_error import LaunchError


def shape(grid=(1,), block=(32,), shared_mem=0, maximum_threads=None):
    return launch_shape("kernel", grid, block, shared_mem, maximum_threads)


def test_missing_dimensions_are_one():
    found = shape((7, 2), [32], 16)
    assert (found.grid, found.block, found.shared_bytes) == ((7, 2, 1), (32, 1, 1), 16)


def test_numpy_integers_count_as_integers():
    assert shape((np.int64(3),), (np.int32(64),), np.int64(4)).grid == (3, 1, 1)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"grid": (0,)}, "if n == 0: return"),
        ({"grid": (4, 0)}, "grid of 4 × 0 blocks"),
        ({"grid": (-1,)}, "negative"),
        ({"grid": (2.5,)}, r"\(n \+ threads - 1\) // threads"),
        ({"grid": 4}, r"try +\(4,\)"),
        ({"grid": ()}, "0 dimensions"),
        ({"grid": (1, 1, 1, 1)}, "4 dimensions"),
        ({"grid": (1, 65_536)}, "grid's y is 65,536"),
        ({"grid": (2**31,)}, "at most 2,147,483,647"),
        ({"block": (0,)}, "no threads"),
        ({"block": (1025,)}, "at most 1,024"),
        ({"block": (32, 32, 2)}, "2,048 threads"),
        ({"block": (1, 1, 65)}, "block's z is 65"),
        ({"block": (512,), "maximum_threads": 256}, "__launch_bounds__"),
        ({"shared_mem": -4}, "shared_mem is -4"),
        ({"shared_mem": 4.0}, "shared_mem is 4.0"),
    ],
)
def test_what_cuda_would_refuse_is_refused_with_advice(wrong, message):
    with pytest.raises(LaunchError, match=message):
        shape(**wrong)


@pytest.mark.parametrize(
    "sizes, advice",
    [
        ((0, 0), "nothing to do: if n == 0: return"),
        ((1, 1), r"round up, .* \(n \+ threads - 1\) // threads"),
        ((0, 5), r"some tensors have elements: .*max\(1, …\)"),
    ],
)
def test_a_grid_without_blocks_is_advised_by_what_there_is_to_do(sizes, advice):
    tensors = [torch.zeros(size) for size in sizes]
    with pytest.raises(LaunchError, match=advice):
        launch_shape("kernel", (0,), (256,), 0, None, tensors)


@pytest.mark.parametrize("grid", [(2**31 - 1,), (1, 65_535, 65_535)])
def test_the_largest_grids_are_taken(grid):
    assert shape(grid).grid[: len(grid)] == grid


def test_a_block_may_opt_in_to_227_kib():
    check_shared("kernel", 0, 227 * 1024)
    with pytest.raises(LaunchError, match="232,448"):
        check_shared("kernel", 1, 227 * 1024)


def test_shared_arrays_of_fixed_size_end_at_48_kib():
    check_shared("kernel", 48 * 1024, 0)
    with pytest.raises(LaunchError, match="extern __shared__"):
        check_shared("kernel", 48 * 1024 + 4, 0)
