"""Lesson 04 on a GPU: how near to a copy, and as the model says?"""

import pytest
import torch

from curriculum.lesson_04 import host, tradeoff
from harness.judging.timing import median_milliseconds, ratio_to_peer
from harness.launching.launch_settings import changed


@pytest.mark.speed
@pytest.mark.task(1)
def test_a_copy_without_gaps_is_as_fast_as_torch(unpoisoned):
    x = torch.rand(1 << 27, device="cuda")
    y = torch.empty_like(x)
    ratio, said = ratio_to_peer(
        lambda: host.strided_copy(x, 1 << 27, 1), lambda: y.copy_(x), "copy_"
    )
    assert ratio >= 0.6, said


@pytest.mark.speed
@pytest.mark.task(2)
def test_column_sums_are_as_fast_as_torch(unpoisoned):
    a = torch.rand(8192, 8192, device="cuda")
    ratio, said = ratio_to_peer(lambda: host.col_sum(a), lambda: a.sum(0), "sum(0)")
    assert ratio >= 0.6, said


@pytest.mark.speed
@pytest.mark.task(4)
def test_a_copy_of_float4s_is_as_fast_as_torch(unpoisoned):
    x = torch.rand(1 << 27, device="cuda")
    y = torch.empty_like(x)
    ratio, said = ratio_to_peer(lambda: host.copy_vec4(x, y), lambda: y.copy_(x), "copy_")
    assert ratio >= 0.64, said


@pytest.mark.speed
@pytest.mark.task(5)
@pytest.mark.parametrize("side, bar", [("read", 0.08), ("write", 0.25)])
def test_a_transpose_with_one_side_in_order_reaches_its_share_of_a_copy(side, bar, unpoisoned):
    a = torch.rand(8192, 8192, device="cuda")
    b = torch.empty_like(a)
    ratio, said = ratio_to_peer(lambda: host.transpose(a, side), lambda: b.copy_(a), "copy_")
    assert ratio >= bar, said


@pytest.mark.speed
@pytest.mark.task(6)
def test_the_model_holds_on_this_gpu(unpoisoned):
    n = 1 << 24
    x, y = torch.rand(32 * n, device="cuda"), torch.empty(4 * n, device="cuda")
    bandwidth = 32 * n / 1e6 / median_milliseconds(lambda: y.copy_(x[: 4 * n]), 10)
    with changed(synchronize=False):
        for stride in (4, 8, 16, 32):
            took = median_milliseconds(lambda stride=stride: host.strided_copy(x, n, stride), 10)
            predicted = tradeoff.strided_copy_milliseconds(n, stride, bandwidth)
            said = f"stride {stride}: {took:.4f} ms, {predicted:.4f} predicted"
            assert max(took / predicted, predicted / took) <= 1.5, said
