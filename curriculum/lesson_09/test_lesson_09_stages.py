"""Lesson 09, task 5: the next stage is on its way while this one is multiplied."""

from functools import partial

import pytest
import torch

from curriculum.lesson_09 import host
from references import matrices
from references.tensor_cores import pair

# (M, N, K, DOWN, ACROSS): one stage, two, three; several blocks; more fragments a warp
WHOLE = [
    (32, 64, 32, 1, 1),
    (32, 64, 64, 1, 1),
    (96, 64, 96, 1, 1),
    (64, 192, 160, 1, 1),
    (64, 128, 96, 2, 1),
    (64, 128, 64, 1, 2),
]


def judged(close, function, a, b):
    options = {"dtype": torch.float32, "tensor_core_depth": a.shape[1]}
    return close.function(function, matrices.product, a, b, **options)


def counted(M, N, K, down, across, rng, profile, close):
    """The counters of gemm_two_stages, once its answer is right; and how to name the launch."""
    a, b = pair(M, N, K, rng)
    multiply = partial(host.gemm_two_stages, down=down, across=across)
    launches = profile(lambda: judged(close, multiply, a, b))
    said = f"M, N, K = {M}, {N}, {K}, {down} x {across} fragments a warp"
    return launches["gemm_two_stages"].counters, said


@pytest.mark.task(5)
@pytest.mark.parametrize("M, N, K, down, across", WHOLE)
def test_a_product_by_stages_is_the_product(M, N, K, down, across, device, rng, close):
    multiply = partial(host.gemm_two_stages, down=down, across=across)
    judged(close, multiply, *pair(M, N, K, rng, device))


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K, down, across", [(64, 128, 96, 1, 1), (64, 128, 64, 2, 2)])
def test_copies_bring_each_element_once_for_each_block(M, N, K, down, across, rng, profile, close):
    counters, said = counted(M, N, K, down, across, rng, profile, close)
    requests = counters.global_load_requests
    told = f"{said}: {requests} loads of global memory pass through registers"
    assert requests == 0, f"{told}; let all of a and b come by copies"
    copied = counters.async_copy_bytes
    few = 2 * (M * K * N // (64 * across) + K * N * M // (32 * down))
    assert copied == few, f"{said}: {copied} bytes are copied; {few} are each element once a block"
    # A row that is padded by 16 bytes shifts the next by half a sector, which must then come twice.
    sectors, need = counters.async_copy_sectors, few // 32
    told = f"{said}: the copies touch {sectors} sectors, {need} hold all"
    assert sectors <= 1.25 * need, f"{told}; let neighbouring threads copy along a row"
    lanes = copied / counters.async_copy_requests
    told = f"{said}: {lanes:g} bytes for each request of a warp, not 512"
    assert lanes == 512, f"{told}; copy 16 bytes for each lane"


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("stages", [2, 6, 9])
def test_two_stages_are_under_way_when_a_warp_waits(stages, rng, profile, close):
    counters, said = counted(32, 64, 32 * stages, 1, 1, rng, profile, close)
    waits, pairs = counters.load_waits / counters.warps, stages // 2
    told = f"{said}: a warp waits {waits:g} times for copies, for {stages} stages"
    advice = "start to bring the next stage before you wait for this one, and leave it under way"
    assert waits <= pairs + 1, f"{told}; with two stages under way it is about {pairs}: {advice}"
    barriers = counters.barriers / counters.warps
    told = f"{said}: a warp comes to {barriers:g} barriers for {stages} stages"
    assert barriers <= 2 * stages, f"{told}; two for each are enough"


@pytest.mark.task(5)
@pytest.mark.simulated
@pytest.mark.parametrize("down, across", [(1, 1), (2, 2)])
def test_a_fragment_is_used_for_the_whole_warp_tile(down, across, rng, profile, close):
    counters, said = counted(32 * down, 64 * across, 64, down, across, rng, profile, close)
    want = 32 * down * 64 * across * 64 // (16 * 8 * 16)
    told = f"{said}: {counters.mma} instructions of the tensor cores, not {want}"
    assert counters.mma == want, told
    passes = (counters.shared_load_wavefronts - counters.shared_load_conflicts) / counters.mma
    few = 2 * (down + across) / (down * across)  # of 128 bytes
    told = f"{said}: {passes:g} passes of shared memory for each instruction"
    assert passes <= few, f"{told}; {few:g} bring each fragment once for each 16 of K"
    conflicts = counters.shared_load_conflicts + counters.async_copy_conflicts
    told = f"{said}: {conflicts} passes too many through the banks"
    assert conflicts == 0, f"{told}; how far apart are the rows of a stage?"
