"""Lesson 09, task 5: the next stage is on its way while this one is multiplied."""

from functools import partial

import pytest

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


def counted(M, N, K, down, across, rng, profile, close):
    """The counters of gemm_two_stages, once its answer is right; and how to name the launch."""
    a, b = pair(M, N, K, rng)
    multiply = partial(host.gemm_two_stages, down=down, across=across)
    launches = profile(lambda: close.tensor_product(multiply, matrices.product, a, b))
    said = f"M, N, K = {M}, {N}, {K}, {down} x {across} fragments a warp"
    return launches["gemm_two_stages"].counters, said


@pytest.mark.task(5)
@pytest.mark.parametrize("M, N, K, down, across", WHOLE)
def test_a_product_by_stages_is_the_product(M, N, K, down, across, device, rng, close):
    multiply = partial(host.gemm_two_stages, down=down, across=across)
    close.tensor_product(multiply, matrices.product, *pair(M, N, K, rng, device))


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
def test_the_next_stage_comes_while_this_one_is_multiplied(stages, rng, profile, close):
    counters, said = counted(32, 64, 32 * stages, 1, 1, rng, profile, close)
    overlapped, products = counters.overlapped_mma, counters.mma
    told = f"{said}: {overlapped} of {products} products are made while copies are under way"
    least = products * (stages - 1) // stages  # behind the last stage there is none to bring
    advice = "let the next stage be under way while you multiply this one, and wait for it later"
    assert overlapped >= least, f"{told}; {least} can be: {advice}"
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
