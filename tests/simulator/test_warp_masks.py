"""Masks of warp intrinsics: who meets whom, and the lanes that are named but never come."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, run


def test_lanes_of_a_mask_meet_though_they_come_from_different_arms():
    kernel = compiled(
        """extern "C" __global__ void meet(int* y)
{
    int t = threadIdx.x, v;
    if (t % 2) v = 100 + t;
    else { v = t; for (int k = 0; k < t; ++k) v += y[t]; }
    y[t] = __shfl_xor_sync(~0u, v, 1);
}"""
    )
    y = np.zeros(64, np.int32)
    run(kernel, 1, 64, y)
    assert y.tolist() == [101 + t if t % 2 == 0 else t - 1 for t in range(64)]


def test_half_warps_may_shuffle_apart():
    kernel = compiled(
        """extern "C" __global__ void halves(int* y)
{
    int t = threadIdx.x;
    if (t % 32 < 16) {
        int v = t;
        for (int by = 8; by > 0; by /= 2) v += __shfl_xor_sync(0x0000ffffu, v, by);
        y[t] = v;
    } else {
        y[t] = __shfl_sync(0xffff0000u, t, 20);
    }
    __syncwarp();
    y[t] += __shfl_sync(~0u, t, 31);
}"""
    )
    y = np.zeros(64, np.int32)
    run(kernel, 1, 64, y)
    for first in (0, 32):
        total = sum(range(first, first + 16)) + first + 31
        assert y[first : first + 32].tolist() == [total] * 16 + [2 * first + 51] * 16


def test_tiles_of_a_warp_vote_match_and_reduce_among_themselves():
    """All lanes execute one instruction together, each with the mask of its own tile."""
    kernel = compiled(
        """extern "C" __global__ void tiles(const int* x, int* y)
{
    int t = threadIdx.x, v = x[t], same;
    unsigned mask = 0xffu << (t % 32 / 8 * 8);
    y[8 * t] = __ballot_sync(mask, v > 4);
    y[8 * t + 1] = __any_sync(mask, v > 8);
    y[8 * t + 2] = __all_sync(mask, v > 1);
    y[8 * t + 3] = __match_any_sync(mask, v);
    y[8 * t + 4] = __match_all_sync(mask, v / 10, &same);
    y[8 * t + 5] = __reduce_add_sync(mask, v);
    y[8 * t + 6] = __reduce_max_sync(mask, -v);
    y[8 * t + 7] = __shfl_xor_sync(mask, v, 7);
}"""
    )
    x = np.random.default_rng(8).integers(0, 13, 64).astype(np.int32)
    y = np.zeros((64, 8), np.int32)
    run(kernel, 1, 64, x, y)
    for t in range(64):
        tile = range(t // 8 * 8, t // 8 * 8 + 8)
        v = x[list(tile)].tolist()

        def bits(holds, tile=tile):
            return int(np.int32(np.uint32(sum(1 << k % 32 for k in tile if holds(x[k])))))

        assert y[t].tolist() == [
            bits(lambda k: k > 4),
            int(max(v) > 8),
            int(min(v) > 1),
            bits(lambda k, t=t: k == x[t]),
            bits(lambda k: True) if len({k // 10 for k in v}) == 1 else 0,
            sum(v),
            max(-k for k in v),
            x[t ^ 7],
        ]


ABSENT = """extern "C" __global__ void tail(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    if (i < n) {
        v = x[i];
        v += __shfl_xor_sync(0xffffffffu, v, 1);
    }
    __syncthreads();
    y[i] = v;
}"""


def test_a_mask_that_names_absent_lanes_is_a_fault():
    kernel = compiled(ABSENT)
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    run(kernel, 1, 64, x, y, 64)
    found = fault(kernel, 1, 64, x, y, 60)
    assert found.kind is FaultKind.ABSENT_LANES
    assert "thread 32 of block 0 waits for lane 28 of its warp" in found.what
    assert "4 lanes of the mask absent" in found.what
    assert found.line == kernel.line("__shfl_xor_sync")


def test_a_lane_that_its_own_mask_leaves_out_is_a_fault():
    kernel = compiled(
        """extern "C" __global__ void outside(int* y)
{
    y[threadIdx.x] = __shfl_sync(0x0000ffffu, y[threadIdx.x], 3);
}"""
    )
    found = fault(kernel, 1, 32, np.zeros(32, np.int32))
    assert found.kind is FaultKind.ABSENT_LANES
    assert "thread 16 of block 0" in found.what
    assert found.line == kernel.line("__shfl_sync")


def test_a_syncwarp_that_some_lanes_of_its_mask_never_reach_is_a_fault():
    kernel = compiled(
        """extern "C" __global__ void half(int* y, unsigned mask)
{
    if (threadIdx.x < 16)
        __syncwarp(mask);
    y[threadIdx.x] = 1;
    __syncthreads();
}"""
    )
    y = np.zeros(32, np.int32)
    run(kernel, 1, 32, y, np.uint32(0xFFFF))
    found = fault(kernel, 1, 32, y, np.uint32(0xFFFFFFFF))
    assert found.kind is FaultKind.ABSENT_LANES
    assert found.line == kernel.line("__syncwarp")


@pytest.mark.parametrize(
    "read", ["if (l < 16) v = __shfl_sync(0xffffu, l, 20);",
             "v = __shfl_sync(l < 16 ? 0xffffu : 0xffff0000u, l, 20);",
             "v = __shfl_xor_sync(l < 16 ? 0xffffu : 0xffff0000u, l, 20);"]
)  # fmt: skip
def test_a_shuffle_from_a_lane_that_its_mask_does_not_name_is_a_fault(read):
    kernel = compiled(
        f"""extern "C" __global__ void outside(int* y)
{{
    int l = threadIdx.x % 32, v = 0;
    {read}
    y[threadIdx.x] = v;
}}"""
    )
    found = fault(kernel, 2, 64, np.zeros(64, np.int32))
    assert found.kind is FaultKind.ABSENT_LANES
    assert "thread 0 of block 0 reads from lane 20 of its warp, which its mask does" in found.what
    assert kernel.line("int l") < found.line < kernel.line("y[threadIdx.x]")


GONE = """extern "C" __global__ void gone(int* y)
{{
    int l = threadIdx.x;
    if (l == 20) return;
    y[l] = {read};
}}"""


@pytest.mark.parametrize(
    "read", ["__shfl_sync(~0u, l, l < 4 ? 20 : l)", "__shfl_xor_sync(~0u, l, 20)"]
)
def test_a_shuffle_from_a_lane_that_has_returned_is_a_fault(read):
    kernel = compiled(GONE.format(read=read))
    found = fault(kernel, 1, 32, np.zeros(32, np.int32))
    assert found.kind is FaultKind.ABSENT_LANES
    assert found.what == "thread 0 of block 0 reads from lane 20 of its warp, which has returned"
    assert found.line == kernel.line("y[l] =")


def test_a_shuffle_up_from_a_lane_that_has_returned_gives_poison_and_a_note():
    kernel = compiled(GONE.format(read="__shfl_up_sync(~0u, l, 1)"))
    y = np.zeros(32, np.int32)
    notes = run(kernel, 1, 32, y).notes
    assert y.tolist() == [0, *range(19), 0, -1, *range(21, 31)]
    assert notes == (
        "thread 21 of block 0 reads from lane 20 of its warp at line 5, which has returned: the "
        "value is undefined",
    )


def test_a_mask_may_name_lanes_that_have_returned_and_nobody_reads():
    kernel = compiled(GONE.format(read="__shfl_sync(~0u, l, l == 19 ? 0 : l)"))
    y = np.zeros(32, np.int32)
    assert run(kernel, 1, 32, y).notes == ()
    assert y.tolist() == [*range(19), 0, 0, *range(21, 32)]


@pytest.mark.parametrize(
    ("vote", "among"),
    [("__ballot_sync(~0u, 1)", ~(1 << 20)), ("__all_sync(~0u, l != 20)", 1)],
)
def test_who_has_returned_has_no_vote_and_is_noted(vote, among):
    kernel = compiled(GONE.format(read=vote))
    y = np.zeros(32, np.int32)
    notes = run(kernel, 1, 32, y).notes
    assert y.tolist() == [*[among] * 20, 0, *[among] * 11]
    assert notes == (
        "1 lane of the warp of thread 0 of block 0 had returned before the vote at line 5: it has "
        "none",
    )


@pytest.mark.parametrize("guard", ["l < 8", "true"])
def test_a_shuffle_down_past_its_mask_gives_poison_that_nobody_need_read(guard):
    """The usual sum of 8: lane 0 has it, and lanes 4 .. 7 have read beyond."""
    kernel = compiled(
        f"""extern "C" __global__ void sum(int* y)
{{
    int l = threadIdx.x, v = l;
    if ({guard}) v = __shfl_down_sync(0xffu << l / 8 * 8, v, 4);
    y[l] = v;
}}"""
    )
    y = np.zeros(32, np.int32)
    run(kernel, 1, 32, y)
    for first in (0,) if guard == "l < 8" else (0, 8, 16):  # beyond lane 31 a lane reads itself
        assert y[first : first + 8].tolist() == [*range(first + 4, first + 8)] + [-1] * 4
