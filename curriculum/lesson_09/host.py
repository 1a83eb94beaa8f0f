"""Launches the kernels of lesson 09: shapes, grids, the macros of each compilation. Supplied."""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from curriculum.lesson_09 import fragments
from harness import cuda
from harness.cuda import Kernel

STAGES = 3  # of gemm_fast
Sizes = tuple[np.int32, np.int32, np.int32]


@cache
def kernel(file: str, name: str, *macros: str) -> Kernel:
    """A kernel of a file beside this one, compiled with these macros: "DOWN=4"."""
    options = tuple(f"-D{macro}" for macro in macros)
    return cuda.module(__file__, file, options).get_function(name)


def ceil_div(n: int, d: int) -> int:
    """n / d, rounded up."""
    return (n + d - 1) // d


def product_of(a: Tensor, b: Tensor) -> tuple[Tensor, Sizes]:
    """Room for a b in float32, and the sizes (M, N, K), for float16 a [M, K] and b [K, N]."""
    (rows, depth), (_, columns) = a.shape, b.shape
    c = torch.empty(rows, columns, dtype=torch.float32, device=a.device)
    return c, (np.int32(rows), np.int32(columns), np.int32(depth))


def ask_for_multiples(a: Tensor, b: Tensor, rows: int, columns: int, depth: int) -> None:
    """Refuse what is not made of whole tiles, and of one at least along M and N."""
    M, N, K = a.shape[0], b.shape[1], a.shape[1]
    if M % rows or N % columns or K % depth or not M * N:
        of = f"multiples of {rows}, {columns}, {depth}"
        raise ValueError(f"M, N, K = {M}, {N}, {K}, and this kernel takes {of}")


def hopper_ptx(columns: int = 128, down: int = 2, stages: int = 4, *macros: str) -> str:
    """The PTX of hopper.cu for Hopper alone (sm_90a); nothing here can run it but such a GPU."""
    options = (f"-DCOLUMNS={columns}", f"-DDOWN={down}", f"-DSTAGES={stages}")
    options += tuple(f"-D{macro}" for macro in macros)
    return cuda.module(__file__, "hopper.cu", options).ptx("compute_90a")


def multiply_registers(a: Tensor, b: Tensor) -> Tensor:
    """float16 a [16, 16] times b [16, 8], laid into a warp's registers as fragments.py says."""
    halves_a, halves_b = np.zeros((32, 4, 2), np.float16), np.zeros((32, 2, 2), np.float16)
    for name, matrix, halves in (("a", a, halves_a), ("b", b, halves_b)):
        for row, column in np.ndindex(*matrix.shape):
            halves[fragments.owner(name, row, column)] = matrix[row, column].item()
    laid = (halves_a, halves_b)
    words = [torch.from_numpy(halves.view(np.int32)).to(a.device) for halves in laid]
    sums = torch.empty(32, 4, dtype=torch.float32, device=a.device)
    kernel("registers.cu", "multiply_registers")((1,), (32,), (*words, sums))
    c = torch.empty(16, 8, dtype=torch.float32, device=a.device)
    for lane, register in np.ndindex(32, 4):
        c[fragments.element("c", lane, register, 0)] = sums[lane, register]
    return c


def mma_tile(a: Tensor, b: Tensor) -> Tensor:
    """float16 a [tiles, 16, 16] times b [tiles, 16, 8], one by one; at least one tile."""
    c = torch.empty(len(a), 16, 8, dtype=torch.float32, device=a.device)
    kernel("kernel.cu", "mma_tile")((len(a),), (32,), (a, b, c))
    return c


def wmma_gemm(a: Tensor, b: Tensor) -> Tensor:
    """float16 a [M, K] times b [K, N], all multiples of 16."""
    ask_for_multiples(a, b, 16, 16, 16)
    c, sizes = product_of(a, b)
    grid = (ceil_div(c.shape[1], 64), ceil_div(c.shape[0], 64))
    kernel("kernel.cu", "wmma_gemm")(grid, (32, 4, 4), (a, b, c, *sizes))
    return c


def wmma_gemm_pad(a: Tensor, b: Tensor) -> Tensor:
    """float16 a [M, K] times b [K, N], of any size."""
    c, sizes = product_of(a, b)
    if c.numel():
        grid = (ceil_div(c.shape[1], 32), ceil_div(c.shape[0], 32))
        kernel("kernel.cu", "wmma_gemm_pad")(grid, (128,), (a, b, c, *sizes))
    return c


def gemm_two_stages(a: Tensor, b: Tensor, down: int = 1, across: int = 1) -> Tensor:
    """float16 a [M, K] times b [K, N] by blocks of 32 * down by 64 * across; K by 32."""
    rows, columns = 32 * down, 64 * across
    ask_for_multiples(a, b, rows, columns, 32)
    if not a.shape[1]:
        raise ValueError("K is 0, and this kernel begins by bringing a stage")
    c, sizes = product_of(a, b)
    grid = (c.shape[1] // columns, c.shape[0] // rows)
    macros = (f"DOWN={down}", f"ACROSS={across}")
    kernel("kernel.cu", "gemm_two_stages", *macros)(grid, (256,), (a, b, c, *sizes))
    return c


def gemm_fast(a: Tensor, b: Tensor, down: int = 1, across: int = 2) -> Tensor:
    """float16 a [M, K] times b [K, N] by blocks of 32 * down by 32 * across; K by 64.

    down, across  fragments of a (16 rows) and of b (8 columns) in each warp; across is even
    """
    rows, columns = 32 * down, 32 * across
    ask_for_multiples(a, b, rows, columns, 64)
    if not a.shape[1]:
        raise ValueError("K is 0, and this kernel begins by bringing a stage")
    c, sizes = product_of(a, b)
    grid = (c.shape[1] // columns, c.shape[0] // rows)
    macros = (f"DOWN={down}", f"ACROSS={across}", f"STAGES={STAGES}")
    shared_bytes = STAGES * 2 * 64 * (rows + columns)
    launch = kernel("fast.cu", "gemm_fast", *macros)
    launch(grid, (256,), (a, b, c, *sizes), shared_mem=shared_bytes)
    return c
