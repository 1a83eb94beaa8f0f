"""A program whose Triton kernel dies on a GPU; test_driver_on_gpu.py reads what it says."""

import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401


@triton.jit
def wild_store(x, far):
    tl.store(x + far, 1.0)


if __name__ == "__main__":
    wild_store[(1,)](torch.zeros(4, device="cuda"), 1 << 40)
