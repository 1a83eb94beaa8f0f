"""Lesson 08, task 3: a copy with several loads under way in each thread."""

import numpy as np
import pytest
import torch

from curriculum.lesson_08 import host
from harness.judging.data import spread
from references.hardware import KIB, LANES_PER_WARP, SECTOR_BYTES

ILPS = [1, 2, 4, 8]
TILE = 4 * 4 * 64  # floats, for 64 threads and four loads each

# nothing but leftovers, one float4, the edges of a warp's and of a tile's float4, a prime, several
SIZES = [1, 2, 3, 4, 5, 127, 128, 129, TILE - 1, TILE, TILE + 1, 3001, 5 * TILE + 6]


def copied(x):
    return x.clone()


@pytest.mark.task(3)
@pytest.mark.parametrize("n", SIZES)
def test_every_float_is_copied(n, device, rng, close):
    x = spread(n, rng=rng, device=device)
    close.function(lambda x: host.copy(x, ilp=4, blocks=3, threads=64), copied, x)


@pytest.mark.task(3)
@pytest.mark.parametrize("ilp", ILPS)
def test_any_number_of_loads_will_do(ilp, device, rng, close):
    x = spread(3001, rng=rng, device=device)
    close(host.copy(x, ilp, blocks=2, threads=96), copied, x)


@pytest.mark.task(3)
@pytest.mark.parametrize("blocks, threads", [(1, 32), (1, 1024), (3, 96), (50, 64)])
def test_any_grid_and_any_block_will_do(blocks, threads, device, rng, close):
    x = spread(9001, rng=rng, device=device)
    close(host.copy(x, 4, blocks, threads), copied, x)


@pytest.mark.task(3)
@pytest.mark.parametrize("n", [1, 6, 255, 1028])
def test_nothing_beyond_the_last_float_is_written(n, device, rng, close):
    x = spread(n, rng=rng, device=device)
    fenced = torch.full((320 + n + 320,), 7.0, device=device)
    y = fenced[320 : 320 + n]
    host.copy_kernel(4)((3,), (64,), (x, y, np.int32(n)))
    close(y, copied, x)
    fences = torch.cat([fenced[:320], fenced[320 + n :]])
    close.equal(fences, torch.full_like(fences, 7.0))


def whole_tiles(ilp, threads=64, tiles=6):
    return 4 * ilp * threads * tiles


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("ilp", ILPS)
def test_all_loads_are_under_way_before_the_first_is_waited_for(ilp, rng, profile, close):
    x = spread(whole_tiles(ilp), rng=rng)
    launches = profile(lambda: host.copy(x, ilp, blocks=2, threads=64))
    close(launches.result, copied, x)
    counters = launches["copy4"].counters
    said = f"ILP = {ilp}, {counters.global_load_requests} loads and {counters.load_waits} waits"
    under_way = counters.loads_in_flight
    assert under_way >= 0.999 * ilp, f"{said}: {under_way:.3g} loads a wait, not {ilp}"


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("ilp", [1, 4])
def test_each_byte_moves_once_and_sixteen_at_a_time(ilp, rng, profile, close):
    n = whole_tiles(ilp)
    x = spread(n, rng=rng)
    launches = profile(lambda: host.copy(x, ilp, blocks=2, threads=64))
    close(launches.result, copied, x)
    counters = launches["copy4"].counters
    wanted = n // (4 * LANES_PER_WARP)
    requests = counters.global_load_requests, counters.global_store_requests
    said = f"{n} floats, ILP = {ilp}: {requests[0]} load and {requests[1]} store requests"
    cure = "is a tile copied twice, or by less than a float4 at a time?"
    assert requests == (wanted, wanted), f"{said}, not {wanted}: one for 32 lanes of float4; {cure}"
    wanted, cure = 4 * n // SECTOR_BYTES, "neighbouring lanes should move neighbouring float4s"
    loaded, stored = counters.global_load_sectors, counters.global_store_sectors
    said = f"{n} floats, ILP = {ilp}"
    assert loaded == wanted, f"{said}: the loads touch {loaded} sectors, not {wanted}; {cure}"
    assert stored == wanted, f"{said}: the stores touch {stored} sectors, not {wanted}; {cure}"


@pytest.mark.task(3)
@pytest.mark.simulated
def test_what_is_left_over_is_copied_once_too(rng, profile, close):
    n = 4 * 64 * 4 + 7
    x = spread(n, rng=rng)
    launches = profile(lambda: host.copy(x, 4, blocks=3, threads=64))
    close(launches.result, copied, x)
    stored = launches["copy4"].counters.global_store_bytes
    said = f"{n} floats, 3 blocks: {stored} bytes are stored"
    assert stored == 4 * n, f"{said}, not {4 * n}; let one block copy what is left over"


@pytest.mark.task(3)
@pytest.mark.simulated
def test_shared_memory_that_nobody_uses_changes_nothing_but_the_occupancy(rng, profile, close):
    x = spread(3001, rng=rng)
    plain = profile(lambda: host.copy(x, 4, blocks=3, threads=128))
    crowded = profile(lambda: host.copy(x, 4, blocks=3, threads=128, shared_bytes=113 * KIB))
    close(plain.result, copied, x)
    close(crowded.result, copied, x)
    ours, theirs = plain["copy4"].counters, crowded["copy4"].counters
    assert ours == theirs, "the same loads and stores, whatever the block asks for"
