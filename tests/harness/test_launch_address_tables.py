"""Tables of addresses in CUDA C++: a kernel follows them to tensors that are no arguments."""

import ctypes

import numpy as np
import pytest
import torch

from harness import cuda
from harness.launching import address_tables
from simulator import KernelFault

SOURCE = """
extern "C" __global__ void scale_each(const long long* table, const int* sizes, float by)
{
    float* x = (float*)table[blockIdx.x];
    for (int i = threadIdx.x; i < sizes[blockIdx.x]; i += blockDim.x) x[i] *= by;
}
"""
COPY = """
extern "C" __global__ void copy(const long long* x, long long* y)
{
    y[threadIdx.x] = x[threadIdx.x];
}
"""


@pytest.fixture
def scale_each(tmp_path):
    (tmp_path / "kernel.cu").write_text(SOURCE)
    kernel = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function("scale_each")

    def launch(tensors, sizes):
        table = torch.tensor([t.data_ptr() for t in tensors])
        counts = torch.tensor(sizes, dtype=torch.int32)
        kernel((len(tensors),), (32,), (table, counts, np.float32(2)))
        assert table.tolist() == [t.data_ptr() for t in tensors]

    return launch


def test_each_tensor_of_a_table_is_reached(scale_each):
    tensors = [torch.ones(size) for size in (1, 33, 70)]
    scale_each(tensors, [1, 33, 70])
    assert all((t == 2).all() for t in tensors)


def test_each_has_bounds_of_its_own(scale_each):
    tensors = [torch.ones(size) for size in (1, 33, 70)]
    with pytest.raises(KernelFault, match=r"reads table\[1\]\[33\]; table\[1\] has 33 elements"):
        scale_each(tensors, [1, 34, 70])


def test_a_tensor_may_be_an_argument_and_in_a_table(scale_each):
    sizes = torch.ones(4, dtype=torch.int32)
    floats = sizes.view(torch.float32)
    scale_each([floats], [4])
    assert torch.equal(floats, torch.ones(4, dtype=torch.int32).view(torch.float32) * 2)


def test_a_tensor_low_in_memory_is_found_where_the_heap_is_low(scale_each, monkeypatch):
    monkeypatch.setattr(address_tables, "_lowest", lambda: 1 << 22)
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    anonymous_and_low = 0x02 | 0x20 | 0x40  # MAP_PRIVATE, MAP_ANONYMOUS, MAP_32BIT
    address = library.mmap(None, 4096, 3, anonymous_and_low, -1, 0)
    assert address < 1 << 32
    tensor = torch.frombuffer((ctypes.c_float * 8).from_address(address), dtype=torch.float32)
    tensor.fill_(1)
    scale_each([tensor], [8])
    assert (tensor == 2).all()


def test_the_heap_is_above_what_counts_as_too_low():
    assert 1 << 16 < address_tables._lowest() <= torch.ones(1).data_ptr()


def test_numbers_of_which_few_could_be_addresses_stay_numbers(tmp_path):
    (tmp_path / "kernel.cu").write_text(COPY)
    copy = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function("copy")
    y = torch.empty(3, dtype=torch.int64)
    x = torch.tensor([y.data_ptr(), 2**46, 2**46 + 1])
    copy((1,), (3,), (x, y))
    assert torch.equal(x, y)


def test_numbers_that_are_no_addresses_stay_numbers(tmp_path):
    (tmp_path / "kernel.cu").write_text(COPY)
    copy = cuda.module(str(tmp_path / "host.py"), "kernel.cu").get_function("copy")
    x = torch.tensor([2**33, 2**40, 0])
    y = torch.empty_like(x)
    copy((1,), (3,), (x, y))
    assert torch.equal(x, y)
