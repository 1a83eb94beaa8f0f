"""A right answer of another hand: one launcher for all products."""

from functools import cache, partial

import numpy as np
import torch

from curriculum.lesson_09.fragments import element, owner
from harness import cuda


@cache
def kernel(file, name, **macros):
    options = tuple(f"-D{macro}={value}" for macro, value in macros.items())
    return cuda.module(__file__, file, options).get_function(name)


def _product(file, name, tile, threads, shared, a, b, **macros):
    M, N, K = a.shape[0], b.shape[1], a.shape[1]
    c = torch.empty((M, N), dtype=torch.float, device=a.device)
    if 0 in c.shape:
        return c
    grid = (-(-N // tile[1]), -(-M // tile[0]))
    arguments = (a, b, c, np.int32(M), np.int32(N), np.int32(K))
    kernel(file, name, **macros)(grid, (threads,), arguments, shared_mem=shared)
    return c


wmma_gemm = partial(_product, "kernel.cu", "wmma_gemm", (16, 16), 32, 0)
wmma_gemm_pad = partial(_product, "kernel.cu", "wmma_gemm_pad", (32, 32), 256, 0)


def gemm_two_stages(a, b, down=1, across=1):
    tile = 32 * down, 64 * across
    return _product("kernel.cu", "gemm_two_stages", tile, 256, 0, a, b, DOWN=down, ACROSS=across)


def gemm_fast(a, b, down=1, across=2):
    tile = 32 * down, 32 * across
    shared = 6 * 64 * sum(tile)
    return _product("fast.cu", "gemm_fast", tile, 256, shared, a, b, DOWN=down, ACROSS=across)


def mma_tile(a, b):
    c = torch.empty((a.shape[0], 16, 8), dtype=torch.float, device=a.device)
    kernel("kernel.cu", "mma_tile")((a.shape[0],), (32,), (a, b, c))
    return c


def multiply_registers(a, b):
    left, right = np.empty((32, 4, 2), np.float16), np.empty((32, 2, 2), np.float16)
    for (y, x), value in np.ndenumerate(a.cpu().numpy()):
        left[tuple(owner("a", y, x))] = value
    for (y, x), value in np.ndenumerate(b.cpu().numpy()):
        right[tuple(owner("b", y, x))] = value
    words = [torch.from_numpy(values.view(np.int32)).to(a.device) for values in (left, right)]
    sums = torch.empty((32, 4), dtype=torch.float, device=a.device)
    kernel("registers.cu", "multiply_registers")((1,), (32,), (*words, sums))
    found = sums.cpu()
    c = torch.zeros((16, 8))
    for lane in range(32):
        for register in range(4):
            c[element("c", lane, register, 0)] = found[lane, register]
    return c.to(a.device)


def hopper_ptx(columns=128, down=2, stages=4, *more):
    asked = [f"COLUMNS={columns}", f"DOWN={down}", f"STAGES={stages}", *more]
    return cuda.module(__file__, "hopper.cu", ["-D" + one for one in asked]).ptx("compute_90a")
