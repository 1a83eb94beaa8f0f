"""Lesson 01, the trade-off: SM residency against warps in flight."""

from numbers import Integral

import pytest
import torch

from curriculum.lesson_01 import host, lattice, tradeoff
from references.hardware import H200, MEASURED_H200

WAVES = ("full waves", "tail", "utilisation")


@pytest.mark.task(6)
@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (1, (0, 1 / 1056, 1 / 1056)),
        (528, (0, 0.5, 0.5)),
        (1056, (1, 0.0, 1.0)),
        (1057, (1, 1 / 1056, 1057 / 2112)),
        (2111, (1, 1055 / 1056, 2111 / 2112)),
        (10560, (10, 0.0, 1.0)),
    ],
)
def test_one_block_too_many_starts_a_wave(blocks, expected):
    check_waves(blocks, 132, 8, expected)


@pytest.mark.task(6)
@pytest.mark.parametrize(
    ("blocks", "sms", "per_sm", "expected"),
    [
        (5, 1, 1, (5, 0.0, 1.0)),
        (7, 3, 2, (1, 1 / 6, 7 / 12)),
        (864, 108, 8, (1, 0.0, 1.0)),
        (1057, 108, 8, (1, 193 / 864, 1057 / 1728)),
    ],
)
def test_another_chip_has_other_waves(blocks, sms, per_sm, expected):
    check_waves(blocks, sms, per_sm, expected)


def check_waves(blocks, sms, per_sm, expected):
    got = tradeoff.waves(blocks, sms=sms, per_sm=per_sm)
    assert len(got) == 3, f"full waves, tail and utilisation are three numbers, not {got}"
    for name, number, wanted in zip(WAVES, got, expected, strict=True):
        said = f"{blocks} blocks, {sms * per_sm} places: {name} is {number}, not {wanted}"
        assert number == pytest.approx(wanted), said


# Every block kept its place for 400,000 clock cycles; blocks of 1,024 threads, so two to an SM.
# Milliseconds on one H200 (132 SMs): the kernel `spin` of this lesson, medians of 20.
STAIRCASE = {
    1: 0.2177, 132: 0.2180, 263: 0.2189, 264: 0.2185, 265: 0.4229, 396: 0.4240, 528: 0.4233,
    529: 0.6270, 792: 0.6271, 1056: 0.8307, 1057: 1.0366,
}  # fmt: skip


@pytest.mark.task(6)
@pytest.mark.parametrize("blocks", STAIRCASE)
def test_waves_predict_the_recorded_staircase(blocks):
    full, tail, utilisation = tradeoff.waves(blocks, H200.sms, per_sm=2)
    started = full + (tail > 0)
    recorded = STAIRCASE[blocks] / STAIRCASE[1]
    assert recorded == pytest.approx(started, rel=0.1), f"{started} waves were predicted"
    assert utilisation == pytest.approx(blocks / (started * 264))


def counted_busy_fraction(warps, latency, issue):
    """Step a scheduler through its cycles: it issues from the warp that has waited longest."""
    ready = [0] * warps  # the cycle from which each warp may issue
    cycle = busy = 0
    horizon = 10 * max(latency, warps * issue)
    while cycle < horizon:
        warp = min(range(warps), key=ready.__getitem__)
        if ready[warp] > cycle:
            cycle += 1
            continue
        ready[warp] = cycle + latency
        cycle += issue
        busy += issue
    return busy / cycle


@pytest.mark.task(6)
@pytest.mark.parametrize("latency", [4, 6, 7, 30, 287])
@pytest.mark.parametrize("issue", [1, 2])
def test_the_busy_fraction_is_what_a_scheduler_does_cycle_by_cycle(latency, issue):
    for warps in (1, 2, 3, 4, 8, 16):  # of one scheduler; the SM has four
        got = tradeoff.busy_fraction(4 * warps, latency, issue)
        counted = counted_busy_fraction(warps, latency, issue)
        assert got == pytest.approx(counted, rel=0.03), f"{4 * warps} warps, latency {latency}"
        halved = tradeoff.busy_fraction(4 * warps, latency / 2, issue / 2)
        said = f"latency {latency / 2}, issue {issue / 2}: {halved}, but twice both gives {got}"
        assert halved == pytest.approx(got), said


