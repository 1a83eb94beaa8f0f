"""Lesson 02, the trade-off: the bandwidth at each tier."""

from collections.abc import Sized
from numbers import Real

import pytest
import torch

from curriculum.lesson_02 import host, tradeoff
from harness.judging.returned import number
from references.hardware import A100, H200, MEASURED_H200, MIB, SHARED_BYTES_PER_CLOCK
from references.measured import sweep

L2, HBM = MEASURED_H200.l2_gigabytes_per_second, MEASURED_H200.read_gigabytes_per_second


def curve_of(sizes, capacities, bandwidths):
    """The bandwidth of each size, as the learner predicts it."""
    got = tradeoff.working_set_curve(sizes, capacities, bandwidths)
    if not isinstance(got, Sized) or len(got) != len(sizes):
        wanted = f"a list of {len(sizes)} bandwidths, one for each size"
        pytest.fail(f"working_set_curve returned {got!r}, not {wanted}", pytrace=False)
    return [
        number(f"working_set_curve, size {size}", one) for size, one in zip(sizes, got, strict=True)
    ]


def shared_bandwidth(gpu):
    got = tradeoff.shared_bandwidth(gpu.sms, gpu.boost_gigahertz)
    return number(f"shared_bandwidth({gpu.sms}, {gpu.boost_gigahertz})", got)


def check_shared(gpu):
    got, wanted = shared_bandwidth(gpu), SHARED_BYTES_PER_CLOCK * gpu.sms * gpu.boost_gigahertz
    said = f"{gpu.sms} SMs at {gpu.boost_gigahertz} GHz: {got:.0f} GB/s, not {wanted:.0f}"
    assert got == pytest.approx(wanted), said


@pytest.mark.task(7)
@pytest.mark.parametrize(
    ("fractions", "expected"),
    [
        ({"L2": 1.0}, 8000.0),
        ({"L2": 0.5, "HBM": 0.5}, 5333.333),  # not 6000: the slow half takes two thirds of the time
        ({"L2": 0.9, "HBM": 0.1}, 7272.727),
        ({"L1": 0.8, "L2": 0.15, "HBM": 0.05}, 15_094.340),
        ({"HBM": 0.99, "PCIe": 0.01}, 2341.920),  # one byte in a hundred over PCIe halves it
    ],
)
def test_times_add_up_and_bandwidths_do_not(fractions, expected):
    bandwidths = {"L1": 22_857.142857, "L2": 8000.0, "HBM": 4000.0, "PCIe": 55.7}
    found = tradeoff.effective_bandwidth(fractions, bandwidths)
    got = number(f"effective_bandwidth of {fractions}", found)
    assert got == pytest.approx(expected, rel=1e-3), f"{fractions}: {got:.0f}, not {expected:.0f}"


@pytest.mark.task(7)
@pytest.mark.simulated
@pytest.mark.parametrize("repeats", [1, 2, 8])
def test_a_window_read_again_comes_mostly_from_the_cache(repeats, profile, close):
    x = torch.arange(1.0, 1025.0)
    counted = profile(lambda: host.read_window(x, repeats, blocks=3, threads=64))
    close.equal(counted.result.sum(), x.sum() * repeats)
    kernel = counted["read_window"]
    requested = kernel.counters.global_load_bytes  # at L1
    wanted = 4096 * repeats
    said = f"a window of 4096 bytes, read {repeats} times"
    assert requested == wanted, f"{said}: {requested} bytes requested at L1, not {wanted}"

    from_memory = kernel.buffers["x"].bytes_read / requested  # if the caches forget nothing
    fractions = {"cache": 1 - from_memory, "memory": from_memory}
    found = tradeoff.effective_bandwidth(fractions, {"cache": L2, "memory": HBM})
    got = number(f"effective_bandwidth of {fractions}", found)
    nanoseconds = 4096 / HBM + 4096 * (repeats - 1) / L2  # the first pass, and all others
    wanted = requested / nanoseconds
    assert got == pytest.approx(wanted), f"{said}: {got:.0f} GB/s, not {wanted:.0f}"


