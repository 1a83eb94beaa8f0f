"""Autotuning and benchmarks without a GPU: modelled cost, and each configuration runs once."""

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401
from harness.launching.recording import is_recording, recording
from harness.triton_driver.modelled_time import Event, cost
from harness.triton_driver.triton_internals import driver_config

pytestmark = pytest.mark.simulated

N = 5000


def tuned(**options):
    configs = [
        triton.Config({"BLOCK": 128}, num_warps=1),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8),
    ]

    @triton.autotune(configs, key=["n"], **options)
    @triton.jit
    def accumulate(x, total, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(total + tl.arange(0, 1), tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))

    return accumulate


def grid(constants):
    return (triton.cdiv(N, constants["BLOCK"]),)


def test_an_output_that_is_not_reset_was_added_to_by_each_configuration():
    x, total = torch.ones(N), torch.zeros(1)
    kernel = tuned()
    kernel[grid](x, total, N)
    assert total.item() == 4 * N  # three tried, and the chosen one
    kernel[grid](x, total, N)
    assert total.item() == 5 * N  # chosen before


@pytest.mark.parametrize("option", ["reset_to_zero", "restore_value"])
def test_one_that_is_reset_or_restored_was_not(option):
    x, total = torch.ones(N), torch.zeros(1)
    tuned(**{option: ["total"]})[grid](x, total, N)
    assert total.item() == N


def test_the_cheapest_configuration_is_chosen_and_kept():
    x, total = torch.ones(N), torch.zeros(1)
    kernel = tuned(reset_to_zero=["total"])
    with recording() as launches:
        kernel[grid](x, total, N)
    costs = [cost(launch) for launch in launches]
    assert len(costs) == 4
    times = {config.kwargs["BLOCK"]: time[0] for config, time in kernel.configs_timings.items()}
    assert list(times.values()) == costs[:3]
    assert times[kernel.best_config.kwargs["BLOCK"]] == min(costs) == costs[3]
    with recording() as launches:
        kernel[grid](x, total, N)
    assert len(launches) == 1


def test_heuristics_and_hooks_around_configurations():
    hooked = []
    configs = [
        triton.Config({"BLOCK": 512}, pre_hook=lambda given: hooked.append(given["BLOCK"])),
        triton.Config({"BLOCK": 1024}),
    ]
    after = []

    @triton.autotune(configs, key=["n"], post_hook=lambda given, exception: after.append(exception))
    @triton.heuristics({"EVEN": lambda given: given["n"] % given["BLOCK"] == 0})
    @triton.jit
    def copy(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            tl.store(y + i, tl.load(x + i) + 1)
        else:
            tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

    x, y = torch.randn(N), torch.empty(N)
    copy[grid](x, y, N)
    assert torch.equal(y, x)
    assert set(hooked) == {512} and after == [None, None]
    even, out = torch.randn(4096), torch.empty(4096)
    copy[lambda c: (4096 // c["BLOCK"],)](even, out, 4096)
    assert torch.equal(out, even + 1)


def test_what_was_tuned_for_one_device_is_not_taken_for_another():
    from harness.triton_driver.launching import _keep_apart

    kernel = tuned(reset_to_zero=["total"])
    kernel[grid](torch.ones(N), torch.zeros(1), N)
    on_cpu = dict(kernel.cache)
    _keep_apart(kernel, "cuda")
    assert on_cpu and not kernel.cache
    kernel.cache["on the GPU"] = None
    _keep_apart(kernel, "cpu")
    assert kernel.cache == on_cpu


@triton.jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        at = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + at)
        total = tl.dot(x, tl.load(b + at[:, None] * n + columns), total)
    tl.store(c + rows[:, None] * n + columns, total)


def test_a_configuration_that_needs_too_much_shared_memory_is_left_out():
    sizes = {"BM": 64, "BN": 64, "BK": 64}
    configs = [triton.Config(sizes, num_stages=stages) for stages in (20, 2)]
    a, b = torch.ones(64, 64).half(), torch.ones(64, 64).half()
    c = torch.empty(64, 64)
    tuned = triton.autotune(configs, key=[])(product)
    tuned[(1, 1)](a, b, c, 64, 64, 64)
    assert tuned.best_config.num_stages == 2
    assert [time[0] for time in tuned.configs_timings.values()][0] == float("inf")


def cost_of(launch):
    with recording() as launches:
        launch()
    return sum(map(cost, launches))


def test_larger_tiles_of_a_product_ask_for_fewer_bytes_and_cost_less():
    a, b = torch.ones(512, 64).half(), torch.ones(64, 512).half()
    c = torch.empty(512, 512)

    def at(size):
        grid = (512 // size, 512 // size)
        return cost_of(lambda: product[grid](a, b, c, 512, 512, 64, size, size, 32))

    assert at(16) > at(32) > at(64)


@triton.jit
def strided_copy(x, y, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i * stride))


def test_scattered_loads_cost_more_than_neighbours():
    x, y = torch.zeros(1 << 21), torch.empty(1 << 16)
    near, far = (
        cost_of(lambda s=stride: strided_copy[(256,)](x, y, s, BLOCK=256)) for stride in (1, 32)
    )
    assert far - near == pytest.approx((32 - 4) * 32 * (1 << 16) / 32 / 2400)  # bytes, a cycle


def test_a_benchmark_says_modelled_cycles_and_takes_few_launches():
    x, y = torch.zeros(4096), torch.empty(4096)
    launched = []

    def run():
        launched.append(1)
        strided_copy[(16,)](x, y, 1, BLOCK=256)

    one = cost_of(run)
    launched.clear()
    assert triton.testing.do_bench(run) == pytest.approx(one)
    assert len(launched) <= 10
    assert triton.testing.do_bench(run, quantiles=[0.5, 0.2, 0.8]) == pytest.approx([one] * 3)
    assert not is_recording()  # counters are off again


def test_time_passes_for_as_long_as_somebody_measures():
    x, y = torch.zeros(4096), torch.empty(4096)
    interface = driver_config.active.get_device_interface()
    start, end = (interface.Event(enable_timing=True) for _ in "ab")
    start.record()
    strided_copy[(16,)](x, y, 1, BLOCK=256)
    end.record()
    assert start.elapsed_time(end) == cost_of(lambda: strided_copy[(16,)](x, y, 1, BLOCK=256))
    assert is_recording()
    del start, end
    assert not is_recording()
    assert Event().elapsed_time(Event()) == 1.0
