"""A right answer of a third hand: fixed grids, since every kernel walks."""

from functools import partial

import numpy as np
import torch

from harness.cuda import module

get = module(__file__, "kernel.cu").get_function
integers = partial(map, np.int32)


def strided_copy(x, n, stride):
    y = torch.empty((n,), dtype=x.dtype, device=x.device)
    get("strided_copy")((3, 1), (192, 1), (x, y, *integers((n, stride))))
    return y


def _strips(a, sums, strip):
    grid = (2, sums.shape[0])
    get("col_sum_strips")(grid, (96,), (a, sums, *integers((*a.shape, strip))))
    return sums


def col_sum(a):
    if a.shape[1] == 0:
        return a.new_empty(0)
    some = _strips(a, torch.empty((a.shape[0] // 64 + 1, a.shape[1]), device=a.device), 64)
    return _strips(some, torch.empty((1, a.shape[1]), device=a.device), len(some))[0]


def aos_to_soa(xyz):
    x, y, z = (torch.empty(len(xyz), device=xyz.device) for _ in range(3))
    get("aos_to_soa")((2,), (64,), (xyz, x, y, z, np.int32(len(xyz))))
    return x, y, z


def copy_vec4(x, y):
    get("copy_vec4")((2,), (512,), (x, y, np.int32(x.shape[0])))


def transpose(a, side):
    b = torch.empty((a.shape[1], a.shape[0]), device=a.device)
    grid = tuple(-(-size // 32) for size in reversed(a.shape))
    get(f"transpose_{side}_rows")(grid, (32, 8), (a, b, *integers(a.shape)))
    return b


def gather(x, indices):
    y = torch.empty(indices.shape, device=x.device)
    get("gather")((1,), (96,), (x, indices, y, np.int32(indices.shape[0])))
    return y
