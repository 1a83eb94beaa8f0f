"""Launches the kernels of lesson 05: shapes, grids, the macros of each compilation. Supplied."""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from harness import cuda
from harness.cuda import Kernel

STENCIL_THREADS = 256


@cache
def kernel(name: str, *macros: str) -> Kernel:
    """A kernel of kernel.cu, compiled with these macros: "TILE=32"."""
    options = tuple(f"-D{macro}" for macro in macros)
    return cuda.module(__file__, "kernel.cu", options).get_function(name)


def ceil_div(n: int, d: int) -> int:
    """n / d, rounded up."""
    return (n + d - 1) // d


def product_of(a: Tensor, b: Tensor) -> tuple[Tensor, tuple[np.int32, np.int32, np.int32]]:
    """Room for a b, and the sizes (M, N, K), for float32 a [M, K] and b [K, N]."""
    (rows, depth), (_, columns) = a.shape, b.shape
    c = torch.empty(rows, columns, device=a.device)
    return c, (np.int32(rows), np.int32(columns), np.int32(depth))


def matmul_naive(a: Tensor, b: Tensor) -> Tensor:
    """float32 a [M, K] times b [K, N]; M and N at least 1."""
    c, sizes = product_of(a, b)
    grid = (ceil_div(c.shape[1], 32), ceil_div(c.shape[0], 8))
    kernel("matmul_naive")(grid, (32, 8), (a, b, c, *sizes))
    return c


def transpose_tiled(a: Tensor, side: int = 32) -> Tensor:
    """float32 a [rows, columns] as a new tensor [columns, rows], by tiles of side * side."""
    rows, columns = a.shape
    b = torch.empty(columns, rows, device=a.device)
    grid = (ceil_div(columns, side), ceil_div(rows, side))
    arguments = (a, b, np.int32(rows), np.int32(columns))
    kernel("transpose_tiled", f"SIDE={side}")(grid, (side, 256 // side), arguments)
    return b


def matmul_tiled(a: Tensor, b: Tensor, tile: int = 16) -> Tensor:
    """The product, by tiles of tile * tile in shared memory; tile is 16 or 32."""
    c, sizes = product_of(a, b)
    grid = (ceil_div(c.shape[1], tile), ceil_div(c.shape[0], tile))
    kernel("matmul_tiled", f"TILE={tile}")(grid, (tile, tile), (a, b, c, *sizes))
    return c


def lies_whole(a: Tensor, b: Tensor, side: int) -> bool:
    """Whether each tile lies inside its matrix and each float4 begins at a multiple of 16 bytes."""
    (rows, depth), (_, columns) = a.shape, b.shape
    whole = depth > 0 and rows % side == columns % side == depth % 16 == 0
    return whole and a.data_ptr() % 16 == b.data_ptr() % 16 == 0


def by_register_tiles(name: str, a: Tensor, b: Tensor, each: int) -> Tensor:
    """The product by a kernel of tasks 4 and 7, each * each elements of c a thread."""
    c, sizes = product_of(a, b)
    side = 16 * each
    macros = [f"TM={each}", f"TN={each}"]
    if lies_whole(a, b, side):
        macros.append("WHOLE_TILES")
    grid = (ceil_div(c.shape[1], side), ceil_div(c.shape[0], side))
    kernel(name, *macros)(grid, (256,), (a, b, c, *sizes))
    return c


def matmul_regtile(a: Tensor, b: Tensor, each: int = 4) -> Tensor:
    """The product, by tiles of each * each in registers; each is 4 or 8."""
    return by_register_tiles("matmul_regtile", a, b, each)


def matmul_buffered(a: Tensor, b: Tensor, each: int = 4) -> Tensor:
    """The same, with two tiles of each matrix in shared memory."""
    return by_register_tiles("matmul_buffered", a, b, each)


def stencil3(x: Tensor, threads: int = STENCIL_THREADS) -> Tensor:
    """x[i - 1] / 4 + x[i] / 2 + x[i + 1] / 4 for float32 x [n], n > 0, with zeros around x."""
    n = x.numel()
    y = torch.empty_like(x)
    shared_bytes = 4 * (threads + 2)
    blocks = ceil_div(n, threads)
    kernel("stencil3")((blocks,), (threads,), (x, y, np.int32(n)), shared_mem=shared_bytes)
    return y
