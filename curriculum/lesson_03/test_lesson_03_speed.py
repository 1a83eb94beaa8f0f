"""Lesson 03 on a GPU: as fast as torch, and as the model says?"""

import pytest
import torch

from curriculum.lesson_03 import host, tradeoff
from harness.judging.timing import median_milliseconds
from harness.launching.launch_settings import changed


@pytest.mark.speed
@pytest.mark.task(1)
def test_the_sum_is_as_fast_as_torch(unpoisoned):
    a, b, c = torch.rand(3, 1 << 27, device="cuda")
    with changed(synchronize=False):
        ours = median_milliseconds(lambda: host.vec_add(a, b))
    theirs = median_milliseconds(lambda: torch.add(a, b, out=c))
    assert theirs / ours >= 0.5, f"{ours:.3f} ms, torch.add {theirs:.3f} ms"


@pytest.mark.speed
@pytest.mark.task(4)
def test_the_grid_stride_loop_is_as_fast_as_torch(unpoisoned):
    a, b, c = torch.rand(3, 1 << 27, device="cuda")
    with changed(synchronize=False):
        ours = median_milliseconds(lambda: host.vec_add_gs(a, b, c, blocks=132 * 8))
    theirs = median_milliseconds(lambda: torch.add(a, b, out=c))
    assert theirs / ours >= 0.5, f"{ours:.3f} ms, torch.add {theirs:.3f} ms"


@pytest.mark.speed
@pytest.mark.task(9)
def test_four_elements_a_thread_are_as_fast_as_torch(unpoisoned):
    a, b, c = torch.rand(3, 1 << 26, device="cuda")
    with changed(synchronize=False):
        ours = median_milliseconds(lambda: host.vec_add_four(a, b))
    theirs = median_milliseconds(lambda: torch.add(a, b, out=c))
    assert theirs / ours >= 0.65, f"{ours:.3f} ms, torch.add {theirs:.3f} ms"


@pytest.mark.speed
@pytest.mark.task(5)
def test_a_thousand_small_launches_cost_far_more_than_one(unpoisoned):
    a, b = torch.rand(2, 32_000, device="cuda")
    with changed(synchronize=False):
        whole = median_milliseconds(lambda: host.vec_add(a, b))
        piece = median_milliseconds(lambda: host.vec_add(a[:32], b[:32]))
    assert 1000 * piece / whole >= 50, "a launch has a price that does not depend on n"


@pytest.mark.speed
@pytest.mark.task(5)
def test_the_model_holds_on_this_gpu(unpoisoned):
    a, b, c = torch.rand(3, 1 << 26, device="cuda")
    copied = 8 * a.numel() / 1e6  # megabytes, read and written
    bandwidth = copied / median_milliseconds(lambda: c.copy_(a))
    with changed(synchronize=False):
        launch = 1000 * median_milliseconds(lambda: host.vec_add(a[:1], b[:1]))
        for n in (1 << 14, 1 << 24, 1 << 26):
            took = 1000 * median_milliseconds(lambda n=n: host.vec_add(a[:n], b[:n]))
            predicted = tradeoff.chunks_cost(n, 1, launch, 12, bandwidth)
            assert max(took / predicted, predicted / took) <= 1.5, f"{n}: {took:.1f} us"
