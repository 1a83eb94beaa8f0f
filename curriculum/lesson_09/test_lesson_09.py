"""Lesson 09, tasks 1 to 4: fragments, one instruction, products by warps and of any size."""

import math

import pytest
import torch

from curriculum.lesson_09 import fragments, host
from references import matrices, tensor_cores
from references.tensor_cores import halves, pair

# --- Task 1: who holds what -----------------------------------------------------------------------


def places(matrix):
    _, _, registers, each = tensor_cores.FRAGMENTS[matrix]
    return [(lane, r, h) for lane in range(32) for r in range(registers) for h in range(each)]


@pytest.mark.task(1)
@pytest.mark.parametrize("matrix", ["a", "b", "c"])
def test_each_element_has_its_place(matrix):
    for place in places(matrix):
        row, column = tensor_cores.element(matrix, *place)
        got = fragments.owner(matrix, row, column)
        want = "lane {}, register {}, half {}".format(*place)
        said = f'owner("{matrix}", {row}, {column}) is {got!r}'
        assert got == place, f"{said}; the PTX manual says {want}"


@pytest.mark.task(1)
@pytest.mark.parametrize("matrix", ["a", "b", "c"])
def test_each_place_has_its_element(matrix):
    for place in places(matrix):
        want = tensor_cores.element(matrix, *place)
        got = fragments.element(matrix, *place)
        said = f'element("{matrix}", {", ".join(map(str, place))}) is {got!r}'
        assert got == want, f"{said}; the PTX manual says {want}"


@pytest.mark.task(1)
def test_registers_filled_so_give_the_product(device, rng, close):
    a, b = halves(16, 16, rng=rng, device=device), halves(16, 8, rng=rng, device=device)
    close.tensor_product(host.multiply_registers, matrices.product, a, b)


# --- Task 2: one instruction ----------------------------------------------------------------------


@pytest.mark.task(2)
@pytest.mark.parametrize("tiles", [1, 2, 3, 37])
def test_one_instruction_multiplies_two_tiles(tiles, device, rng, close):
    a = halves(tiles, 16, 16, rng=rng, device=device)
    b = halves(tiles, 16, 8, rng=rng, device=device)
    close.tensor_product(host.mma_tile, matrices.product, a, b)


@pytest.mark.task(2)
@pytest.mark.simulated
@pytest.mark.parametrize("tiles", [1, 5])
def test_a_tile_costs_one_instruction_and_each_element_one_load(tiles, rng, profile, close):
    a, b = halves(tiles, 16, 16, rng=rng), halves(tiles, 16, 8, rng=rng)
    launches = profile(lambda: close.tensor_product(host.mma_tile, matrices.product, a, b))
    counters = launches["mma_tile"].counters
    said = f"{tiles} tiles: {counters.mma} instructions of the tensor cores"
    assert counters.mma == tiles, f"{said}; one for each tile is enough"
    loaded, few = counters.global_load_bytes, 768 * tiles
    told = f"{tiles} tiles: {loaded} bytes of loads requested at L1"
    assert loaded <= few, f"{told}; {few} hold each element of a and b once"
    stored = counters.global_store_sectors
    told = f"{tiles} tiles: the stores touch {stored} sectors"
    assert stored <= 32 * tiles, f"{told}; {32 * tiles} are enough, eight for each register"


# --- Task 3: a warp for each tile of c ------------------------------------------------------------

WHOLE = [(16, 16, 16), (16, 48, 32), (80, 16, 48), (64, 64, 64), (48, 80, 112)]


@pytest.mark.task(3)
@pytest.mark.parametrize("M, N, K", WHOLE)
def test_warps_compute_the_product(M, N, K, device, rng, close):
    close.tensor_product(host.wmma_gemm, matrices.product, *pair(M, N, K, rng, device))


@pytest.mark.task(3)
def test_sums_may_pass_the_largest_half(device, rng, close):
    # Each product is about 40,000, and 65,504 is the largest half: as halves, sums are infinite.
    a = 190 + halves(16, 64, rng=rng, device=device)
    b = 190 + halves(64, 32, rng=rng, device=device)
    close.tensor_product(host.wmma_gemm, matrices.product, a, b)


