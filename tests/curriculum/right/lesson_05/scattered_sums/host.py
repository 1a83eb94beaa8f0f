"""A right answer of another hand: blocks of one dimension everywhere."""

import math

import numpy
import torch

from harness import cuda


def kernel(name, *macros):
    wanted = dict(macro.split("=") for macro in macros if "=" in macro)
    each = [f"-DEACH={wanted['TM']}"] if "TM" in wanted else []
    others = [f"-D{key}={value}" for key, value in wanted.items() if key in ("SPAN", "EDGE")]
    return cuda.module(__file__, "kernel.cu", each + others).get_function(name)


def start(function, grid, threads, *arguments, shared=0):
    sized = [numpy.int32(x) if isinstance(x, int) else x for x in arguments]
    function(tuple(grid), (threads,), sized, shared)


def multiplied(function, a, b, side, threads):
    c = a.new_empty(len(a), b.shape[1])
    grid = (math.ceil(c.shape[1] / side), math.ceil(c.shape[0] / side))
    if side == 1:
        grid = (math.ceil(c.numel() / threads),)
    start(function, grid, threads, a, b, c, *c.shape, a.shape[1])
    return c


def matmul_naive(a, b):
    return multiplied(kernel("matmul_naive"), a, b, 1, 128)


def matmul_tiled(a, b, tile=32):
    return multiplied(kernel("matmul_tiled", f"SPAN={tile}"), a, b, tile, tile * tile)


def matmul_regtile(a, b, each=4):
    return multiplied(kernel("matmul_regtile", f"TM={each}"), a, b, 16 * each, 256)


def matmul_buffered(a, b, each=4):
    return multiplied(kernel("matmul_buffered", f"TM={each}"), a, b, 16 * each, 256)


def transpose_tiled(a, side=32):
    b = torch.empty(a.shape[::-1], device=a.device)
    grid = [math.ceil(size / side) for size in (a.shape[1], a.shape[0])]
    start(kernel("transpose_tiled", f"EDGE={side}"), grid, 256, a, b, *a.shape)
    return b


def stencil3(x, threads=128):
    y = x.new_empty(x.shape)
    blocks = math.ceil(len(x) / threads)
    start(kernel("stencil3"), (blocks,), threads, x, y, len(x), shared=4 * threads + 8)
    return y
