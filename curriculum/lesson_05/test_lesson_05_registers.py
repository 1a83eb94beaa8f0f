"""Lesson 05, task 4: a product by tiles in registers."""

from functools import partial

import pytest
import torch

from curriculum.lesson_05 import host
from references import matrices

# (M, N, K): one element, ragged at each side, several blocks and tiles, whole tiles
SHAPES = [(1, 1, 1), (3, 65, 17), (65, 2, 16), (63, 64, 15), (67, 130, 33), (64, 64, 16)]
WHOLE = [(64, 64, 48), (128, 64, 32)]


@pytest.mark.task(4)
@pytest.mark.parametrize("M, N, K", SHAPES + WHOLE)
def test_a_product_by_register_tiles_is_the_product(M, N, K, device, rng, close):
    close.function(
        host.matmul_regtile, matrices.product, *matrices.pair(M, N, K, rng, device), sums=True
    )


@pytest.mark.task(4)
@pytest.mark.parametrize("M, N, K", [(128, 128, 32), (129, 100, 20), (5, 3, 2)])
def test_eight_by_eight_is_the_product_too(M, N, K, device, rng, close):
    a, b = matrices.pair(M, N, K, rng, device)
    multiply = partial(host.matmul_regtile, each=8)
    close.function(multiply, matrices.product, a, b, sums=True)


@pytest.mark.task(4)
def test_infinity_and_nan_stay_where_they_belong(device, rng, close):
    a, b = matrices.special_pair(rng, device)
    close.function(host.matmul_regtile, matrices.product, a, b, sums=True)
    # And no tile at all leaves the sums at 0.
    close.equal(host.matmul_regtile(a[:, :0].contiguous(), b[:0]), torch.zeros(20, 35))


def counted(each, M, N, K, rng, profile, close):
    """The counters of matmul_regtile, once its answer is right; and how to name the launch."""
    a, b = matrices.pair(M, N, K, rng)
    launches = profile(lambda: host.matmul_regtile(a, b, each))
    close(launches.result, matrices.product, a, b, sums=True)
    said = f"M, N, K = {M}, {N}, {K}, {each} x {each} a thread"
    return launches["matmul_regtile"].counters, said


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("each", [4, 8])
def test_a_float_from_shared_memory_is_used_several_times(each, rng, profile, close):
    counters, said = counted(each, 128, 128, 32, rng, profile, close)
    fmas = 128 * 128 * 32 // 32  # of whole warps
    ratio, most = counters.shared_load_requests / fmas, 2 * each / each**2
    told = f"{said}: {ratio:.3g} shared loads for a multiply-add of a warp"
    assert 0 < ratio <= 1.1 * most, f"{told}, and {most:g} are enough, one float each"
    conflicts = counters.shared_load_conflicts
    assert conflicts == 0, f"{said}: {conflicts} passes too many through the banks"


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("each", [4, 8])
def test_the_sums_live_in_registers(each, rng, profile, close):
    counters, said = counted(each, 128, 128, 32, rng, profile, close)
    local = counters.local_load_requests + counters.local_store_requests
    told = f"{said}: {local} requests to local memory"
    assert local == 0, f"{told}; index sums[i][j] by loops of fixed length only"


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K, each", [(128, 64, 48, 4), (128, 256, 32, 8), (67, 130, 33, 4)])
def test_each_element_is_fetched_once_for_each_block(M, N, K, each, rng, profile, close):
    counters, said = counted(each, M, N, K, rng, profile, close)
    side, tiles = 16 * each, -(-K // 16)
    fewest = 4 * (M * K * -(-N // side) + K * N * -(-M // side))
    loaded = counters.global_load_bytes + counters.async_copy_bytes
    told = f"{said}: {loaded} bytes of loads requested at L1; {fewest} are enough"
    assert loaded <= fewest, f"{told}: fetch each tile once"
    waits = counters.barriers / counters.warps
    told = f"{said}: a warp waits {waits:g} times at a barrier for {tiles} tiles"
    assert waits <= 2 * tiles, f"{told}; two for each are enough"
