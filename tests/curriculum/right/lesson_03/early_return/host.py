"""A right answer of another hand: one launcher for all kernels, and 1024 threads a block."""

import math

import numpy
import torch

from harness import cuda

KERNELS = cuda.module(__file__, "kernel.cu")
MOST = 1024


def start(name, n, *arguments, each=1):
    grid = (math.ceil(n / (each * MOST)), 1, 1)
    KERNELS.get_function(name)(grid, (MOST, 1, 1), arguments)


def vec_add(a, b, name="vec_add", each=1):
    if not (a.dtype is b.dtype is torch.float32):
        raise TypeError("two float32 vectors, please")
    if a.ndim != 1 or b.ndim != 1 or len(a) != len(b):
        raise ValueError("two vectors of one length, please")
    if a.device != b.device:
        raise ValueError("two vectors on one device, please")
    if a.stride() != (1,) and len(a) > 1 or b.stride() != (1,) and len(b) > 1:
        raise ValueError("two vectors without gaps, please")
    total = torch.empty(len(a), dtype=a.dtype, device=a.device)
    if len(a):
        start(name, len(a), a, b, total, numpy.int32(len(a)), each=each)
    return total


def vec_add_four(a, b):
    return vec_add(a, b, "vec_add_four", each=4)


def axpy(a, x, y):
    start("axpy", len(y), x, y, numpy.float32(a), numpy.int32(len(y)))
    return y


def vec_add_gs(a, b, c, blocks, threads=MOST):
    KERNELS.get_function("vec_add_gs")((blocks,), (threads,), (a, b, c, numpy.int64(len(a))))


def add_u8(a, b, c, blocks, threads=256):
    KERNELS.get_function("add_u8")((blocks,), (threads,), (a, b, c, numpy.int64(len(a))))


def add_2d(a, out, s, cols, grid):
    sizes = [numpy.int32(size) for size in (a.shape[0], cols, a.shape[1])]
    KERNELS.get_function("add_2d")(grid, (16, 16), (a, out, numpy.float32(s), *sizes))


def saturating_add(a, b):
    total = torch.empty(len(a), dtype=a.dtype, device=a.device)
    start("saturating_add_i32", len(a), a, b, total, numpy.int32(len(a)))
    return total
