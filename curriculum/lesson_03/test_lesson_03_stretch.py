"""Lesson 03, further on: padding, sums that stop, timings to believe, four elements a thread."""

import numpy as np
import pytest
import torch

from curriculum.lesson_03 import host, tradeoff
from harness import cuda
from references import vectors
from references.hardware import SECTOR_BYTES
from references.vectors import spread

KERNELS = cuda.module(__file__, "kernel.cu")

# --- Task 6: rows with padding --------------------------------------------------------------------


@pytest.mark.stretch
@pytest.mark.task(6)
@pytest.mark.parametrize("grid", [(1, 1), (2, 3), (4, 8)])
@pytest.mark.parametrize("rows, cols, pitch", [(1, 1, 1), (37, 33, 40), (8, 32, 32), (70, 1, 5)])
def test_every_row_is_added_to_and_its_padding_kept(rows, cols, pitch, grid, device, rng, close):
    a = spread(rows * pitch, rng, device).reshape(rows, pitch)
    out = spread(rows * pitch, rng, device).reshape(rows, pitch)
    before = out.clone()
    host.add_2d(a, out, 2.5, cols, grid)
    close.equal(out, vectors.added_to_rows(a, 2.5, cols, before))


@pytest.mark.stretch
@pytest.mark.task(6)
@pytest.mark.simulated
def test_a_block_of_rows_reads_whole_sectors(rng, profile, close):
    a = spread(64 * 64, rng).reshape(64, 64)
    out = torch.empty_like(a)
    result = profile(lambda: host.add_2d(a, out, 2.5, 64, (2, 8)))["add_2d"]
    close.equal(out, a + 2.5)
    sectors, fewest = result.counters.global_load_sectors, 4 * 64 * 64 // SECTOR_BYTES
    said = f"64 rows of 64 floats: the loads touch {sectors} sectors of {SECTOR_BYTES} bytes"
    assert sectors == fewest, f"{said}; {fewest} hold all that is needed"


@pytest.mark.stretch
@pytest.mark.task(6)
@pytest.mark.parametrize("rows", [0, 5])
def test_no_row_or_no_column_leaves_everything_alone(rows, device, rng, close):
    a = spread(5 * 8, rng, device).reshape(5, 8)
    out = spread(5 * 8, rng, device).reshape(5, 8)
    before = out.clone()
    host.add_2d(a[:rows], out[:rows], 2.5, 0 if rows else 8, (1, 1))
    close.equal(out, before)
    host.add_2d(a, out, 2.5, 8, (1, 1))  # and the same kernel does work when there is some
    close.equal(out, a + 2.5)


# --- Task 7: sums that stop at the ends -----------------------------------------------------------


@pytest.mark.stretch
@pytest.mark.task(7)
def test_a_sum_stops_at_the_smallest_and_the_largest_int(device, close):
    ends = [-(2**31), -(2**31) + 1, -(2**30), -1, 0, 1, 2**30, 2**31 - 1]
    a = torch.tensor([x for x in ends for _ in ends], dtype=torch.int32, device=device)
    b = torch.tensor(ends * len(ends), dtype=torch.int32, device=device)
    close.equal(host.saturating_add(a, b), vectors.added_and_clamped(a, b))


@pytest.mark.stretch
@pytest.mark.task(7)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1, 33, 1000])
def test_saturated_sums_cover_every_element(n, rng, profile, close):
    a, b = torch.randint(-(2**31), 2**31, (2, n), generator=rng).to(torch.int32)
    launches = profile(lambda: host.saturating_add(a, b))
    close.equal(launches.result, vectors.added_and_clamped(a, b))
    stored = launches["saturating_add_i32"].counters.global_store_bytes
    assert stored == 4 * n, f"{n} sums: {stored} bytes stored, not {4 * n}"


# --- Task 8: is the measurement worth believing? --------------------------------------------------

STEADY = tuple(190 + 0.5 * (i % 5) for i in range(50))


def samples(**changes):
    """A measurement with nothing against it, but for the changes."""
    careful = {
        "microseconds": STEADY,
        "bytes_touched": 3 * 2**28,
        "cold": False,
        "l2_bytes": 60 * 2**20,
        "launch_microseconds": 10.3,
    }
    return tradeoff.Samples(**(careful | changes))


def check_objections(said, measured, expected):
    found = tradeoff.objections(measured)
    if not isinstance(found, set | frozenset):
        pytest.fail(f"objections returned {found!r}, not a set of words", pytrace=False)
    missing, too_much = sorted(expected - found), sorted(found - expected)
    assert not missing, f"{said}: the objection {' and '.join(missing)} is missing"
    assert not too_much, f"{said}: the objection {' and '.join(too_much)} does not hold"


@pytest.mark.stretch
@pytest.mark.task(8)
def test_a_careful_measurement_is_believed():
    check_objections("fifty steady samples", samples(), set())


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.parametrize(
    "changes, word",
    [
        pytest.param({"microseconds": STEADY[:9]}, "few", id="nine samples"),
        pytest.param({"microseconds": (5000.0, *STEADY)}, "warm-up", id="the first one compiled"),
        pytest.param(
            {"microseconds": STEADY[:25] + tuple(1.3 * x for x in STEADY)},
            "spread",
            id="the clock changed on the way",
        ),
        pytest.param({"bytes_touched": 3 * 2**20}, "cache", id="it fits in L2"),
        pytest.param({"launch_microseconds": 150.0}, "host", id="mostly launch"),
    ],
)
def test_each_objection_is_found_alone(changes, word):
    said = f"fifty steady samples, but {', '.join(changes)} changed"
    check_objections(said, samples(**changes), {word})


