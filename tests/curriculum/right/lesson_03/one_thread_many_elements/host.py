"""A right answer of a third hand: a table of rules, and 128 threads a block."""

from functools import partial

import numpy as np
import torch

from harness.cuda import module

BLOCK = 128
get = module(__file__, "kernel.cu").get_function

RULES = [
    (TypeError, "float32 only", lambda a, b: a.dtype == b.dtype == torch.float32),
    (ValueError, "one dimension only", lambda a, b: a.dim() == b.dim() == 1),
    (ValueError, "lengths differ", lambda a, b: a.shape == b.shape),
    (ValueError, "devices differ", lambda a, b: a.device == b.device),
    (ValueError, "gaps", lambda a, b: a.is_contiguous() and b.is_contiguous()),
]


def covering(n):
    return (divmod(n + BLOCK - 1, BLOCK)[0],), (BLOCK,)


def _sum(name, each, a, b):
    for error, complaint, holds in RULES:
        if not holds(a, b):
            raise error(complaint)
    result = a.new_empty(a.shape)
    count = np.int32(result.numel())
    if count == 0:
        return result
    get(name)(*covering(-(-int(count) // each)), (a, b, result, count))
    return result


vec_add = partial(_sum, "vec_add", 1)
vec_add_four = partial(_sum, "vec_add_four", 4)


def axpy(a, x, y):
    count = x.shape[0]
    get("axpy")(*covering(count), (x, y, np.float32(a), np.int32(count)))
    return y


def _any_grid(name, default, a, b, c, blocks, threads=None):
    count = np.array(a.shape[0], dtype=np.int64)[()]
    get(name)((blocks, 1), (threads or default, 1), (a, b, c, count))


vec_add_gs = partial(_any_grid, "vec_add_gs", BLOCK)
add_u8 = partial(_any_grid, "add_u8", 2 * BLOCK)


def add_2d(a, out, s, cols, grid):
    rows, pitch = map(np.int32, a.shape)
    get("add_2d")(tuple(grid), (64, 4), (a, out, np.float32(s), rows, np.int32(cols), pitch))


def saturating_add(a, b):
    result = a.new_empty(a.shape)
    get("saturating_add_i32")(*covering(len(a)), (a, b, result, np.int32(len(a))))
    return result
