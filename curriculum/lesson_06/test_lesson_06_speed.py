"""Lesson 06 on a GPU: does a clock see what the counters see?"""

import pytest
import torch

from curriculum.lesson_06 import host
from harness.judging.timing import median_milliseconds, ratio_to_peer
from harness.launching.launch_settings import changed
from references import warps


@pytest.mark.speed
@pytest.mark.task(1)
def test_an_aligned_branch_takes_little_more_than_half_the_time(unpoisoned):
    x = torch.arange(1 << 22, dtype=torch.int32, device="cuda")
    with changed(synchronize=False):
        parity = median_milliseconds(lambda: host.branch("branch_parity", x, 256))
        aligned = median_milliseconds(lambda: host.branch("branch_aligned", x, 256))
    assert parity / aligned >= 1.5, f"{aligned:.3f} ms aligned, {parity:.3f} ms by parity"


@pytest.mark.speed
@pytest.mark.task(2)
def test_numbers_sorted_by_steps_take_less_time(unpoisoned):
    few = torch.randperm(1 << 15, generator=torch.Generator().manual_seed(6)).int() + 1
    steps = warps.collatz(few, 10_000)
    shuffled = few.repeat(128).cuda()
    ordered = few[steps.argsort()].repeat_interleave(128).cuda()
    with changed(synchronize=False):
        apart = median_milliseconds(lambda: host.collatz_steps(shuffled))
        together = median_milliseconds(lambda: host.collatz_steps(ordered))
    assert apart / together >= 1.3, f"{together:.3f} ms sorted by steps, {apart:.3f} ms shuffled"


@pytest.mark.speed
@pytest.mark.task(4)
def test_a_rotation_by_registers_is_as_fast_as_torch_adds_in_place(unpoisoned):
    x = torch.rand(1 << 27, device="cuda")
    # The same bytes: each read, each written.
    ratio, said = ratio_to_peer(
        lambda: host.rotate_lanes(x, 5), lambda: x.add_(1.0), "torch's add_"
    )
    assert ratio >= 0.4, said