@pytest.mark.task(3)
def test_a_sum_of_nothing_is_zero(device, close):
    a, b = halves_of_nothing(16, 32, device)
    close.equal(host.wmma_gemm(a, b), torch.zeros(16, 32))


def halves_of_nothing(M, N, device):
    kind = {"dtype": torch.float16, "device": device}
    return torch.empty(M, 0, **kind), torch.empty(0, N, **kind)


@pytest.mark.task(3)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K", [(64, 64, 64), (48, 80, 32)])
def test_two_instructions_for_each_cube_of_sixteen(M, N, K, rng, profile, close):
    a, b = pair(M, N, K, rng)
    launches = profile(lambda: close.tensor_product(host.wmma_gemm, matrices.product, a, b))
    counters, said = launches["wmma_gemm"].counters, f"M, N, K = {M}, {N}, {K}"
    want = 2 * M * N * K // 16**3
    told = f"{said}: {counters.mma} instructions of the tensor cores"
    assert counters.mma == want, f"{told}, not {want}; a wmma of 16 x 16 x 16 is two of them"
    told = f"{said}: {counters.fma_instructions} multiply-adds outside the tensor cores"
    assert counters.fma_instructions == 0, f"{told}; nothing is left for them to do"
    loaded, few = counters.global_load_bytes, 2 * M * N * K // 16 * 2
    told = f"{said}: {loaded} bytes of loads requested at L1"
    assert loaded <= few, f"{told}; {few} are enough, 1,024 for each cube of 16"


# --- Task 4: any size -----------------------------------------------------------------------------

RAGGED = [
    (1, 1, 1),
    (1, 2, 3),
    (15, 16, 17),
    (16, 16, 16),
    (33, 31, 16),
    (2, 65, 7),
    (32, 64, 32),
    (37, 101, 53),
]


@pytest.mark.task(4)
@pytest.mark.parametrize("M, N, K", RAGGED)
def test_any_size_is_padded_with_zeros(M, N, K, device, rng, close):
    close.tensor_product(host.wmma_gemm_pad, matrices.product, *pair(M, N, K, rng, device))


@pytest.mark.task(4)
def test_padding_makes_no_nan_of_infinity(device, rng, close):
    # Infinity times a 0 of the padding would be NaN, so both tiles must hold 0 past the end of K.
    a, b = (x.half() for x in matrices.special_pair(rng, device))
    close.tensor_product(host.wmma_gemm_pad, matrices.product, a, b)


@pytest.mark.task(4)
def test_nothing_is_padded_too(device, close):
    close.equal(host.wmma_gemm_pad(*halves_of_nothing(5, 7, device)), torch.zeros(5, 7))


@pytest.mark.task(4)
@pytest.mark.simulated
@pytest.mark.parametrize("M, N, K", [(64, 64, 48), (33, 50, 40), (16, 96, 17)])
def test_each_block_brings_what_it_needs_once(M, N, K, rng, profile, close):
    a, b = pair(M, N, K, rng)
    launches = profile(lambda: close.tensor_product(host.wmma_gemm_pad, matrices.product, a, b))
    counters, said = launches["wmma_gemm_pad"].counters, f"M, N, K = {M}, {N}, {K}"
    down, across, deep = math.ceil(M / 32), math.ceil(N / 32), math.ceil(K / 16)
    few, most = (2 * math.ceil(M / 16) * math.ceil(N / 16) * deep, 8 * down * across * deep)
    told = f"{said}: {counters.mma} instructions of the tensor cores"
    advice = f"{most} do all tiles of the blocks, {few} those inside c"
    assert few <= counters.mma <= most, f"{told}; {advice}"
    loaded, need = counters.global_load_bytes, 2 * (M * K * across + K * N * down)
    told = f"{said}: {loaded} bytes of loads requested at L1"
    assert loaded <= need, f"{told}; {need} are enough, if each block brings each element once"
    waits = counters.barriers / counters.warps
    told = f"{said}: a warp waits {waits:g} times at a barrier for {deep} tiles"
    assert waits <= 2 * deep + 2, f"{told}; two for each are enough, and one before the end"
