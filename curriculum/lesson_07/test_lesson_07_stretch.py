"""Lesson 07, beyond what it requires: the largest of a row, and a sum in one launch."""

import math

import pytest
import torch

from curriculum.lesson_07 import host
from harness.launching.launch_settings import changed
from references import reductions
from references.reductions import whole
from references.vectors import spread

# --- Task 7: the largest of a row, and where it is ------------------------------------------------


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("rows, columns", [(1, 1), (3, 2), (2, 31), (5, 33), (2, 257), (3, 1031)])
@pytest.mark.parametrize("threads", [32, 96, 256])
def test_the_largest_of_each_row_is_found(rows, columns, threads, device, rng, close):
    x = spread(rows * columns, rng, device).reshape(rows, columns)
    close.equal(host.row_argmax(x, threads), reductions.largest(x))
    close.equal(host.row_argmax(-x.abs(), threads), reductions.largest(-x.abs()))


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("columns", [7, 64, 600])
def test_of_equals_the_first_wins(columns, device, rng, close):
    x = torch.randint(0, 3, (9, columns), generator=rng).float().to(device)
    x[0] = 5.0
    x[1] = -math.inf
    x[2] = math.inf
    x[3] = -0.0
    x[3, 4:] = 0.0
    close.equal(host.row_argmax(x), reductions.largest(x))


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.parametrize("columns", [5, 64, 600])
def test_the_first_nan_is_larger_than_all(columns, device, rng, close):
    x = spread(8 * columns, rng, device).reshape(8, columns)
    for row, places in enumerate([[0], [columns - 1], [1, 3], [2, columns - 1], [4, 0], [3]]):
        x[row, places] = math.nan
    x[5, 1] = math.inf
    x[6] = math.nan
    close.equal(host.row_argmax(x), reductions.largest(x))


@pytest.mark.stretch
@pytest.mark.task(7)
def test_nothing_has_no_largest(device, close):
    try:
        host.row_argmax(torch.empty(3, 0, device=device))
    except ValueError:
        x = torch.tensor([[1.0, 2.0]], device=device)
        close.equal(host.row_argmax(x), reductions.largest(x))
        close.equal(host.row_argmax(x[:0]), reductions.largest(x[:0]))
        return
    pytest.fail("row_argmax took 3 rows of 0 columns; it should raise a ValueError", pytrace=False)


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
def test_the_largest_is_found_in_one_reading(rng, profile, close):
    x = spread(4 * 640, rng).reshape(4, 640)
    launches = profile(lambda: host.row_argmax(x, 64))
    close.equal(launches.result, reductions.largest(x))
    counters = launches["row_argmax"].counters
    loaded, stored = counters.global_load_bytes, counters.global_store_bytes
    said = "4 rows of 640"
    assert loaded == 10_240, f"{said}: {loaded} bytes of loads requested at L1, not 10240"
    assert stored == 32, f"{said}: {stored} bytes of stores requested at L1, not 32"


# --- Task 8: all blocks meet ----------------------------------------------------------------------


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 255, 257, 1009, 65_536])
@pytest.mark.parametrize("blocks, threads", [(1, 32), (5, 96), (40, 64)])
def test_a_grid_that_meets_sums_everything(n, blocks, threads, device, rng, close):
    x = whole(n, rng, device)
    close.equal(host.sum_grid(x, blocks, threads), reductions.total(x))
    x = spread(n, rng, device)
    close(host.sum_grid(x, blocks, threads), reductions.total, x, sums=True)


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.simulated
def test_a_grid_that_meets_has_the_same_bits_in_every_order(rng, profile, close):
    x, found = spread(30_000, rng), {}
    for order in ("forward", "reversed", "shuffled"):
        with changed(order=order, seed=7):
            launches = profile(lambda: host.sum_grid(x, 40, 64))
        close(launches.result, reductions.total, x, sums=True)
        found[order] = launches.result.view(torch.int32).item() % 2**32
        loaded = launches["sum_grid"].buffers["x"].bytes_read
        assert loaded == x.nbytes, f"{loaded} different bytes of x were read, not {x.nbytes}"
        own = launches["sum_grid"].buffers["out"].hottest_updates
        assert own == 0, f"out was updated by {own} atomics; one block writes it after the meeting"
        stored = launches["sum_grid"].counters.global_store_bytes
        assert stored == 164, (
            f"{stored} bytes of stores; 40 blocks leave a sum, one writes out: 164"
        )
    said = ", ".join(f"{order} {bits:#x}" for order, bits in found.items())
    assert len(set(found.values())) == 1, f"the bits by the order of blocks: {said}"
