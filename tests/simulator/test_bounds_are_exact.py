"""An access outside its buffer is found, and the report names element, thread, block and line."""

import numpy as np
import pytest

from simulator import Buffer, FaultKind, Pointer
from tests.simulator.compiled import compiled, fault, run

SHIFTED = """extern "C" __global__ void shifted(const float* x, float* y, long long by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float got =
        x[i + by];
    y[i] = got;
}"""
READ = "x[i + by];"


def floats(count):
    return np.arange(count, dtype=np.float32)


@pytest.mark.parametrize(
    ("by", "index", "thread", "block"),
    [
        (1, 128, 31, 3),  # only the very last thread
        (24, 128, 8, 3),
        (-1, -1, 0, 0),
        (-33, -33, 0, 0),
        (128, 128, 0, 0),
        (10**9, 10**9, 0, 0),
        (-(10**9), -(10**9), 0, 0),
        (-(2**31), -(2**31), 0, 0),
    ],
)
def test_a_read_outside_names_element_thread_block_and_line(by, index, thread, block):
    kernel = compiled(SHIFTED)
    found = fault(kernel, 4, 32, floats(128), floats(128), np.int64(by))
    assert found.kind is FaultKind.OUT_OF_BOUNDS
    assert f"reads x[{index}]; x has 128 elements" in found.what
    assert f"thread {thread} of block {block} " in found.what
    assert (found.thread, found.block) == ((thread, 0, 0), (block, 0, 0))
    assert found.line == kernel.line(READ)


def test_a_launch_that_stays_inside_is_left_in_peace():
    x, y = floats(128), np.zeros(128, np.float32)
    run(compiled(SHIFTED), 4, 32, x, y, np.int64(0))
    np.testing.assert_array_equal(y, x)


def test_a_write_past_the_end_leaves_the_buffer_as_it_was():
    kernel = compiled(SHIFTED)
    y = np.full(100, -1, np.float32)
    found = fault(kernel, 1, 128, floats(128), y, np.int64(0))
    assert "thread 100 of block 0 writes y[100]; y has 100 elements" in found.what
    assert "27 more threads" in found.what
    assert found.line == kernel.line("y[i] = got")
    assert (y == -1).all()


def test_a_guard_that_is_off_by_one_is_recognised():
    kernel = compiled(
        """extern "C" __global__ void fill(float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = 1.0f;
}"""
    )
    found = fault(kernel, 4, 32, np.zeros(100, np.float32), 100)
    assert "writes y[100]" in found.what
    assert "i <= n" in found.advice


def test_one_past_the_end_in_a_loop_is_not_told_of_a_guard_on_the_threads_number():
    kernel = compiled(
        """extern "C" __global__ void strips(const float* x, float* y, int strip)
{
    float sum = 0.0f;
    if (threadIdx.x < 8)
        for (int k = 0; k < strip; ++k) sum += x[threadIdx.x * strip + k];
    y[threadIdx.x] = sum;
}"""
    )
    found = fault(kernel, 1, 64, np.zeros(31, np.float32), np.zeros(64, np.float32), 4)
    assert "thread 7 of block 0 reads x[31]; x has 31 elements" in found.what
    assert found.advice.startswith("One past the end: which bound") and "i <= n" not in found.advice
    found = fault(kernel, 1, 64, np.zeros(7, np.float32), np.zeros(64, np.float32), 1)
    assert "i <= n" in found.advice  # thread 7 reads x[7], its own number


@pytest.mark.parametrize(("held", "advice"), [(-1, "read from memory"), (64, "which bound")])
def test_an_index_from_memory_is_not_told_of_what_was_not_done(held, advice):
    kernel = compiled(
        """extern "C" __global__ void gather(const float* x, const int* index, float* y)
{
    y[threadIdx.x] = x[index[threadIdx.x]];
}"""
    )
    index = np.zeros(65, np.int32)
    index[17] = held
    found = fault(kernel, 1, 65, np.zeros(64, np.float32), index, np.zeros(65, np.float32))
    assert f"thread 17 of block 0 reads x[{held}]" in found.what
    assert advice in found.advice and "i <= n" not in found.advice


def test_an_int_that_overflows_is_named_as_such():
    kernel = compiled(
        """extern "C" __global__ void far(float* y, int row, int columns)
{
    int t = threadIdx.x;
    y[row * columns + t] = 1.0f;
}"""
    )
    found = fault(kernel, 1, 32, np.zeros(64, np.float32), 46_341, 46_341)
    assert f"writes y[{46_341**2 - 2**32}]" in found.what  # 46341^2 is the first square over 2^31
    assert "overflow" in found.advice


