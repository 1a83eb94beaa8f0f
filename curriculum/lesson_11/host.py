"""Launches the kernel of lesson 11. Complete as it is."""

import numpy as np
from torch import Tensor, empty_like

from harness import cuda

kernel = cuda.module(__file__, "kernel.cu").get_function("add_rms_norm")


def threads_for(hidden: int) -> int:
    """Four float4 for each thread, in whole warps, at most 1024 threads."""
    return min(1024, max(32, -(-hidden // 16 // 32) * 32))


def add_rms_norm(
    residual: Tensor, x: Tensor, weight: Tensor, epsilon: float = 1e-5, threads: int | None = None
) -> Tensor:
    """Add x to residual in place; the norm of the sum, as a new tensor. Both are [rows, hidden]."""
    rows, hidden = x.shape
    y = empty_like(x)
    arguments = (y, residual, x, weight, np.int32(hidden), np.float32(epsilon))
    kernel((rows,), (threads or threads_for(hidden),), arguments, shared_mem=4 * hidden)
    return y
