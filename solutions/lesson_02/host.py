"""Launches the kernels of lesson 02. Read it if you like; lesson 03 explains how."""

import numpy as np
import torch
from torch import Tensor

from harness import cuda

module = cuda.module(__file__, "kernel.cu")
copy_kernel = module.get_function("copy")
read_window_kernel = module.get_function("read_window")
most_common_kernels = {
    "array": module.get_function("most_common_array"),
    "registers": module.get_function("most_common_registers"),
}

THREADS = 256


def copy(x: Tensor, rows: int = 1) -> Tensor:
    """float32 x [window], copied into every row of a new tensor [rows, window]."""
    (window,) = x.shape
    y = torch.empty(rows, window, dtype=x.dtype, device=x.device)
    copy_kernel((-(-window // THREADS), rows), (THREADS,), (x, y, np.int32(window)))
    return y


def read_window(x: Tensor, repeats: int, blocks: int = 264, threads: int = 1024) -> Tensor:
    """Read float32 x [window] `repeats` times; return the sum of each thread."""
    (window,) = x.shape
    # Starting elsewhere each time leaves no SM the slice that its own L1 has just seen.
    shift = int(0.381966 * window) // 32 * 32
    sums = torch.empty(blocks * threads, device=x.device)
    arguments = (x, sums, np.int32(window), np.int32(repeats), np.int32(shift))
    read_window_kernel((blocks,), (threads,), arguments)
    return sums


def most_common(x: Tensor, place: str) -> Tensor:
    """The commonest of the sixteen 2-bit digits of each x [n], counted in `place`: int32 [n]."""
    (n,) = x.shape
    digit = torch.empty(n, dtype=torch.int32, device=x.device)
    most_common_kernels[place]((-(-n // THREADS),), (THREADS,), (x, digit, np.int32(n)))
    return digit
