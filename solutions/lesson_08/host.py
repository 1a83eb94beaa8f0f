"""Launches the copy of lesson 08, and asks the compiler for its log. Complete as it is."""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from harness import cuda

VERBOSE = "--ptxas-options=-v"  # the assembler writes down what each kernel takes
ARCHITECTURE = "sm_90"  # an H200; no GPU is needed to compile for one


@cache
def copy_kernel(ilp: int) -> cuda.Kernel:
    """The copy with `ilp` loads under way in each thread."""
    return cuda.module(__file__, "kernel.cu", (f"-DILP={ilp}",)).get_function("copy4")


def copy(x: Tensor, ilp: int, blocks: int, threads: int = 256, shared_bytes: int = 0) -> Tensor:
    """A copy of float32 x [n], made by `blocks` blocks that each ask for `shared_bytes`."""
    y = torch.empty_like(x)
    arguments = (x, y, np.int32(x.numel()))
    copy_kernel(ilp)((blocks,), (threads,), arguments, shared_mem=shared_bytes)
    return y


def compiler_log(options: tuple[str, ...] = (), file: str = "many_sums.cu") -> str:
    """What the assembler says of every kernel of a file, with options such as "-DSUMS=80"."""
    return cuda.module(__file__, file, (*options, VERBOSE)).compiled(ARCHITECTURE).log