@pytest.mark.stretch
@pytest.mark.task(8)
def test_a_small_working_set_is_fine_once_the_cache_is_cold():
    small = samples(bytes_touched=3 * 2**20, cold=True)
    check_objections("3 MiB, the cache cleared before each call", small, set())


@pytest.mark.stretch
@pytest.mark.task(8)
def test_one_slow_sample_in_fifty_does_no_harm():
    slow = samples(microseconds=(*STEADY[:30], 900.0, *STEADY[31:]))
    check_objections("fifty steady samples, but one took 900 us", slow, set())


@pytest.mark.stretch
@pytest.mark.task(8)
def test_objections_add_up():
    hasty = samples(microseconds=(500.0, 11.0, 11.1), bytes_touched=96)
    said = "500, 11 and 11.1 us for 96 bytes that stay in the cache, an empty launch being 10.3 us"
    check_objections(said, hasty, {"few", "warm-up", "cache", "host"})


# --- Task 9: four elements a thread ---------------------------------------------------------------

TILE = 4 * 256  # elements of one block


def launch_vec_add_four(a, b, c, threads=256):
    tiles = -(-a.numel() // (4 * threads))
    KERNELS.get_function("vec_add_four")((tiles,), (threads,), (a, b, c, np.int32(a.numel())))
    return c


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.parametrize("n", [1, 2, 3, 255, 257, TILE - 1, TILE, TILE + 1, 4 * TILE + 7])
def test_four_elements_a_thread_add_every_pair(n, device, rng, close):
    a, b = spread(n, rng, device), spread(n, rng, device)
    close.function(host.vec_add_four, vectors.added, a, b)


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.parametrize("threads", [1, 32, 100, 1024])
def test_four_elements_a_thread_are_right_for_any_block(threads, device, rng, close):
    a, b = spread(5000, rng, device), spread(5000, rng, device)
    close(launch_vec_add_four(a, b, torch.empty_like(a), threads), vectors.added, a, b)


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.parametrize("n", [1, 255, 257, 700, TILE + 1, 2 * TILE - 1])
def test_each_of_the_four_is_guarded(n, device, rng, close):
    a, b = spread(n, rng, device), spread(n, rng, device)
    before, c, after = torch.full((TILE + n + TILE,), 7.0, device=device).split([TILE, n, TILE])
    launch_vec_add_four(a, b, c)
    close(c, vectors.added, a, b)
    close.equal(torch.cat([before, after]), torch.full((2 * TILE,), 7.0, device=device))


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.parametrize("later", [0, 256])
def test_all_four_pairs_are_loaded_before_the_first_sum_is_stored(later, device, rng, close):
    # c is a, or begins 256 elements later: then the first element that a thread stores is the
    # second that it loads, and nobody else's. Loaded too late, that one is a sum already.
    memory, b = spread(TILE + later, rng, device), spread(TILE, rng, device)
    a, c = memory[:TILE].clone(), memory[later:]
    launch_vec_add_four(memory[:TILE], b, c)
    close(c, vectors.added, a, b)


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [TILE, 4 * TILE])
def test_four_elements_a_thread_make_no_more_requests_than_one(n, rng, profile, close):
    a, b = spread(n, rng), spread(n, rng)
    launches = profile(lambda: host.vec_add_four(a, b))
    close(launches.result, vectors.added, a, b)
    counters = launches["vec_add_four"].counters
    loads, stores = counters.global_load_requests, counters.global_store_requests
    said = f"n = {n}: {loads} load and {stores} store requests"  # one element a thread makes
    assert loads == 2 * n // 32, f"{said}; {2 * n // 32} loads are enough"
    assert stores == n // 32, f"{said}; {n // 32} stores are enough"
    sectors = counters.global_load_sectors / counters.global_load_requests
    assert sectors == 4, f"{sectors:g} sectors a request; 32 floats side by side lie in 4"
    stored, fewest = counters.global_store_sectors, 4 * n // SECTOR_BYTES
    assert stored == fewest, f"n = {n}: the stores touch {stored} sectors, not {fewest}"


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1, TILE, 4 * TILE + 7])
def test_a_tile_is_read_once_and_has_one_block(n, rng, profile, close):
    a, b = spread(n, rng), spread(n, rng)
    launches = profile(lambda: host.vec_add_four(a, b))
    close(launches.result, vectors.added, a, b)
    counters = launches["vec_add_four"].counters
    loaded, stored = counters.global_load_bytes, counters.global_store_bytes
    assert loaded == 8 * n, f"n = {n}: {loaded} bytes loaded, not {8 * n}"
    assert stored == 4 * n, f"n = {n}: {stored} bytes stored, not {4 * n}"
    room = 4 * counters.threads - n
    tile = 4 * counters.threads // counters.blocks
    said = f"n = {n}, {counters.blocks} blocks with tiles of {tile}: there is room for {room} more"
    assert 0 <= room < tile, said


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.simulated
def test_four_elements_a_thread_ask_for_the_same_vectors(close):
    a = torch.arange(8.0)
    for what, wrong in {
        "float64": a.double(),
        "another length": a[:7],
        "two dimensions": a.reshape(2, 4),
        "every second element": a.repeat(2)[::2],
        "another device": a.to("meta"),
    }.items():
        error = TypeError if wrong.dtype == torch.float64 else ValueError
        try:
            host.vec_add_four(a, wrong)
        except error:
            continue
        said = f"vec_add_four took a vector b with {what}; it should raise a {error.__name__}"
        pytest.fail(f"{said}, as check_vectors of task 2 does", pytrace=False)
    close.equal(host.vec_add_four(a[:0], a[:0]), a[:0])
