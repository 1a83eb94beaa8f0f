"""Null and wild pointers, misaligned ones, and inputs that must not be written."""

import numpy as np
import pytest

from simulator import Buffer, FaultKind, Pointer
from tests.simulator.compiled import compiled, fault, run

COPY = """extern "C" __global__ void copy(const float* x, float* y)
{
    y[threadIdx.x] = x[threadIdx.x];
}"""
WIDE = """extern "C" __global__ void wide(const float* x, float* y, int shift)
{
    int t = threadIdx.x;
    float4 four =
        *(const float4*)(x + 4 * t + shift);
    y[t] = four.x + four.y + four.z + four.w;
}"""


def floats(count):
    return np.arange(count, dtype=np.float32)


def test_a_null_pointer_is_named():
    kernel = compiled(COPY)
    found = fault(kernel, 1, 32, None, floats(32))
    assert found.kind is FaultKind.OUT_OF_BOUNDS
    assert "thread 0 of block 0 reads through a null pointer" in found.what
    assert found.line == kernel.line("x[threadIdx.x]")


def test_a_null_pointer_in_some_lanes_names_one_of_those():
    kernel = compiled(
        """extern "C" __global__ void some(float* const* rows, float* y)
{
    y[threadIdx.x] = rows[threadIdx.x][0];
}"""
    )
    rows = np.full(32, 1 << 39 | 1 << 41, np.uint64)  # the first byte of the second buffer
    rows[13] = 0
    found = fault(kernel, 1, 32, rows, floats(32))
    assert "thread 13 of block 0 reads through a null pointer" in found.what


def test_a_wild_pointer_is_named():
    kernel = compiled(
        """extern "C" __global__ void wild(unsigned long long where, float* y)
{
    y[threadIdx.x] = ((float*)where)[threadIdx.x];
}"""
    )
    found = fault(kernel, 1, 32, np.uint64(0x7F12_3456_7890), floats(32))
    assert "thread 0 of block 0 reads at an address that belongs to no tensor" in found.what


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_a_float4_must_be_aligned(shift):
    kernel = compiled(WIDE)
    found = fault(kernel, 1, 8, floats(64), floats(8), shift)
    assert found.kind is FaultKind.MISALIGNED
    assert f"thread 0 of block 0 reads 16 bytes at byte {4 * shift} of x" in found.what
    assert found.line == kernel.line("*(const float4*)")


def test_an_aligned_shift_of_a_float4_is_fine():
    y = np.zeros(8, np.float32)
    run(compiled(WIDE), 1, 8, floats(64), y, 4)
    np.testing.assert_array_equal(y, floats(36)[4:].reshape(8, 4).sum(1))


def test_a_view_that_starts_between_float4s_is_misaligned():
    storage = Buffer("x", floats(64).view(np.uint8), np.dtype(np.float32), origin=4)
    found = fault(compiled(WIDE), 1, 8, Pointer(storage, 4), floats(8), 0)
    assert found.kind is FaultKind.MISALIGNED


def test_only_the_lane_that_is_misaligned_is_named():
    kernel = compiled(
        """extern "C" __global__ void odd(const char* x, int* y)
{
    int t = threadIdx.x;
    y[t] = *(const int*)(x + 4 * t + (t == 21 ? 2 : 0));
}"""
    )
    found = fault(kernel, 1, 32, np.zeros(200, np.int8), np.zeros(32, np.int32))
    assert "thread 21 of block 0 reads 4 bytes at byte 86 of x" in found.what


def test_a_misaligned_shared_access_is_found():
    kernel = compiled(
        """extern "C" __global__ void odd(float* y, int shift)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = 1.0f;
    tile[threadIdx.x + 32] = 1.0f;
    __syncthreads();
    float2 two = ((float2*)(tile + shift))[threadIdx.x / 2];
    y[threadIdx.x] = two.x + two.y;
}"""
    )
    y = floats(32)
    run(kernel, 1, 32, y, 2)
    assert fault(kernel, 1, 32, y, 1).kind is FaultKind.MISALIGNED


WRITES = """extern "C" __global__ void writes(const float* x, float* y)
{
    y[threadIdx.x] = 1.0f;
    if (threadIdx.x == 3)
        ((float*)x)[0] = 7.0f;
}"""


def test_a_const_input_must_not_be_written():
    kernel = compiled(WRITES)
    x = floats(32)
    inputs = Pointer(Buffer("x", x.view(np.uint8), x.dtype, read_only=True))
    found = fault(kernel, 1, 32, inputs, floats(32))
    assert found.kind is FaultKind.WRITE_TO_CONST
    assert "thread 3 of block 0 writes to x" in found.what
    assert found.line == kernel.line("((float*)x)[0]")
    assert x[0] == 0


def test_an_atomic_on_a_const_input_is_a_write():
    kernel = compiled(
        """extern "C" __global__ void adds(const int* x)
{
    atomicAdd((int*)x, 1);
}"""
    )
    x = np.zeros(1, np.int32)
    inputs = Pointer(Buffer("x", x.view(np.uint8), x.dtype, read_only=True))
    assert fault(kernel, 1, 32, inputs).kind is FaultKind.WRITE_TO_CONST


def test_with_faults_off_only_what_would_trap_is_found():
    x = floats(32)
    inputs = Pointer(Buffer("x", x.view(np.uint8), x.dtype, read_only=True))
    run(compiled(WRITES), 1, 32, inputs, floats(32), faults=False)
    assert x[0] == 7
    assert fault(compiled(COPY), 1, 32, None, x, faults=False).kind is FaultKind.OUT_OF_BOUNDS
