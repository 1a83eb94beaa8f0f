"""Lesson 12, task 6: both products on tensor cores; task 8: windows, sinks and soft caps."""

from functools import partial

import pytest
import torch

from curriculum.lesson_12 import host
from harness.judging.timing import median_milliseconds
from harness.launching.launch_settings import changed
from references.attention import Case, attention


def halves(shape, rng, device="cpu"):
    case = Case("", *shape)
    return [x.to(device) for x in case.inputs(rng, torch.float16)]


def judged(close, inputs, causal, **options):
    """o by the policy for half, lse by that for float32."""
    run = partial(host.flash_fwd_mma, causal=causal, **options)
    results = []

    def first(*tensors):
        results.extend(run(*tensors))
        return results[0]

    close.function(first, lambda *tensors: attention(*tensors, causal=causal)[0], *inputs)
    depth = {"dtype": torch.float32, "tensor_core_depth": inputs[0].shape[2]}
    close(results[1], lambda *tensors: attention(*tensors, causal=causal)[1], *inputs, **depth)


FAST = [  # heads, kv_heads, queries, keys, d, causal
    (1, 1, 64, 64, 64, False),
    (1, 1, 1, 1, 64, True),
    (2, 1, 65, 130, 64, True),
    (1, 1, 21, 5, 64, True),
    (1, 1, 17, 67, 128, False),
]


@pytest.mark.stretch
@pytest.mark.task(6)
@pytest.mark.parametrize("shape", FAST, ids=str)
def test_halves_on_tensor_cores_give_the_same(shape, device, rng, close):
    judged(close, halves(shape, rng, device), shape[5])


@pytest.mark.stretch
@pytest.mark.task(6)
def test_two_strips_a_warp_give_the_same(device, rng, close):
    judged(close, halves((1, 1, 130, 131, 64, True), rng, device), True, down=2)


@pytest.mark.stretch
@pytest.mark.task(6)
@pytest.mark.simulated
@pytest.mark.parametrize("queries, keys, causal", [(64, 192, False), (128, 128, True)])
def test_tiles_come_by_copies_and_stay_in_registers(queries, keys, causal, rng, profile, close):
    d = 64
    inputs = halves((1, 1, queries, keys, d, causal), rng)
    launches = profile(lambda: judged(close, inputs, causal))
    counters, said = launches["flash_fwd_mma"].counters, f"{queries} × {keys}, causal {causal}"
    blocks, tiles = queries // 64, 3  # of keys, of all blocks together: 3, or 1 + 2
    loaded, wanted = counters.async_copy_bytes, 2 * d * (queries + 2 * 64 * tiles)
    assert loaded == wanted, f"{said}: {loaded} bytes of copies, not {wanted}, requested at L1"
    stored = counters.global_store_bytes
    assert stored == queries * (2 * d + 4), f"{said}: {stored} bytes of stores; o and lse have less"
    products = 4 * tiles * 2 * (64 // 16) * (d // 8)
    assert counters.mma == products, f"{said}: {counters.mma} products of fragments, not {products}"
    conflicts = counters.shared_load_conflicts
    assert conflicts == 0, f"{said}: {conflicts} passes too many through the banks"
    barriers = counters.barriers / 4
    few = tiles + 2 * blocks
    told = f"{said}: {barriers:g} barriers for {tiles} tiles of keys"
    assert barriers <= few, f"{told}; one for each, and two a block, are enough"


@pytest.mark.stretch
@pytest.mark.task(6)
@pytest.mark.speed
def test_tensor_cores_are_faster_than_three_kernels_of_torch(unpoisoned):
    q, k, v = (torch.randn(64, 4096, 64, device="cuda").half() for _ in range(3))

    def apart():
        return torch.bmm(torch.bmm(q, k.transpose(1, 2)).softmax(-1), v)

    with changed(synchronize=False):
        ours = median_milliseconds(lambda: host.flash_fwd_mma(q, k, v, scale=1.0, down=2), 5)
    theirs = median_milliseconds(apart, 5)
    said = f"64 heads of 4096 × 64: {ours:.3f} ms, product, softmax and product {theirs:.3f}"
    assert theirs / ours >= 1.5, said


# --- Task 8: the rest of the mask -----------------------------------------------------------------

MASKS = [
    {"window": 1},
    {"window": 7, "sinks": 3},
    {"softcap": 2.0},
    {"window": 18, "sinks": 17, "softcap": 5.0},
]


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("queries, keys, causal", [(50, 50, True), (5, 40, False)])
def test_a_window_sinks_and_a_soft_cap(mask, queries, keys, causal, device, rng, close):
    inputs = [x.to(device) for x in Case("", 2, 1, queries, keys, 8, causal, 4.0).inputs(rng)]
    wanted = {"window": None, "sinks": 0, "softcap": None} | mask
    run = partial(host.flash_fwd, causal=causal, **mask)
    close.function(run, partial(attention, causal=causal, **wanted), *inputs)


@pytest.mark.stretch
@pytest.mark.task(8)
@pytest.mark.simulated
@pytest.mark.parametrize("sinks, tiles", [(0, 2 * 5 + 1), (4, 3 * 4 + 2 + 1)])
def test_tiles_before_the_window_are_not_read(sinks, tiles, rng, profile, close):
    tokens, d, window = 96, 16, 16
    inputs = Case("", 1, 1, tokens, tokens, d, True).inputs(rng)
    run = partial(host.flash_fwd, causal=True, window=window, sinks=sinks)
    oracle = partial(attention, causal=True, window=window, sinks=sinks)
    launches = profile(lambda: close.function(run, oracle, *inputs))
    counters = launches["flash_fwd_masked"].counters
    loaded = counters.global_load_bytes + counters.async_copy_bytes
    wanted = 4 * d * (tokens + 2 * 16 * tiles)
    said = f"96 tokens, a window of 16, {sinks} sinks: {loaded} bytes of loads, requested at L1"
    assert loaded == wanted, f"{said}, not {wanted}: {tiles} tiles of keys"