@pytest.mark.task(7)
def test_a_set_is_served_by_the_tiers_that_hold_it():
    capacities, bandwidths = [100, 400], [32.0, 8.0, 4.0]
    expected = {
        1000: 1000 / (100 / 32 + 300 / 8 + 600 / 4),
        50: 32.0,
        100: 32.0,
        200: 200 / (100 / 32 + 100 / 8),
        400: 400 / (100 / 32 + 300 / 8),
    }
    curve = curve_of([*expected], capacities, bandwidths)
    for (size, wanted), got in zip(expected.items(), curve, strict=True):
        assert got == pytest.approx(wanted), f"a set of {size}: {got:.3f}, not {wanted:.3f}"
    assert capacities == [100, 400], "the capacities are the caller's, and have changed"
    assert bandwidths == [32.0, 8.0, 4.0], "the bandwidths are the caller's, and have changed"


@pytest.mark.task(7)
def test_a_third_cache_is_one_more_tier():
    (got,) = curve_of([1000], [100, 200, 400], [32.0, 16.0, 8.0, 4.0])
    wanted = 1000 / (100 / 32 + 100 / 16 + 200 / 8 + 600 / 4)
    said = f"a set of 1000, caches of 100, 200 and 400: {got:.3f}, not {wanted:.3f}"
    assert got == pytest.approx(wanted), said


@pytest.mark.task(7)
def test_shared_memory_is_as_fast_as_it_was_measured_to_be():
    check_shared(H200)
    check_shared(A100)  # another chip, another number
    predicted, measured = shared_bandwidth(H200), MEASURED_H200.shared_gigabytes_per_second
    said = f"H200: {predicted:.0f} GB/s predicted, {measured:.0f} measured"
    assert predicted == pytest.approx(measured, rel=0.1), said


@pytest.mark.task(7)
def test_the_curve_predicts_the_recorded_working_sets():
    # Whole turns of the grid, so that no turn ends half empty. Below 8 MiB, not every thread has
    # its eight loads.
    points = [point for point in sweep("working_set") if point["bytes"] >= 8 * MIB]
    sizes = [point["bytes"] for point in points]
    assert min(sizes) < H200.l2_bytes < 4 * H200.l2_bytes < max(sizes)
    curve = curve_of(sizes, [H200.l2_bytes], [L2, HBM])
    for point, predicted in zip(points, curve, strict=True):
        recorded = point["gigabytes_per_second"]
        said = f"{point['bytes'] / MIB:.0f} MiB: {recorded:.0f} recorded, {predicted:.0f} predicted"
        assert 1 / 1.3 < predicted / recorded < 1.3, said


# On a GPU


def gigabytes_per_second(fn, bytes_):
    times = []
    for _ in range(7):
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        start.record()
        fn()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return bytes_ / sorted(times)[3] / 1e6


@pytest.mark.speed
@pytest.mark.task(7)
def test_a_window_in_l2_is_read_faster_than_memory(device, unpoisoned):
    properties = torch.cuda.get_device_properties(device)
    l2_bytes, sms = properties.L2_cache_size, properties.multi_processor_count
    rates = []
    for bytes_ in (l2_bytes // 4, 8 * l2_bytes):
        x = torch.ones(bytes_ // 4, device=device)
        repeats = max(2, 2**33 // bytes_)
        rates.append(
            gigabytes_per_second(
                lambda x=x, repeats=repeats: host.read_window(x, repeats, 2 * sms), bytes_ * repeats
            )
        )
    assert rates[0] >= 1.5 * rates[1], f"L2 {rates[0]:.0f} GB/s, memory {rates[1]:.0f} GB/s"


@pytest.mark.speed
@pytest.mark.task(1)
def test_the_copy_reaches_what_one_load_per_thread_allows(device, unpoisoned):
    x = torch.ones(2**28, device=device)
    y = torch.empty_like(x)
    ours = gigabytes_per_second(lambda: host.copy(x), 2 * x.nbytes)
    peer = gigabytes_per_second(lambda: y.copy_(x), 2 * x.nbytes)
    assert ours >= 0.4 * peer, f"{ours:.0f} GB/s, torch {peer:.0f} GB/s"
