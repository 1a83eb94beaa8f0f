"""Shuffle, vote, match, reduce: values against their definition lane by lane."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run

SHUFFLES = {
    "down": ("__shfl_down_sync(~0u, v, by, {w})", lambda lane, by, w: lane + by),
    "up": ("__shfl_up_sync(~0u, v, by, {w})", lambda lane, by, w: lane - by),
    "xor": ("__shfl_xor_sync(~0u, v, by, {w})", lambda lane, by, w: lane ^ by),
    "index": ("__shfl_sync(~0u, v, by, {w})", lambda lane, by, w: lane // w * w + by % w),
}


@pytest.mark.parametrize("width", [32, 16, 8, 4, 2])
@pytest.mark.parametrize("mode", SHUFFLES)
def test_a_shuffle_takes_the_value_of_the_lane_it_names(mode, width):
    call, source = SHUFFLES[mode]
    kernel = compiled(
        f"""extern "C" __global__ void shuffle(const int* x, int* y, int by)
{{
    int v = x[threadIdx.x];
    y[threadIdx.x] = {call.format(w=width)};
}}"""
    )
    x = np.random.default_rng(0).integers(0, 1000, 64).astype(np.int32)
    for by in (0, 1, 3, 7, 16, 31):
        y = np.zeros(64, np.int32)
        run(kernel, 1, 64, x, y, by)
        for t in range(64):
            lane = t % 32
            segment = lane // width * width
            j = source(lane, by, width)
            # xor may reach into an earlier segment, not into a later one
            inside = j < segment + width and (mode == "xor" or segment <= j)
            assert y[t] == x[t - lane + (j if inside else lane)], (mode, width, by, t)


def test_each_lane_may_name_another_lane():
    kernel = compiled(
        """extern "C" __global__ void gather(const int* from, double* y)
{
    double v = 1.5 * threadIdx.x;
    y[threadIdx.x] = __shfl_sync(~0u, v, from[threadIdx.x]);
}"""
    )
    source = np.random.default_rng(1).integers(0, 32, 64).astype(np.int32)
    y = np.zeros(64)
    run(kernel, 1, 64, source, y)
    np.testing.assert_array_equal(y, 1.5 * (np.arange(64) // 32 * 32 + source))


@pytest.mark.parametrize("threads", [32, 64, 1024])
def test_a_warp_sum_by_shuffles(threads):
    kernel = compiled(
        """extern "C" __global__ void sum(const float* x, float* y)
{
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(~0u, v, by);
    __shared__ float part[32];
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
        for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(~0u, v, by);
        if (threadIdx.x == 0) y[blockIdx.x] = v;
    }
}"""
    )
    x, y = np.arange(3 * threads, dtype=np.float32), np.zeros(3, np.float32)
    run(kernel, 3, threads, x, y)
    np.testing.assert_array_equal(y, x.reshape(3, threads).sum(1))


def test_what_an_absent_lane_would_give_is_poison():
    """A block of 20: lanes 20 .. 31 do not exist, and whoever reads one gets no innocent zero."""
    kernel = compiled(
        """extern "C" __global__ void down(float* f, int* i)
{
    f[threadIdx.x] = __shfl_down_sync(~0u, 1.0f, 4);
    i[threadIdx.x] = __shfl_down_sync(~0u, 7, 4);
}"""
    )
    f, i = np.zeros(20, np.float32), np.zeros(20, np.int32)
    run(kernel, 1, 20, f, i)
    assert (f[:16] == 1).all() and np.isnan(f[16:]).all()
    assert (i[:16] == 7).all() and (i[16:] == -1).all()


def test_votes():
    kernel = compiled(
        """extern "C" __global__ void vote(const int* x, unsigned* y)
{
    int t = threadIdx.x, v = x[t];
    y[4 * t] = __ballot_sync(~0u, v > 3);
    y[4 * t + 1] = __all_sync(~0u, v > 3);
    y[4 * t + 2] = __any_sync(~0u, v > 8);
    y[4 * t + 3] = __popc(__activemask());
}"""
    )
    x = np.random.default_rng(2).integers(0, 10, 76).astype(np.int32)
    x[32:64] = 5
    y = np.zeros((76, 4), np.uint32)
    run(kernel, 1, 76, x, y)
    for warp in (slice(0, 32), slice(32, 64), slice(64, 76)):
        v = x[warp]
        ballot = sum(1 << lane for lane, one in enumerate(v) if one > 3)
        want = [ballot, int((v > 3).all()), int((v > 8).any()), len(v)]
        np.testing.assert_array_equal(y[warp], np.tile(want, (len(v), 1)))


def test_lanes_that_parted_are_not_in_the_active_mask():
    kernel = compiled(
        """extern "C" __global__ void active(unsigned* y)
{
    int t = threadIdx.x;
    if (t % 4 == 1) y[t] = __activemask();
    else y[t] = __ballot_sync(0xddddddddu, t > 8);
}"""
    )
    y = np.zeros(32, np.uint32)
    run(kernel, 1, 32, y)
    assert (y[1::4] == 0x22222222).all()
    rest = np.delete(y, np.arange(1, 32, 4))
    assert (rest == sum(1 << t for t in range(9, 32) if t % 4 != 1)).all()


def test_match():
    kernel = compiled(
        """extern "C" __global__ void match(const int* x, const long long* z, unsigned* y)
{
    int t = threadIdx.x, same;
    y[4 * t] = __match_any_sync(~0u, x[t]);
    y[4 * t + 1] = __match_all_sync(~0u, z[t], &same);
    y[4 * t + 2] = same;
    y[4 * t + 3] = __match_any_sync(~0u, z[t]);
}"""
    )
    x = np.random.default_rng(4).integers(0, 4, 64).astype(np.int32)
    z = np.where(np.arange(64) < 32, np.int64(1) << 40, x)
    y = np.zeros((64, 4), np.uint32)
    run(kernel, 1, 64, x, z, y)

    def mask(values, t):
        first = t // 32 * 32
        return sum(1 << k for k in range(32) if values[first + k] == values[t])

    for t in range(64):
        agree = t < 32
        assert y[t].tolist() == [mask(x, t), 0xFFFFFFFF * agree, agree, mask(z, t)]


def test_reductions_of_integers():
    names = ("add", "min", "max", "and", "or", "xor")
    calls = "".join(
        f"y[t * 8 + {k}] = __reduce_{name}_sync(~0u, {'v' if k < 3 else '(unsigned)v'});\n"
        for k, name in enumerate(names)
    )
    kernel = compiled(
        f"""extern "C" __global__ void reduce(const int* x, int* y)
{{
    int t = threadIdx.x, v = x[t];
    {calls}
}}"""
    )
    x = np.random.default_rng(6).integers(-(2**31), 2**31, 64).astype(np.int32)
    y = np.zeros((64, 8), np.int32)
    run(kernel, 1, 64, x, y)
    for first in (0, 32):
        v = x[first : first + 32]
        want = [
            v.sum(dtype=np.int32), v.min(), v.max(),
            np.bitwise_and.reduce(v), np.bitwise_or.reduce(v), np.bitwise_xor.reduce(v), 0, 0,
        ]  # fmt: skip
        np.testing.assert_array_equal(y[first : first + 32], np.tile(want, (32, 1)))
