"""Blocks that meet across the grid are launched cooperatively, and must all be resident."""

import numpy as np
import pytest
import torch

from harness import cuda
from harness.launching import launch_settings
from harness.telling.learner_error import LaunchError
from simulator import FaultKind, KernelFault

SOURCE = """\
#include <cooperative_groups.h>
extern "C" __global__ void reversed(int* x, int* y, int n) {
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    if (i < n) x[i] = i;
    grid.sync();
    if (i < n) y[i] = x[n - 1 - i];
}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("cooperative") / "kernel.cu"
    path.write_text(SOURCE)
    return path


def launch(path, blocks, threads, **options):
    kernel = cuda.module(str(path), "kernel.cu", **options).get_function("reversed")
    n = blocks * threads
    x, y = torch.zeros(n, dtype=torch.int32), torch.zeros(n, dtype=torch.int32)
    kernel((blocks,), (threads,), (x, y, np.int32(n)))
    return y


def test_all_blocks_meet_in_a_cooperative_launch(path):
    y = launch(path, 40, 64, enable_cooperative_groups=True)
    assert y.tolist() == list(range(40 * 64 - 1, -1, -1))


def test_without_one_the_report_names_the_option(path):
    with pytest.raises(KernelFault) as caught:
        launch(path, 40, 64)
    assert caught.value.kind is FaultKind.TRAP
    assert "grid.sync();" in vars(caught.value)["learner_report"]
    assert "enable_cooperative_groups=True" in vars(caught.value)["learner_report"]


def test_more_blocks_than_are_resident_are_refused_before_any_runs(path):
    with (
        launch_settings.changed(resident_blocks=3),
        pytest.raises(LaunchError, match="a cooperative launch of 4 blocks: resident are 3"),
    ):
        launch(path, 4, 64, enable_cooperative_groups=True)