@pytest.mark.parametrize("element", [np.uint8, np.float16, np.float64])
def test_the_index_counts_in_elements_of_the_buffer(element):
    name = {"uint8": "unsigned char", "float16": "short", "float64": "double"}[
        np.dtype(element).name
    ]
    kernel = compiled(
        f"""extern "C" __global__ void copy(const {name}* x, {name}* y)
{{
    y[threadIdx.x] = x[threadIdx.x];
}}"""
    )
    found = fault(kernel, 1, 32, np.zeros(20, element), np.zeros(32, element))
    assert "thread 20 of block 0 reads x[20]; x has 20 elements" in found.what


def test_a_vector_access_that_ends_outside_is_found():
    kernel = compiled(
        """extern "C" __global__ void copy(const float4* x, float4* y)
{
    y[threadIdx.x] = x[threadIdx.x];
}"""
    )
    found = fault(kernel, 1, 8, floats(30), np.zeros(32, np.float32))
    assert "thread 7 of block 0 reads x[28] and the 3 after it; x has 30 elements" in found.what


def test_indices_count_from_where_the_view_starts():
    kernel = compiled(SHIFTED)
    storage = Buffer("x", floats(128).view(np.uint8), np.dtype(np.float32), origin=64 * 4)
    found = fault(kernel, 4, 32, Pointer(storage, 64 * 4), floats(128), np.int64(-65))
    assert "thread 0 of block 0 reads x[-65]; x has 64 elements" in found.what


def test_a_constant_offset_before_the_buffer_reads_the_right_element():
    """p[2] with p = x - 1 + t is x[t + 1]; the register holds an address outside x."""
    kernel = compiled(
        """extern "C" __global__ void next(const float* x, float* y, int before)
{
    const float* p = x + threadIdx.x - before;
    y[3 * threadIdx.x] = p[before];
    y[3 * threadIdx.x + 1] = p[9];
    y[3 * threadIdx.x + 2] = p[10];
}"""
    )
    x, y = floats(64), np.zeros(96, np.float32)
    run(kernel, 1, 32, x, y, 8)
    np.testing.assert_array_equal(y.reshape(32, 3), x[:32, None] + [0, 1, 2])


def test_the_same_before_shared_memory():
    kernel = compiled(
        """extern "C" __global__ void next(float* y, int before)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    tile[threadIdx.x + 32] = threadIdx.x + 32;
    __syncthreads();
    const float* p = tile + (int(threadIdx.x) - before);
    y[2 * threadIdx.x] = p[9];
    y[2 * threadIdx.x + 1] = p[10];
}"""
    )
    y = np.zeros(64, np.float32)
    run(kernel, 1, 32, y, 8)
    np.testing.assert_array_equal(y.reshape(32, 2), floats(32)[:, None] + [1, 2])


@pytest.mark.parametrize(("index", "verdict"), [(32, "byte 128"), (-1, "byte -4")])
def test_shared_memory_has_bounds_of_its_own(index, verdict):
    kernel = compiled(
        """extern "C" __global__ void past(float* y, int index)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = 1.0f;
    __syncthreads();
    if (threadIdx.x == 5)
        tile[index] = 2.0f;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}"""
    )
    found = fault(kernel, 2, 32, np.zeros(32, np.float32), index)
    assert found.kind is FaultKind.OUT_OF_BOUNDS
    assert f"thread 5 of block 0 writes {verdict} of its block's shared memory" in found.what
    assert "which has 128 bytes" in found.what
    assert found.line == kernel.line("tile[index]")


def test_dynamic_shared_memory_ends_where_the_launch_says():
    kernel = compiled(
        """extern "C" __global__ void fill(float* y)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = tile[31 - threadIdx.x];
}"""
    )
    y = np.zeros(32, np.float32)
    run(kernel, 1, 32, y, shared_bytes=128)
    np.testing.assert_array_equal(y, floats(32)[::-1])
    found = fault(kernel, 1, 32, y, shared_bytes=124)
    assert "thread 31 of block 0 writes byte 124" in found.what
    assert fault(kernel, 1, 32, y).what.startswith("thread 0 of block 0 writes byte 0")
