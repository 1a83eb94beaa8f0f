"""Lesson 07 on a GPU: as fast as torch?"""

import pytest
import torch

from curriculum.lesson_07 import host
from harness.judging.timing import ratio_to_peer


@pytest.mark.speed
@pytest.mark.task(3)
def test_one_atomic_a_block_costs_nothing_to_speak_of(unpoisoned):
    x = torch.rand(1 << 28, device="cuda")
    ratio, said = ratio_to_peer(lambda: host.sum_atomic(x), lambda: x.sum(), "torch")
    assert ratio >= 0.5, said


@pytest.mark.speed
@pytest.mark.task(4)
def test_two_passes_are_as_fast_as_torch(unpoisoned):
    x = torch.rand(1 << 28, device="cuda")
    ratio, said = ratio_to_peer(lambda: host.sum_two_pass(x), lambda: x.sum(), "torch")
    assert ratio >= 0.6, said


@pytest.mark.speed
@pytest.mark.task(5)
def test_softmax_of_rows_is_as_fast_as_torch(unpoisoned):
    x = torch.rand(4096, 4096, device="cuda")
    ratio, said = ratio_to_peer(lambda: host.softmax_row(x), lambda: x.softmax(dim=1), "torch")
    assert ratio >= 0.8, said


@pytest.mark.speed
@pytest.mark.stretch
@pytest.mark.task(8)
def test_one_launch_for_all_is_as_fast_as_torch(unpoisoned):
    x = torch.rand(1 << 28, device="cuda")
    ratio, said = ratio_to_peer(lambda: host.sum_grid(x, 132 * 4), lambda: x.sum(), "torch")
    assert ratio >= 0.5, said
