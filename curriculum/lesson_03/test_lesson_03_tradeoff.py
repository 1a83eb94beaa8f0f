"""Lesson 03, the trade-off: when is a launch worth its price?"""

from numbers import Integral, Real

import pytest
import torch

from curriculum.lesson_03 import tradeoff
from references import hardware, measured

LAUNCH = hardware.MEASURED_H200.launch_microseconds
BANDWIDTH = hardware.MEASURED_H200.copy_gigabytes_per_second
ADD = 12  # bytes an element: two floats read, one written
TIE = LAUNCH * BANDWIDTH * 1e3 / ADD  # elements whose work takes as long as the launch


def checked(call, got, wanted, tolerance=1e-5):
    """Check a number of microseconds or a share of time."""
    if not isinstance(got, Real):
        pytest.fail(f"{call} returned {got!r}, which is not a number", pytrace=False)
    said = f"{call} is {got:.6g}, not {wanted:.6g}"
    assert got == pytest.approx(wanted, rel=tolerance), said


def chunks_cost(n, chunks, launch=LAUNCH):
    """What the learner's function says of n sums, and how to name the call."""
    got = tradeoff.chunks_cost(n, chunks, launch, ADD, BANDWIDTH)
    call = f"chunks_cost of {n} elements in {chunks} launches of {launch:.3g} us"
    if not isinstance(got, Real):
        pytest.fail(f"{call} returned {got!r}, which is not a number", pytrace=False)
    return call, got


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
    said = f"launch {launch} us, {bytes_per_element} bytes an element, {bandwidth} GB/s"
    counted = isinstance(found, Integral)
    assert counted, f"{said}: launch_breakeven returned {found!r}; elements are counted in ints"
    wanted = launch * bandwidth * 1e3  # bytes that pass during the launch
    near = wanted * 1e-9  # the last digit of a float may tip an exact tie over
    enough = found * bytes_per_element >= wanted - near
    smallest = (found - 1) * bytes_per_element < wanted + near
    assert enough and smallest, f"{said}: the smallest n that takes as long is {n}, not {found}"


@pytest.mark.task(5)
def test_half_of_the_time_is_work_at_break_even():
    for times, share in ((1, 0.5), (9, 0.9)):
        n = round(times * TIE)
        got = tradeoff.efficiency(n, LAUNCH, ADD, BANDWIDTH)
        checked(f"efficiency of {n} elements, {times} times the tie,", got, share)


@pytest.mark.task(5)
def test_efficiency_starts_at_nothing_and_only_grows():
    before = 0.0
    for n in (0, 1, 32, 10**6, 10**9):
        share, wanted = tradeoff.efficiency(n, LAUNCH, ADD, BANDWIDTH), n / (n + TIE)
        checked(f"efficiency of {n} elements", share, wanted)
        assert share > before or n == 0, f"{n} elements: {share}, no more than for fewer"
        before = share


@pytest.mark.task(5)
def test_cutting_the_work_up_costs_nothing_until_the_launches_take_longer():
    n = round(64 * TIE)
    for elements, chunks, wanted in (
        (n, 1, 64 * LAUNCH),
        (n, 16, 64 * LAUNCH),
        (n, 640, 640 * LAUNCH),
        (32, 1, LAUNCH),
    ):
        checked(*chunks_cost(elements, chunks), wanted)


@pytest.mark.task(5)
@pytest.mark.parametrize(
    "dtype, inputs", [(torch.float32, 2), (torch.float32, 1), (torch.uint8, 2)]
)
def test_an_element_costs_the_bytes_of_its_tensors(dtype, inputs):
    n = 4096
    tensors = [torch.zeros(n, dtype=dtype) for _ in range(inputs + 1)]  # and the output
    bytes_ = sum(tensor.nbytes for tensor in tensors) / n
    found = tradeoff.launch_breakeven(LAUNCH, bytes_, BANDWIDTH)
    call = f"launch_breakeven of {inputs} inputs and an output of {dtype}"
    checked(call, found, LAUNCH * 1e-6 * BANDWIDTH * 1e9 / bytes_)


@pytest.mark.task(5)
def test_the_recorded_launches_cost_what_the_model_says():
    # Each point is one launch out of many in a row, adding n elements. What a launch costs belongs
    # to the host of the recording: there, an empty kernel was launched in the same way. The
    # bandwidth is that of a copy, measured in another run on another day.
    (empty,) = measured.sweep("empty_launch")
    launch = empty["microseconds"]
    tie = launch * BANDWIDTH * 1e3 / ADD
    for point in measured.sweep("launch"):
        n, recorded = point["n"], point["microseconds"]
        _, predicted = chunks_cost(n, 1, launch)
        assert predicted > 0, f"{n} elements: the model says {predicted} us"
        # Near the tie a kernel's own start and drain, a few microseconds, hide behind neither
        # clock. At worst the two do not overlap at all, and it takes twice as long.
        allowed = 2.0 if tie / 4 < n < 4 * tie else 1.3
        assert max(predicted / recorded, recorded / predicted) <= allowed, (
            f"{n} elements took {recorded:.1f} us on the recorded GPU; "
            f"the model says {predicted:.1f} us"
        )
