"""Lesson 01, the trade-off: SM residency against warps in flight."""

from numbers import Integral, Real

import pytest
import torch

from curriculum.lesson_01 import host, tradeoff
from harness.judging.returned import number
from references.execution import stepped_busy_fraction
from references.hardware import H200, MEASURED_H200, SCHEDULERS_PER_SM

WAVES = ("full waves", "tail", "utilisation")


def waves(blocks, sms, per_sm):
    """(full waves, tail, utilisation), as the learner counts them."""
    got = tradeoff.waves(blocks, sms=sms, per_sm=per_sm)
    call = f"waves({blocks}, {sms}, {per_sm})"
    if not isinstance(got, tuple | list) or len(got) != len(WAVES):
        pytest.fail(f"{call} returned {got!r}, not ({', '.join(WAVES)})", pytrace=False)
    return [number(f"{call}: {name}", part) for name, part in zip(WAVES, got, strict=True)]


def busy_fraction(warps, latency, issue=1.0):
    got = tradeoff.busy_fraction(warps, latency, issue)
    return number(f"busy_fraction({warps}, {latency}, {issue})", got)


def check_waves(blocks, sms, per_sm, expected):
    for name, got, wanted in zip(WAVES, waves(blocks, sms, per_sm), expected, strict=True):
        said = f"{blocks} blocks, {sms * per_sm} slots: {name} is {got:.6g}, not {wanted:.6g}"
        assert got == pytest.approx(wanted), said


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


# Every block kept its slot for 400,000 clock cycles; blocks of 1,024 threads, so two to an SM.
# Milliseconds on one H200 (132 SMs): the kernel `spin` of this lesson, medians of 20.
STAIRCASE = {
    1: 0.2177, 132: 0.2180, 263: 0.2189, 264: 0.2185, 265: 0.4229, 396: 0.4240, 528: 0.4233,
    529: 0.6270, 792: 0.6271, 1056: 0.8307, 1057: 1.0366,
}  # fmt: skip


@pytest.mark.task(6)
@pytest.mark.parametrize("blocks", STAIRCASE)
def test_waves_predict_the_recorded_staircase(blocks):
    full, tail, utilisation = waves(blocks, H200.sms, per_sm=2)
    started = full + (tail > 0)
    recorded = STAIRCASE[blocks] / STAIRCASE[1]
    said = f"{blocks} blocks, {2 * H200.sms} slots: {full:g} full waves, tail {tail:.4g}"
    took = f"the recording took {recorded:.2f} times as long as one wave"
    assert recorded == pytest.approx(started, rel=0.1), f"{said}, so {started:g} waves; {took}"
    wanted = blocks / (round(recorded) * 2 * H200.sms)
    used = f"utilisation is {utilisation:.6g}, not {wanted:.6g}"
    assert utilisation == pytest.approx(wanted), f"{said}: {used}"


@pytest.mark.task(6)
@pytest.mark.parametrize("latency", [4, 6, 7, 30, 287])
@pytest.mark.parametrize("issue", [1, 2])
def test_the_busy_fraction_is_what_a_scheduler_does_cycle_by_cycle(latency, issue):
    for warps in (1, 2, 3, 4, 8, 16):  # of one scheduler; the SM has four
        on_sm = SCHEDULERS_PER_SM * warps
        got = busy_fraction(on_sm, latency, issue)
        counted = stepped_busy_fraction(warps, latency, issue)
        said = f"{on_sm} warps on the SM, latency {latency}, issue {issue}"
        busy = f"a scheduler is busy in {got:.3f} of its cycles"
        assert got == pytest.approx(counted, rel=0.03), f"{said}: {busy}, not {counted:.3f}"
        halved = busy_fraction(on_sm, latency / 2, issue / 2)
        said = f"{on_sm} warps, latency {latency / 2}, issue {issue / 2}: {halved:.3f}"
        assert halved == pytest.approx(got), f"{said}, but twice both gives {got:.3f}"


