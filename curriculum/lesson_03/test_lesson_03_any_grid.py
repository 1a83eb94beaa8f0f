"""Lesson 03, task 4: a loop for any grid, and for more elements than an int counts."""

import numpy as np
import pytest
import torch

from curriculum.lesson_03 import host
from harness.launching.launch_settings import changed
from references import vectors
from references.hardware import SECTOR_BYTES
from references.vectors import spread


@pytest.mark.task(4)
@pytest.mark.parametrize("blocks, threads", [(1, 1), (1, 32), (3, 64), (7, 96), (132, 256)])
@pytest.mark.parametrize("n", [1, 33, 1000])
def test_any_grid_adds_every_pair(n, blocks, threads, device, rng, close):
    a, b = spread(n, rng, device), spread(n, rng, device)
    c = torch.empty_like(a)
    host.vec_add_gs(a, b, c, blocks, threads)
    close(c, vectors.added, a, b)


@pytest.mark.task(4)
def test_bytes_wrap_around(device, close):
    a = torch.arange(256, device=device, dtype=torch.uint8).repeat(256)
    b = torch.arange(256, device=device, dtype=torch.uint8).repeat_interleave(256)
    c = torch.empty_like(a)
    host.add_u8(a, b, c, blocks=5)
    close.equal(c, vectors.added(a, b))


@pytest.mark.task(4)
@pytest.mark.simulated
def test_one_block_and_many_move_the_same_sectors(rng, profile, close):
    a, b = spread(1 << 14, rng), spread(1 << 14, rng)
    # 4 bytes an element: nothing is read or written twice, whatever the grid
    needed = 4 * (1 << 14) // SECTOR_BYTES
    for blocks in (1, 8, 64):
        c = torch.empty_like(a)
        result = profile(lambda blocks=blocks, c=c: host.vec_add_gs(a, b, c, blocks))["vec_add_gs"]
        close(c, vectors.added, a, b)
        loads, stores = result.counters.global_load_sectors, result.counters.global_store_sectors
        said = f"n = {1 << 14}, {blocks} blocks"
        written = result.counters.global_store_bytes // 4
        assert written == 1 << 14, f"{said}: {written} elements stored, some more than once"
        assert loads == 2 * needed, f"{said}: {loads} sectors loaded, not {2 * needed}"
        assert stores == needed, f"{said}: {stores} sectors stored, not {needed}"


def lazy_bytes(n):
    """n zero bytes that take no memory before they are touched."""
    return torch.from_numpy(np.zeros(n, np.uint8))


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("power", [31, 32])
def test_an_index_may_pass_32_bits(power, close):
    # 2^31 is one more than an int holds, 2^32 one more than an unsigned int. Only the first and
    # the last block run: the others would take an hour here, and show nothing new.
    n = (1 << power) + 64
    a, b, c = lazy_bytes(n), lazy_bytes(n), lazy_bytes(n)
    a[:256], a[-64:], b[-64:] = 3, torch.arange(64), 100
    blocks = -(-n // 256)
    with changed(blocks=[0, blocks - 1], seconds=5):  # a step that wraps would take an hour too
        host.add_u8(a, b, c, blocks, 256)
    close.equal(c[:256], vectors.added(a[:256], b[:256]))
    close.equal(c[-64:], vectors.added(a[-64:], b[-64:]))


@pytest.mark.task(4)
@pytest.mark.simulated
def test_a_stride_may_pass_32_bits_too(rng, profile, close):
    # 2^24 + 1 blocks of 256 threads step by 2^32 + 256. In 32 bits that is a step of 256, and the
    # first block does the work of all.
    a, b, c = spread(1000, rng), spread(1000, rng), torch.empty(1000)
    with changed(blocks=[0, 1, 2, 3]):
        result = profile(lambda: host.vec_add_gs(a, b, c, (1 << 24) + 1, 256))["vec_add_gs"]
    close(c, vectors.added, a, b)
    stored = result.counters.global_store_bytes
    said = f"four blocks of the 2^24 + 1 stored {stored} bytes for 1000 sums, not 4000"
    assert stored == 4000, f"{said}: the blocks do one another's work"
