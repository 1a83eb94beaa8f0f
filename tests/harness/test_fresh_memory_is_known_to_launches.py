"""What torch.empty gave and nobody has written since is told when a kernel's result hangs on it."""

import pytest
import torch

from harness import cuda
from harness.judging.poison import Poison
from simulator import FaultKind, KernelFault
from simulator.undefined import Matter, Origin

SOURCE = """\
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
extern "C" __global__ void add_to(float* sums) { sums[threadIdx.x] += 1.0f; }
extern "C" __global__ void count(int* sums) { atomicAdd(&sums[threadIdx.x], 1); }
extern "C" __global__ void add_halves(__half2* x) {
    x[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x];
}
extern "C" __global__ void next(short* x) { x[threadIdx.x] += 1; }
extern "C" __global__ void next_byte(char* x) { x[threadIdx.x] += 1; }
extern "C" __global__ void copied(const float* x, float* y) {
    __shared__ float tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void first_bytes(const unsigned char* x, int* y) {
    y[threadIdx.x] = x[4 * threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    path = tmp_path_factory.mktemp("fresh")
    (path / "kernel.cu").write_text(SOURCE)
    return cuda.module(str(path / "host.py"), "kernel.cu")


@pytest.fixture(autouse=True)
def poison():
    with Poison():
        yield


def launched(kernels, name, *tensors):
    kernels.get_function(name)((1,), (32,), tensors)


def fault(kernels, name, *tensors):
    with pytest.raises(KernelFault) as caught:
        launched(kernels, name, *tensors)
    assert caught.value.kind is FaultKind.UNDEFINED_VALUE
    return caught.value


def test_what_is_added_to_an_element_that_nobody_wrote_is_undefined(kernels):
    sums = torch.zeros(32)
    sums[:] = torch.empty(32).copy_(sums)
    fresh = torch.empty(32)
    fresh[:20] = 0
    found = fault(kernels, "add_to", fresh)
    assert "sums[20], which nobody has written" in found.what
    assert "torch.empty" in found.learner_report and "torch.zeros" in found.learner_report
    assert found.undefined.origin is Origin.MEMORY and found.undefined.matter is Matter.STORE


def test_an_atomic_is_told_before_it_updates(kernels):
    fresh = torch.empty(32, dtype=torch.int32)
    before = fresh.clone()
    found = fault(kernels, "count", fresh)
    assert "updates sums[0], which nobody has written" in found.what
    assert torch.equal(fresh, before)


@pytest.mark.parametrize(
    "written",
    [
        lambda x: x.zero_(),
        lambda x: x.fill_(3.0),
        lambda x: x.copy_(torch.ones(32)),
        lambda x: x.normal_(),
        lambda x: torch.add(torch.ones(32), torch.ones(32), out=x),
        lambda x: x.numpy().fill(1.0),
        lambda x: x.view(4, 8).T.contiguous().zero_() is x or x.mul_(0).nan_to_num_(),
    ],
)
def test_whoever_has_written_since_memory_is_written(kernels, written):
    fresh = torch.empty(32)
    written(fresh)
    launched(kernels, "add_to", fresh)


def test_a_view_is_told_by_its_own_indices(kernels):
    whole = torch.empty(64)
    whole[:40] = 0
    assert "sums[8]" in fault(kernels, "add_to", whole[32:]).what


def test_one_half_of_a_pair_is_enough(kernels):
    fresh = torch.empty(64, dtype=torch.float16)
    fresh[:7] = 1
    fresh[8:] = 1
    assert "thread 3 of block 0" in fault(kernels, "add_halves", fresh).what


def test_an_asynchronous_copy_brings_what_it_finds(kernels):
    fresh, y = torch.empty(32), torch.zeros(32)
    fresh[:31] = 1
    assert "x[31], which nobody" in fault(kernels, "copied", fresh, y).what
    launched(kernels, "copied", fresh.fill_(2.0), y)
    assert torch.equal(y, fresh)


@pytest.mark.parametrize(("name", "dtype"), [("next", torch.int16), ("next_byte", torch.int8)])
def test_a_short_integer_may_hold_the_pattern_by_right(kernels, name, dtype):
    fresh = torch.empty(32, dtype=dtype)
    fault(kernels, name, fresh)
    pattern = fresh[0].item()
    fresh[:] = 7
    fresh[3::8] = pattern
    launched(kernels, name, fresh)
    assert fresh[3].item() == pattern + 1


def test_a_byte_of_a_float_that_nobody_wrote_is_undefined(kernels):
    fresh, y = torch.empty(32), torch.zeros(32, dtype=torch.int32)
    fresh[:31] = 1.0
    found = fault(kernels, "first_bytes", fresh.view(torch.uint8), y)
    assert "y[31]" in found.what


def test_memory_that_was_used_again_is_not_fresh(kernels):
    fresh = torch.empty(32)
    pointer = fresh.data_ptr()
    del fresh
    for _ in range(50):
        again = torch.arange(32.0)
        launched(kernels, "add_to", again)
        if again.data_ptr() == pointer:
            break
