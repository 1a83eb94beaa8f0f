"""Lesson 03, further on: padding, sums that stop, timings to believe, four elements a thread."""

import numpy as np
import pytest
import torch

from curriculum.lesson_03 import host, tradeoff
from harness import cuda
from harness.launching.launch_settings import changed
from references import vectors
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
    assert result.counters.global_load_efficiency >= 0.99


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
    assert launches["saturating_add_i32"].counters.global_store_bytes == 4 * n


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


@pytest.mark.stretch
@pytest.mark.task(8)
def test_a_careful_measurement_is_believed():
    assert tradeoff.objections(samples()) == set()
    assert tradeoff.trustworthy(samples())


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
    assert tradeoff.objections(samples(**changes)) == {word}
    assert not tradeoff.trustworthy(samples(**changes))


@pytest.mark.stretch
@pytest.mark.task(8)
def test_a_small_working_set_is_fine_once_the_cache_is_cold():
    assert tradeoff.objections(samples(bytes_touched=3 * 2**20, cold=True)) == set()


@pytest.mark.stretch
@pytest.mark.task(8)
def test_one_slow_sample_in_fifty_does_no_harm():
    assert tradeoff.objections(samples(microseconds=(*STEADY[:30], 900.0, *STEADY[31:]))) == set()


@pytest.mark.stretch
@pytest.mark.task(8)
def test_objections_add_up():
    found = tradeoff.objections(samples(microseconds=(500.0, 11.0, 11.1), bytes_touched=96))
    assert found == {"few", "warm-up", "cache", "host"}


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
    requests = (counters.global_load_requests, counters.global_store_requests)
    assert requests == (2 * n // 32, n // 32)  # as one element a thread makes
    sectors = counters.global_load_sectors / counters.global_load_requests
    assert sectors == 4, f"{sectors:g} sectors a request; 32 floats side by side lie in 4"
    assert counters.global_store_sectors == n // 8


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.simulated
@pytest.mark.parametrize("n", [1, TILE, 4 * TILE + 7])
def test_a_tile_is_read_once_and_has_one_block(n, rng, profile, close):
    a, b = spread(n, rng), spread(n, rng)
    launches = profile(lambda: host.vec_add_four(a, b))
    close(launches.result, vectors.added, a, b)
    counters = launches["vec_add_four"].counters
    assert (counters.global_load_bytes, counters.global_store_bytes) == (8 * n, 4 * n)
    room = 4 * counters.threads - n
    assert 0 <= room < 4 * counters.threads // counters.blocks, f"there is room for {room} more"


@pytest.mark.stretch
@pytest.mark.task(9)
@pytest.mark.simulated
def test_four_elements_a_thread_ask_for_the_same_vectors():
    a = torch.arange(8.0)
    for wrong in (a.double(), a[:7], a.reshape(2, 4), a.repeat(2)[::2], a.to("meta")):
        with pytest.raises(TypeError if wrong.dtype == torch.float64 else ValueError):
            host.vec_add_four(a, wrong)
    assert host.vec_add_four(a[:0], a[:0]).shape == (0,)


# --- On a GPU: as fast as torch? ------------------------------------------------------------------


def median_milliseconds(call, repeats=20):
    """The median over a few rounds of `repeats` calls in a row, on the GPU's own clock."""
    rounds = []
    for _ in range(7):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            call()
        stop.record()
        stop.synchronize()
        rounds.append(start.elapsed_time(stop) / repeats)
    return sorted(rounds[1:])[3]  # the first round warms up


@pytest.mark.speed
@pytest.mark.task(1)
def test_the_sum_is_as_fast_as_torch(unpoisoned):
    a, b, c = torch.rand(3, 1 << 27, device="cuda")
    with changed(synchronize=False):
        ours = median_milliseconds(lambda: host.vec_add(a, b))
    theirs = median_milliseconds(lambda: torch.add(a, b, out=c))
    assert theirs / ours >= 0.5, f"{ours:.3f} ms, torch.add {theirs:.3f} ms"


@pytest.mark.speed
@pytest.mark.task(4)
def test_the_grid_stride_loop_is_as_fast_as_torch(unpoisoned):
    a, b, c = torch.rand(3, 1 << 27, device="cuda")
    with changed(synchronize=False):
        ours = median_milliseconds(lambda: host.vec_add_gs(a, b, c, blocks=132 * 8))
    theirs = median_milliseconds(lambda: torch.add(a, b, out=c))
    assert theirs / ours >= 0.5, f"{ours:.3f} ms, torch.add {theirs:.3f} ms"


@pytest.mark.speed
@pytest.mark.task(9)
def test_four_elements_a_thread_are_as_fast_as_torch(unpoisoned):
    a, b, c = torch.rand(3, 1 << 26, device="cuda")
    with changed(synchronize=False):
        ours = median_milliseconds(lambda: host.vec_add_four(a, b))
    theirs = median_milliseconds(lambda: torch.add(a, b, out=c))
    assert theirs / ours >= 0.65, f"{ours:.3f} ms, torch.add {theirs:.3f} ms"


@pytest.mark.speed
@pytest.mark.task(5)
def test_a_thousand_small_launches_cost_far_more_than_one(unpoisoned):
    a, b = torch.rand(2, 32_000, device="cuda")
    with changed(synchronize=False):
        whole = median_milliseconds(lambda: host.vec_add(a, b))
        piece = median_milliseconds(lambda: host.vec_add(a[:32], b[:32]))
    assert 1000 * piece / whole >= 50, "a launch has a price that does not depend on n"


@pytest.mark.speed
@pytest.mark.task(5)
def test_the_model_holds_on_this_gpu(unpoisoned):
    a, b, c = torch.rand(3, 1 << 26, device="cuda")
    copied = 8 * a.numel() / 1e6  # megabytes, read and written
    bandwidth = copied / median_milliseconds(lambda: c.copy_(a))
    with changed(synchronize=False):
        launch = 1000 * median_milliseconds(lambda: host.vec_add(a[:1], b[:1]))
        for n in (1 << 14, 1 << 24, 1 << 26):
            took = 1000 * median_milliseconds(lambda n=n: host.vec_add(a[:n], b[:n]))
            predicted = tradeoff.chunks_cost(n, 1, launch, 12, bandwidth)
            assert max(took / predicted, predicted / took) <= 1.5, f"{n}: {took:.1f} us"
