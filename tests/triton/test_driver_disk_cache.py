"""What Triton keeps on disk, and for whom."""

import importlib.util

import pytest
import torch

import harness.triton_driver  # noqa: F401  (registers the driver)
from simulator import KernelFault

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def copy_too_far(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets))
"""


def kernel_in(path):
    path.write_text(SOURCE, encoding="utf-8")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.copy_too_far


def test_the_same_text_in_another_file_is_told_of_in_that_file(tmp_path):
    x, y = torch.ones(40), torch.zeros(64)
    for name in ("first_answer.py", "second_answer.py"):
        kernel = kernel_in(tmp_path / name)
        with pytest.raises(KernelFault) as raised:
            kernel[(2,)](x, y, BLOCK=32)
        assert f"{name}:9" in raised.value.learner_report, raised.value.learner_report
