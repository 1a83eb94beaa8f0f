"""Lesson 07, softmax: two reductions of each row, and one reading."""

import math

import numpy as np
import pytest
import torch

from curriculum.lesson_07 import host
from harness import cuda
from harness.judging.earlier import needs_task
from references import reductions
from references.vectors import spread

SHAPES = [(1, 1), (3, 2), (2, 31), (3, 32), (2, 33), (5, 257), (2, 1000), (3, 1031), (1, 8192)]


def needs_block_sum(device):
    x = torch.arange(1.0, 301.0, device=device)
    wanted = reductions.block_sums(x, 96)[:, None]
    said = "the kernel of this task may call block_sum"
    needs_task(2, said, lambda: (host.held("block_sum_held", x, 96) == wanted).all())


def rows_of(rows, columns, rng, device="cpu"):
    return spread(rows * columns, rng, device).reshape(rows, columns)


def launch_of_softmax(x, profile):
    """(grid, block, bytes of shared memory), as the host asks for them."""
    asked = profile(lambda: host.softmax_row(x)).launches[0]
    blocks = math.prod(asked.grid)
    assert blocks == len(x), f"{len(x)} rows: {blocks} blocks; the kernel takes a row for each"
    return asked.grid, asked.block, asked.shared_bytes


def kernel(x, profile):
    """What the kernel alone makes of x, in the launch that the host asks for."""
    grid, block, shared_bytes = launch_of_softmax(x, profile)
    y = torch.empty_like(x)
    alone = cuda.module(__file__, "kernel.cu").get_function("softmax_row")
    alone(grid, block, (x, y, np.int32(x.shape[1])), shared_bytes)
    return y


@pytest.mark.task(5)
@pytest.mark.parametrize("threads", [32, 96, 256, 1024])
@pytest.mark.parametrize("largest", [1000.0, -7.0, -2e38])
def test_every_thread_of_a_block_knows_the_largest(largest, threads, device, rng):
    x = largest - abs(largest) / 4 * torch.rand(3 * threads, generator=rng)
    x[torch.arange(3) * threads + torch.randint(threads, (3,), generator=rng)] = largest
    held = host.held("block_max_held", x.to(device), threads)
    wrong = (held != torch.tensor(largest, device=device)).nonzero().tolist()
    if wrong:
        block, thread = wrong[0]
        pytest.fail(
            f"block_max, 3 blocks of {threads}, each with one {largest:g} and no value above it: "
            f"thread {thread} of block {block}\n  holds {held[block, thread].item():g}; "
            f"{len(wrong)} of {held.numel()} threads do not hold the largest\n"
            "  A lane for which no warp has left a value must bring one that loses to all: "
            "neither 0 nor -1e30 does.",
            pytrace=False,
        )


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("rows, columns", [(1, 1), (2, 33), (5, 257), (3, 1031), (1, 8192)])
def test_the_kernel_alone_makes_a_softmax_of_each_row(rows, columns, rng, profile, close):
    needs_block_sum("cpu")
    x = rows_of(rows, columns, rng)
    close(kernel(x, profile), reductions.softmax, x)


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("columns", [2, 1000])
def test_a_row_may_lie_as_far_below_zero_as_float32_goes(columns, profile, close):
    needs_block_sum("cpu")
    x = torch.full((3, columns), -2e38)
    x[1] = -3e38
    got = kernel(x, profile)
    assert not got.isnan().any(), (
        f"rows of {columns} times -2e38: NaN, not {1 / columns:g}. What does your largest begin "
        "with? Only -INFINITY loses to every number"
    )
    close(got, reductions.softmax, x)


@pytest.mark.task(5)
@pytest.mark.parametrize("rows, columns", SHAPES)
@pytest.mark.parametrize("size", [1e-2, 1.0])
def test_each_row_becomes_its_softmax(rows, columns, size, device, rng, close):
    needs_block_sum(device)
    x = size * rows_of(rows, columns, rng, device)  # up to 1000 on either side
    close.function(host.softmax_row, reductions.softmax, x)


@pytest.mark.task(5)
def test_large_numbers_do_not_overflow(device, close):
    needs_block_sum(device)
    rows = [
        [1e4, 1e4 - 1, -1e4],
        [-1e4, -1e4 + 2, -1e4],
        [3.4e38, 0.0, -3.4e38],
        [88.0, 89.0, 90.0],
    ]
    x = torch.tensor(rows, device=device).repeat(1, 50)
    close.function(host.softmax_row, reductions.softmax, x)


@pytest.mark.task(5)
def test_infinity_and_nan_do_what_they_do_in_torch(device, close):
    needs_block_sum(device)
    least, most = -math.inf, math.inf
    rows = [[least] * 3, [least, 1.0, 2.0], [most, 1.0, 2.0], [math.nan, 1.0, 2.0], [1.0, 2.0, 3.0]]
    x = torch.tensor(rows, device=device)
    close.function(host.softmax_row, reductions.softmax, x)
    close.function(host.softmax_row, reductions.softmax, x.repeat(1, 101))


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("columns", [96, 2048])
def test_a_row_is_read_once_and_written_once(columns, rng, profile, close):
    needs_block_sum("cpu")
    x = rows_of(3, columns, rng)
    launches = profile(lambda: host.softmax_row(x))
    close(launches.result, reductions.softmax, x)
    counters, said = launches["softmax_row"].counters, f"3 rows of {columns}"
    loaded, stored = counters.global_load_bytes, counters.global_store_bytes
    assert loaded == x.nbytes, (
        f"{said}: {loaded} bytes of loads requested at L1, not {x.nbytes}; keep what a thread has "
        "read in registers or in shared memory"
    )
    assert stored == x.nbytes, f"{said}: {stored} bytes of stores requested at L1, not {x.nbytes}"
    each = counters.barriers / counters.warps
    assert each <= 6, f"{said}: {each:g} barriers a warp; one for the largest and one for the sum"


@pytest.mark.task(5)
def test_no_rows_are_no_work(device, rng, close):
    needs_block_sum(device)
    close.equal(host.softmax_row(torch.empty(0, 5, device=device)), torch.empty(0, 5))
    x = rows_of(4, 10, rng, device)
    close.function(host.softmax_row, reductions.softmax, x)  # and the same function does work


@pytest.mark.task(5)
@pytest.mark.gpu
def test_a_row_may_begin_beyond_32_bits(close, unpoisoned):
    rows, columns = (1 << 18) + 1, 8192
    if torch.cuda.mem_get_info()[0] < 10 * rows * columns:
        pytest.skip("22 GB of a GPU's memory are not free")
    x = torch.zeros(rows, columns, device="cuda")
    x[-1] = torch.linspace(-3, 3, columns, device="cuda")
    close(host.softmax_row(x)[-1:], reductions.softmax, x[-1:])
