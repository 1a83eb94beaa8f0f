"""Integers that Nsight Compute measured for the same kernels on an H200."""

import numpy as np
import pytest

from tests.simulator.compiled import compiled, run

STRIDED = """extern "C" __global__ void strided(const float* x, float* y, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(int)((long long)i * stride % n)];
}"""


@pytest.mark.parametrize(
    ("stride", "sectors"),
    [(1, 4096), (2, 8192), (4, 16384), (8, 32768), (16, 32768), (32, 32768)],
)
def test_a_strided_copy_of_32768_floats(stride, sectors):
    x, y = np.arange(32768, dtype=np.float32), np.zeros(32768, np.float32)
    counters = run(compiled(STRIDED), 128, 256, x, y, 32768, stride).counters
    np.testing.assert_array_equal(y, x[np.arange(32768) * stride % 32768])
    assert counters.global_load_requests == 1024
    assert counters.global_load_sectors == sectors
    assert (counters.global_store_requests, counters.global_store_sectors) == (1024, 4096)


def matrix():
    return np.arange(256 * 256, dtype=np.float32).reshape(256, 256)


def test_a_naive_transpose():
    kernel = compiled(
        """extern "C" __global__ void transpose(const float* x, float* y, int n)
{
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    y[column * n + row] = x[row * n + column];
}"""
    )
    y = np.zeros((256, 256), np.float32)
    counters = run(kernel, (8, 8), (32, 32), matrix(), y, 256).counters
    np.testing.assert_array_equal(y, matrix().T)
    assert (counters.global_store_requests, counters.global_store_sectors) == (2048, 65_536)
    assert (counters.global_load_requests, counters.global_load_sectors) == (2048, 8192)


@pytest.mark.parametrize(("width", "conflicts"), [(32, 63_488), (33, 0)])
def test_a_transpose_through_a_tile(width, conflicts):
    kernel = compiled(
        f"""extern "C" __global__ void transpose(const float* x, float* y, int n)
{{
    __shared__ float tile[32][{width}];
    int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
    tile[ty][tx] = x[(by + ty) * n + bx + tx];
    __syncthreads();
    y[(bx + ty) * n + by + tx] = tile[tx][ty];
}}"""
    )
    y = np.zeros((256, 256), np.float32)
    counters = run(kernel, (8, 8), (32, 32), matrix(), y, 256).counters
    np.testing.assert_array_equal(y, matrix().T)
    assert counters.shared_load_requests == 2048
    assert counters.shared_load_conflicts == conflicts
    assert counters.shared_load_wavefronts == 2048 + conflicts
    assert (counters.shared_store_requests, counters.shared_store_conflicts) == (2048, 0)
    assert counters.global_store_sectors == 8192
