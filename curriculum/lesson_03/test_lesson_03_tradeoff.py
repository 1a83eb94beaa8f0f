"""Lesson 03, the trade-off: when is a launch worth its price?"""

import pytest
import torch

from curriculum.lesson_03 import host, tradeoff
from references import hardware, measured, vectors
from references.vectors import spread

LAUNCH = hardware.MEASURED_H200.launch_microseconds
BANDWIDTH = hardware.MEASURED_H200.copy_gigabytes_per_second
ADD = 12  # bytes an element: two floats read, one written


@pytest.mark.task(5)
@pytest.mark.parametrize(
    "launch, bytes_per_element, bandwidth, n",
    [
        (4.0, 12, 4800, 1_600_000),  # a bare launch, the bandwidth of the datasheet
        (10.3, 12, 4245, 3_643_625),  # what was measured; the README works it by hand
        (10.0, 3, 3000, 10_000_000),  # bytes instead of floats: four times as many elements
        (1.0, 12, 1000, 83_334),  # 83,333.3: the smallest n that is enough
    ],
)
def test_break_even_is_where_the_work_takes_as_long_as_the_launch(
    launch, bytes_per_element, bandwidth, n
):
    found = tradeoff.launch_breakeven(launch, bytes_per_element, bandwidth)
    assert isinstance(found, int)
    assert found == pytest.approx(n, abs=1)  # the last digit of a float may tip it over


@pytest.mark.task(5)
def test_half_of_the_time_is_work_at_break_even():
    n = tradeoff.launch_breakeven(LAUNCH, ADD, BANDWIDTH)
    assert tradeoff.efficiency(n, LAUNCH, ADD, BANDWIDTH) == pytest.approx(0.5, rel=1e-5)
    assert tradeoff.efficiency(9 * n, LAUNCH, ADD, BANDWIDTH) == pytest.approx(0.9, rel=1e-5)


@pytest.mark.task(5)
def test_efficiency_starts_at_nothing_and_only_grows():
    shares = [tradeoff.efficiency(n, LAUNCH, ADD, BANDWIDTH) for n in (0, 1, 32, 10**6, 10**9)]
    assert shares[0] == 0 and shares == sorted(shares) and len(set(shares)) == 5
    assert shares[2] < 1e-4, "a launch for 32 elements is nearly all launch"
    assert shares[4] > 0.99


@pytest.mark.task(5)
def test_cutting_the_work_up_costs_nothing_until_the_launches_take_longer():
    n = 64 * tradeoff.launch_breakeven(LAUNCH, ADD, BANDWIDTH)
    whole = tradeoff.chunks_cost(n, 1, LAUNCH, ADD, BANDWIDTH)
    assert whole == pytest.approx(64 * LAUNCH, rel=1e-5)
    assert tradeoff.chunks_cost(n, 16, LAUNCH, ADD, BANDWIDTH) == pytest.approx(whole)
    assert tradeoff.chunks_cost(n, 640, LAUNCH, ADD, BANDWIDTH) == pytest.approx(640 * LAUNCH)
    assert tradeoff.chunks_cost(32, 1, LAUNCH, ADD, BANDWIDTH) == pytest.approx(LAUNCH)


@pytest.mark.task(5)
@pytest.mark.simulated
def test_the_bytes_an_element_costs_are_the_bytes_the_kernel_moves(rng, profile, close):
    n = 4096
    a, b = spread(n, rng), spread(n, rng)
    launches = profile(lambda: host.vec_add(a, b))
    close(launches.result, vectors.added, a, b)
    buffers = launches["vec_add"].buffers.values()
    moved = sum(buffer.bytes_read + buffer.bytes_written for buffer in buffers)
    counted = tradeoff.launch_breakeven(LAUNCH, moved / n, BANDWIDTH)
    assert counted == tradeoff.launch_breakeven(LAUNCH, ADD, BANDWIDTH)


@pytest.mark.task(5)
def test_the_recorded_launches_cost_what_the_model_says():
    # Each point is one launch out of many in a row, adding n elements. What a launch costs belongs
    # to the host of the recording: there, an empty kernel was launched in the same way. The
    # bandwidth is that of a copy, measured in another run on another day.
    (empty,) = measured.sweep("empty_launch")
    launch = empty["microseconds"]
    tie = tradeoff.launch_breakeven(launch, ADD, BANDWIDTH)
    for point in measured.sweep("launch"):
        n, recorded = point["n"], point["microseconds"]
        predicted = tradeoff.chunks_cost(n, 1, launch, ADD, BANDWIDTH)
        # Near the tie a kernel's own start and drain, a few microseconds, hide behind neither
        # clock. At worst the two do not overlap at all, and it takes twice as long.
        allowed = 2.0 if tie / 4 < n < 4 * tie else 1.3
        assert max(predicted / recorded, recorded / predicted) <= allowed, (
            f"{n} elements took {recorded:.1f} us on the recorded GPU; "
            f"the model says {predicted:.1f} us"
        )