@pytest.mark.task(6)
@pytest.mark.parametrize("latency", [1, 4, 7, 30, 287])
@pytest.mark.parametrize(("issue", "independent"), [(1, 1), (2, 1), (1, 4), (2, 3)])
def test_enough_warps_leave_no_cycle_empty_and_fewer_do(latency, issue, independent):
    warps = tradeoff.latency_hiding_warps(latency, issue, independent)
    said = f"latency {latency}, issue {issue}, independent {independent}: {warps} warps"
    assert isinstance(warps, Integral) and warps > 0, f"{said}; they are counted from 1, in ints"
    assert warps % 4 == 0, "each of the four schedulers needs its own warps"
    # Instructions that do not wait for one another keep a scheduler for longer: issue * independent
    together = issue * independent
    wait = max(latency, together)
    assert counted_busy_fraction(warps // 4, wait, together) > 0.97, f"{said} are too few"
    if warps > 4:
        fewer = counted_busy_fraction(warps // 4 - 1, wait, together)
        assert fewer < 0.999, f"{said}, and {warps - 4} would do"


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("threads", [1, 31, 33, 48, 100, 1000])
def test_a_ragged_block_wastes_the_lanes_that_were_predicted(threads, profile):
    _, warps, idle = lattice.launch_shape(3 * threads, threads)
    counted = profile(lambda: host.whoami(3, threads))["whoami"].counters
    assert counted.execution_efficiency == pytest.approx(1 - idle / (32 * warps))


# One block to an SM; each thread does 128,000 multiply-adds, each waiting for the one before.
# Milliseconds by warps per SM, on one H200: the kernel `chain` of this lesson, medians of 20.
CHAIN = {1: 0.2838, 2: 0.2831, 4: 0.2842, 8: 0.2841, 12: 0.2883, 16: 0.2921, 20: 0.3642, 24: 0.4328,
         32: 0.5663}  # fmt: skip


@pytest.mark.task(6)
@pytest.mark.parametrize("warps", CHAIN)
def test_busy_fractions_predict_the_recorded_chain(warps):
    cycles = CHAIN[warps] * 1e-3 * H200.boost_gigahertz * 1e9
    recorded = warps / 4 * 128_000 / cycles  # a scheduler's instructions a cycle
    busy = tradeoff.busy_fraction(warps, MEASURED_H200.fma_latency_cycles)
    said = f"{warps} warps an SM: {recorded:.3f} of the cycles recorded, {busy:.3f} predicted"
    assert recorded == pytest.approx(busy, rel=0.12), said


@pytest.mark.task(6)
def test_the_recorded_chain_takes_longer_from_the_predicted_number_of_warps_on():
    enough = tradeoff.latency_hiding_warps(latency=4)
    assert max(CHAIN[warps] for warps in CHAIN if warps <= enough) < 1.05 * CHAIN[1]
    assert min(CHAIN[warps] for warps in CHAIN if warps > enough) > 1.20 * CHAIN[1]


def chained(x, steps):
    for _ in range(32 * steps):
        x = x * x + 0.25
    return x


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("blocks", [1, 131, 132, 140, 400])
def test_the_tail_falls_on_as_many_sms_as_predicted(blocks, close):
    full, tail, _ = tradeoff.waves(blocks, sms=132, per_sm=1)
    blocks_of_sm = host.spin(blocks, 32, 0, "cpu").bincount(minlength=132)
    assert (blocks_of_sm > full).sum() == round(tail * 132)
    x = torch.arange(64.0) * 1e-4  # the other kernel that was recorded: is it what it says?
    close(host.chain(2, 1, 2, "cpu"), lambda x: chained(x, 2), x[:32].repeat(2))


def milliseconds(launch):
    times = []
    for _ in range(8):
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        start.record()
        launch()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[3]


@pytest.mark.gpu
@pytest.mark.task(6)
def test_one_block_too_many_doubles_the_time(device):
    properties = torch.cuda.get_device_properties(device)
    places = properties.multi_processor_count * (properties.max_threads_per_multi_processor // 1024)

    full = milliseconds(lambda: host.spin(places, 1024, 1_000_000, device))
    one_more = milliseconds(lambda: host.spin(places + 1, 1024, 1_000_000, device))
    assert one_more / full >= 1.6, f"{full:.3f} ms for {places} blocks, {one_more:.3f} for one more"


@pytest.mark.gpu
@pytest.mark.task(6)
def test_warps_cost_nothing_until_the_schedulers_are_full(device):
    sms = torch.cuda.get_device_properties(device).multi_processor_count
    four, sixteen, thirty_two = (
        milliseconds(lambda warps=warps: host.chain(sms, warps, 16_000, device))
        for warps in (4, 16, 32)
    )
    assert sixteen / four < 1.25, f"{four:.3f} ms with 4 warps an SM, {sixteen:.3f} with 16"
    assert thirty_two / sixteen > 1.6, f"{sixteen:.3f} ms with 16, {thirty_two:.3f} with 32"
