"""A right answer of another hand: every kernel gets one thread for each thing it writes."""

import math

import numpy
import torch

from harness import cuda

KERNELS = cuda.module(__file__, "kernel.cu")
BLOCK = 128


def start(name, things, *arguments, strips=1):
    grid = (math.ceil(things / BLOCK), strips, 1)
    KERNELS.get_function(name)(
        grid, (BLOCK, 1, 1), [numpy.int32(x) if isinstance(x, int) else x for x in arguments]
    )


def strided_copy(x, n, stride):
    out = x.new_empty(n)
    start("strided_copy", n, x, out, n, stride)
    return out


def col_sum(a):
    height, width = a.shape
    out = a.new_empty(width)
    if width:
        tall = max(32, math.ceil(height / 512))
        strips = max(math.ceil(height / tall), 1)
        between = a.new_empty((strips, width))
        start("col_sum_strips", width, a, between, height, width, tall, strips=strips)
        start("col_sum_strips", width, between, out, strips, width, strips)
    return out


def aos_to_soa(xyz):
    parts = tuple(xyz.new_empty(len(xyz)) for _ in "xyz")
    start("aos_to_soa", len(xyz), xyz, *parts, len(xyz))
    return parts


def copy_vec4(x, y):
    start("copy_vec4", math.ceil(len(x) / 4), x, y, len(x))


def transpose(a, side):
    out = torch.empty(a.shape[::-1], device=a.device)
    start(f"transpose_{side}_rows", a.numel(), a, out, *a.shape)
    return out


def gather(x, indices):
    out = x.new_empty(len(indices))
    start("gather", len(indices), x, indices, out, len(indices))
    return out
