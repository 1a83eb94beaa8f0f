"""Distinct bytes that a launch touched in each buffer: what an ideal cache would move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator import Buffer, Pointer, Traffic
from tests.simulator.compiled import compiled, run

COPY = """extern "C" __global__ void copy(const TYPE* x, TYPE* y, int stride, int shift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i * stride + shift];
}"""
TYPES = {np.uint8: "unsigned char", np.uint16: "unsigned short", np.float32: "float"}


def copied(element, blocks=4, threads=32, stride=1, shift=0, size=1024):
    x, y = np.zeros(size, element), np.zeros(size, element)
    kernel = compiled(COPY.replace("TYPE", TYPES[element]))
    return run(kernel, blocks, threads, x, y, stride, shift).buffers


@pytest.mark.parametrize("element", TYPES)
def test_a_copy_reads_and_writes_each_byte_once(element):
    size = np.dtype(element).itemsize
    assert copied(element) == {"x": Traffic(128 * size, 0), "y": Traffic(0, 128 * size)}


@pytest.mark.parametrize("element", TYPES)
def test_a_stride_leaves_gaps(element):
    size = np.dtype(element).itemsize
    assert copied(element, stride=3, shift=5)["x"].bytes_read == 128 * size


def test_what_every_block_reads_counts_once():
    assert copied(np.float32, blocks=8, stride=0, shift=7)["x"].bytes_read == 4
    kernel = compiled(
        """extern "C" __global__ void sums(const float* x, float* y, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += x[k] * x[(k + threadIdx.x) % n];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}"""
    )
    buffers = run(kernel, 4, 64, np.ones(100, np.float32), np.zeros(256, np.float32), 100).buffers
    assert buffers == {"x": Traffic(400, 0), "y": Traffic(0, 1024)}


def test_windows_that_overlap_count_once():
    kernel = compiled(
        """extern "C" __global__ void blur(const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + x[i + 1] + x[i + 2];
}"""
    )
    buffers = run(kernel, 3, 50, np.zeros(152, np.float32), np.zeros(150, np.float32)).buffers
    assert buffers == {"x": Traffic(152 * 4, 0), "y": Traffic(0, 150 * 4)}


def test_reading_and_writing_one_buffer_counts_both():
    kernel = compiled(
        """extern "C" __global__ void shift(float* x)
{
    x[threadIdx.x + 64] = x[threadIdx.x];
}"""
    )
    assert run(kernel, 1, 64, np.zeros(128, np.float32)).buffers == {"x": Traffic(256, 256)}


def test_a_single_byte_read_late_refines_what_was_marked_by_words():
    kernel = compiled(
        """extern "C" __global__ void mixed(const int* x, const char* bytes, int* y, int n)
{
    int sum = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = sum + bytes[n + 3 * threadIdx.x];
}"""
    )
    x, y = np.zeros(99, np.int32), np.zeros(16, np.int32)
    # Words 0 .. 15 are bytes 0 .. 63; of 61, 64, … 106 one lies among them.
    assert run(kernel, 1, 16, x, x, y, 61).buffers["x"] == Traffic(64 + 15, 0)


def test_a_ragged_end_is_counted_to_the_byte():
    kernel = compiled(COPY.replace("TYPE", "unsigned char"))
    x, y = np.zeros(37, np.uint8), np.zeros(37, np.uint8)
    assert run(kernel, 1, 37, x, y, 1, 0).buffers["x"] == Traffic(37, 0)


def test_waves_add_up():
    buffers = [copied(np.float32, blocks=32, stride=1), None]
    x, y = np.zeros(1024, np.float32), np.zeros(1024, np.float32)
    kernel = compiled(COPY.replace("TYPE", "float"))
    buffers[1] = run(kernel, 32, 32, x, y, 1, 0, resident_blocks=5).buffers
    assert buffers[0] == buffers[1] == {"x": Traffic(4096, 0), "y": Traffic(0, 4096)}


def test_buffers_of_one_name_add_up():
    x, y = np.zeros(32, np.float32), np.zeros(32, np.float32)
    both = [Pointer(Buffer("same", v.view(np.uint8), v.dtype)) for v in (x, y)]
    buffers = run(compiled(COPY.replace("TYPE", "float")), 1, 32, *both, 1, 0).buffers
    assert buffers == {"same": Traffic(128, 128)}


@settings(derandomize=True, deadline=None, database=None, max_examples=100)
@given(st.lists(st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(0, 2**31)), max_size=6))
def test_any_mixture_of_widths_equals_a_set_of_bytes(rounds):
    source = """extern "C" __global__ void touch(const unsigned char* x, const short* index,
    const int* widths, int rounds, unsigned long long* y)
{
    int t = threadIdx.x;
    unsigned long long sum = 0;
    for (int k = 0; k < rounds; ++k) {
        int i = index[k * 40 + t];
        if (widths[k] == 1) sum += x[i];
        if (widths[k] == 2) sum += ((const unsigned short*)x)[i];
        if (widths[k] == 4) sum += ((const unsigned*)x)[i];
        if (widths[k] == 8) sum += ((const unsigned long long*)x)[i];
    }
    y[t] = sum;
}"""
    x, y = np.zeros(333 * 8 + 5, np.uint8), np.zeros(40, np.uint64)
    index = np.zeros((6, 40), np.int16)
    touched = set()
    for k, (width, seed) in enumerate(rounds):
        random = np.random.default_rng(seed)
        where = random.permutation(len(x) // width)[:40] if seed % 2 else seed % 200 + np.arange(40)
        index[k] = where
        touched |= {w * width + b for w in where.tolist() for b in range(width)}
    widths = np.array([width for width, _ in rounds] + [1], np.int32)
    buffers = run(compiled(source), 1, 40, x, index, widths, len(rounds), y).buffers
    assert buffers["x"].bytes_read == len(touched)