@pytest.mark.task(6)
@pytest.mark.parametrize("latency", [1, 4, 7, 30, 287])
@pytest.mark.parametrize(("issue", "independent"), [(1, 1), (2, 1), (1, 4), (2, 3)])
def test_enough_warps_leave_no_cycle_empty_and_fewer_do(latency, issue, independent):
    warps = tradeoff.latency_hiding_warps(latency, issue, independent)
    said = f"latency {latency}, issue {issue}, independent {independent}: {warps} warps"
    counted = isinstance(warps, Integral) and warps > 0
    assert counted, f"{said}; they are counted from 1, in ints"
    shared = f"{said}; each of the four schedulers needs its own warps, and as many as the others"
    assert warps % SCHEDULERS_PER_SM == 0, shared
    # Instructions that do not wait for one another keep a scheduler for longer: issue * independent
    together = issue * independent
    wait = max(latency, together)
    busy = stepped_busy_fraction(warps // 4, wait, together)
    assert busy > 0.97, f"{said} are too few: a scheduler is busy in {busy:.3f} of its cycles"
    if warps > 4:
        fewer = stepped_busy_fraction(warps // 4 - 1, wait, together)
        assert fewer < 0.999, f"{said}, and {warps - 4} would do"


# One block to an SM; each thread does 128,000 multiply-adds, each waiting for the one before.
# Milliseconds by warps per SM, on one H200: the kernel `chain` of this lesson, medians of 20.
CHAIN = {1: 0.2838, 2: 0.2831, 4: 0.2842, 8: 0.2841, 12: 0.2883, 16: 0.2921, 20: 0.3642, 24: 0.4328,
         32: 0.5663}  # fmt: skip


@pytest.mark.task(6)
@pytest.mark.parametrize("warps", CHAIN)
def test_busy_fractions_predict_the_recorded_chain(warps):
    cycles = CHAIN[warps] * 1e-3 * H200.boost_gigahertz * 1e9
    recorded = warps / 4 * 128_000 / cycles  # a scheduler's instructions a cycle
    busy = busy_fraction(warps, MEASURED_H200.fma_latency_cycles)
    said = f"{warps} warps an SM: a scheduler was busy in {recorded:.3f} of the recorded cycles"
    assert recorded == pytest.approx(busy, rel=0.12), f"{said}, {busy:.3f} were predicted"


@pytest.mark.task(6)
def test_the_recorded_chain_takes_longer_from_the_predicted_number_of_warps_on():
    enough = number("latency_hiding_warps(4)", tradeoff.latency_hiding_warps(latency=4))
    for warps, took in CHAIN.items():
        hidden = took < 1.1 * CHAIN[1]
        said = f"latency_hiding_warps(latency=4) is {enough}, but {warps} warps"
        took = f"took {took / CHAIN[1]:.2f} times as long as one"
        assert hidden == (warps <= enough), f"{said} {took} on the recorded GPU"


@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("blocks", [1, 131, 132, 140, 400])
def test_the_tail_falls_on_as_many_sms_as_predicted(blocks):
    full, tail, _ = waves(blocks, sms=132, per_sm=1)
    blocks_of_sm = host.spin(blocks, 32, 0, "cpu").bincount(minlength=132)
    counted, predicted = int((blocks_of_sm > full).sum()), round(tail * 132)
    said = f"{blocks} blocks on 132 SMs, after {full:g} full waves: the tail is {predicted} blocks"
    assert counted == predicted, f"{said}; {counted} SMs ran one more"


def chained(x, steps):
    for _ in range(32 * steps):
        x = x * x + 0.25
    return x


@pytest.mark.simulated
def test_the_recorded_chain_does_multiply_adds_in_a_row(close):
    # Supplied, so no task of yours: the kernel behind the recording is what the README says.
    x = torch.arange(64.0) * 1e-4
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


@pytest.mark.speed
@pytest.mark.task(6)
def test_one_block_too_many_doubles_the_time(device):
    properties = torch.cuda.get_device_properties(device)
    places = properties.multi_processor_count * (properties.max_threads_per_multi_processor // 1024)

    full = milliseconds(lambda: host.spin(places, 1024, 1_000_000, device))
    one_more = milliseconds(lambda: host.spin(places + 1, 1024, 1_000_000, device))
    assert one_more / full >= 1.6, f"{full:.3f} ms for {places} blocks, {one_more:.3f} for one more"


@pytest.mark.speed
@pytest.mark.task(6)
def test_warps_cost_nothing_until_the_schedulers_are_full(device):
    sms = torch.cuda.get_device_properties(device).multi_processor_count
    four, sixteen, thirty_two = (
        milliseconds(lambda warps=warps: host.chain(sms, warps, 16_000, device))
        for warps in (4, 16, 32)
    )
    assert sixteen / four < 1.25, f"{four:.3f} ms with 4 warps an SM, {sixteen:.3f} with 16"
    assert thirty_two / sixteen > 1.6, f"{sixteen:.3f} ms with 16, {thirty_two:.3f} with 32"
