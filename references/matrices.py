"""What the kernels of lesson 05 must compute, and published figures of matrix products."""

import math

import torch
from torch import Tensor

# Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance: a Worklog",
# https://siboehm.com/articles/22/CUDA-MMM: an RTX A6000, float32, 4096 cubed.
WORKLOG_GFLOPS = {"lanes along columns": 309.0, "lanes along rows": 1986.5}


def product(a: Tensor, b: Tensor) -> Tensor:
    """a [M, K] times b [K, N]."""
    return a @ b


def smoothed(x: Tensor) -> Tensor:
    """x[i - 1] / 4 + x[i] / 2 + x[i + 1] / 4, with zeros around x."""
    zero = torch.zeros(1, dtype=x.dtype, device=x.device)
    around = torch.cat([zero, x, zero])
    return around[:-2] / 4 + x / 2 + around[2:] / 4


def uneven(rows: int, columns: int, rng: torch.Generator, device: torch.device | str) -> Tensor:
    """float32 [rows, columns], of either sign, from a tenth to ten."""
    sizes = 10 ** (2 * torch.rand(rows, columns, generator=rng) - 1)
    signs = torch.randint(0, 2, (rows, columns), generator=rng) * 2 - 1
    return (signs * sizes).to(device)


def pair(
    M: int, N: int, K: int, rng: torch.Generator, device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """a [M, K] and b [K, N] to multiply."""
    return uneven(M, K, rng, device), uneven(K, N, rng, device)


def special_pair(rng: torch.Generator, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """a [20, 18] and b [18, 35] with zeros, NaN and infinities.

    Some are at the last k, others where a tile of 16 keeps them if it is not cleared past k = 18.
    """
    a, b = pair(20, 35, 18, rng, device)
    a[3, 17], a[5, 0], b[17, 20], b[0, 7] = math.inf, math.nan, math.inf, 0.0
    a[7, 17], b[17, 34], b[16, 2] = 0.0, -math.inf, math.nan
    a[9, 6], b[5, 9] = -math.inf, math.inf
    return a, b
