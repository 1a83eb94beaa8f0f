"""Lesson 08 on a GPU: do more loads make up for fewer warps?"""

import pytest
import torch

from curriculum.lesson_08 import host, tradeoff
from harness.judging.timing import gigabytes_per_second
from references.hardware import KIB

FEW = {"threads": 128, "shared_bytes": 113 * KIB}  # two blocks an SM: 8 warps
N = 1 << 26


def rate(x, ilp, blocks_an_sm, **launch):
    blocks = blocks_an_sm * torch.cuda.get_device_properties(0).multi_processor_count
    return gigabytes_per_second(lambda: host.copy(x, ilp, blocks, **launch), 8 * x.numel())


@pytest.fixture
def x(unpoisoned):
    if torch.cuda.get_device_properties(0).shared_memory_per_block_optin < 113 * KIB:
        pytest.skip("a block may not have 113 KiB of shared memory on this GPU")
    return torch.rand(N, device="cuda")


@pytest.mark.speed
@pytest.mark.task(3)
def test_four_loads_make_up_for_missing_warps(x):
    one, four = rate(x, 1, 2, **FEW), rate(x, 4, 2, **FEW)
    assert four >= 1.2 * one, f"8 warps an SM: {one:.0f} GB/s with one load, {four:.0f} with four"


@pytest.mark.speed
@pytest.mark.task(3)
def test_an_eighth_of_the_warps_copies_nearly_as_fast_as_all(x):
    # By 0.94 on an H200; with one load in each thread, it would be half.
    eighth, every = rate(x, 8, 2, **FEW), rate(x, 1, 8, threads=256)
    said = f"8 warps of 8 loads {eighth:.0f} GB/s, 64 warps of one {every:.0f}"
    assert eighth >= 0.63 * every, said


@pytest.mark.speed
@pytest.mark.task(3)
def test_the_copy_is_as_fast_as_torch(x):
    y = torch.empty_like(x)
    ours = rate(x, 4, 4, threads=256)
    theirs = gigabytes_per_second(lambda: y.copy_(x), 8 * N)
    assert ours >= 0.6 * theirs, f"{ours:.0f} GB/s, torch.copy_ {theirs:.0f} GB/s"


@pytest.mark.speed
@pytest.mark.task(5)
def test_the_model_holds_on_this_gpu(x):
    y = torch.empty_like(x)
    most = gigabytes_per_second(lambda: y.copy_(x), 8 * N)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    for ilp in (1, 2, 4, 8):
        took = rate(x, ilp, 2, **FEW)
        predicted = tradeoff.copy_bandwidth(8, ilp, 16, sms, 400.0, most)
        said = f"8 warps an SM, ILP {ilp}: {took:.0f} GB/s; the model says {predicted:.0f}"
        assert max(took / predicted, predicted / took) <= 1.75, said
