"""A read of shared memory that nobody wrote is found, and only that."""

import numpy as np
import pytest

from simulator import FaultKind
from tests.simulator.compiled import compiled, fault, run


def floats(count):
    return np.arange(count, dtype=np.float32)


PARTIAL = """extern "C" __global__ void partial(const float* x, float* y, int n, int reach)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < reach; ++k)
        sum += tile[k];
    y[t] = sum;
}"""


def test_a_partial_tile_of_which_only_the_written_part_is_read_is_fine():
    y = np.zeros(64, np.float32)
    run(compiled(PARTIAL), 1, 64, floats(64), y, 37, 37)
    assert (y == floats(37).sum()).all()


def test_one_element_too_many_is_found():
    kernel = compiled(PARTIAL)
    found = fault(kernel, 1, 64, floats(64), floats(64), 37, 38)
    assert found.kind is FaultKind.UNINITIALISED_READ
    assert "thread 0 of block 0 reads tile[37]" in found.what  # 37 * 4
    assert found.line == kernel.line("sum += tile[k]")


def test_what_another_block_wrote_does_not_count():
    kernel = compiled(
        """extern "C" __global__ void first(float* y)
{
    __shared__ float tile[32];
    if (blockIdx.x == 0) tile[threadIdx.x] = 1.0f;
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = tile[31 - threadIdx.x];
}"""
    )
    run(kernel, 1, 32, np.zeros(32, np.float32))
    for resident in (None, 1):  # beside block 0, and after it in the same memory
        found = fault(kernel, 2, 32, np.zeros(64, np.float32), resident_blocks=resident)
        assert found.kind is FaultKind.UNINITIALISED_READ
        assert "thread 0 of block 1 reads tile[31]" in found.what


def test_double_buffering_is_no_false_alarm():
    kernel = compiled(
        """extern "C" __global__ void stream(const float* x, float* y, int tiles)
{
    __shared__ float tile[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    tile[0][t] = x[t];
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) tile[(k + 1) % 2][t] = x[(k + 1) * 64 + t];
        sum += tile[k % 2][63 - t];
        __syncthreads();
    }
    y[t] = sum;
}"""
    )
    for tiles in (1, 2, 5):
        x, y = floats(64 * tiles), np.zeros(64, np.float32)
        run(kernel, 1, 64, x, y, tiles)
        np.testing.assert_array_equal(y, x.reshape(tiles, 64).sum(0)[::-1])


def test_single_bytes_are_followed():
    kernel = compiled(
        """extern "C" __global__ void bytes(unsigned char* y, int skip)
{
    __shared__ unsigned char tile[64];
    int t = threadIdx.x;
    if (t != skip) tile[t] = t;
    __syncthreads();
    y[t] = tile[t ^ 1];
}"""
    )
    run(kernel, 1, 64, np.zeros(64, np.uint8), -1)
    found = fault(kernel, 1, 64, np.zeros(64, np.uint8), 41)
    assert "thread 40 of block 0 reads tile[41]" in found.what


def test_a_wide_read_of_half_written_memory_is_found():
    kernel = compiled(
        """extern "C" __global__ void halves(float* y)
{
    __shared__ float2 tile[32];
    tile[threadIdx.x].x = 1.0f;
    __syncthreads();
    float2 two = tile[threadIdx.x];
    y[threadIdx.x] = two.x + two.y;
}"""
    )
    assert fault(kernel, 1, 32, floats(32)).kind is FaultKind.UNINITIALISED_READ


def test_an_atomic_on_fresh_shared_memory_is_found():
    kernel = compiled(
        """extern "C" __global__ void histogram(int* y)
{
    __shared__ int bins[32];
    atomicAdd(&bins[threadIdx.x / 2], 1);
    __syncthreads();
    y[threadIdx.x] = bins[threadIdx.x / 2];
}"""
    )
    found = fault(kernel, 1, 32, np.zeros(32, np.int32))
    assert found.kind is FaultKind.UNINITIALISED_READ
    assert found.line == kernel.line("atomicAdd")


EXCHANGE = """extern "C" __global__ void first(int* y)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        %s atomicExch(&s, 3);
    __syncthreads();
    y[threadIdx.x] = s;
}"""


def test_an_exchange_whose_old_value_nobody_wants_is_a_write():
    y = np.zeros(32, np.int32)
    run(compiled(EXCHANGE % ""), 2, 32, y)
    assert (y == 3).all()


def test_an_exchange_whose_old_value_is_used_is_a_read():
    kernel = compiled(EXCHANGE % "y[32] =")
    found = fault(kernel, 2, 32, np.zeros(33, np.int32))
    assert found.kind is FaultKind.UNINITIALISED_READ
    assert found.line == kernel.line("atomicExch")


@pytest.mark.parametrize("kind", [np.float32, np.int32])
def test_unwritten_shared_memory_is_poison_where_nobody_looks(kind):
    kernel = compiled(
        f"""extern "C" __global__ void fresh({"float" if kind is np.float32 else "int"}* y)
{{
    __shared__ {"float" if kind is np.float32 else "int"} tile[32];
    if (y[threadIdx.x] != 0) tile[threadIdx.x] = 5;
    __syncthreads();
    y[threadIdx.x] = tile[31 - threadIdx.x];
}}"""
    )
    y = np.zeros(32, kind)
    run(kernel, 1, 32, y, faults=False)
    assert np.isnan(y).all() if kind is np.float32 else (y == -1).all()
