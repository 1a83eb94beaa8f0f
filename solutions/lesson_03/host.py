"""Lesson 03, the host's half: check the tensors, choose a grid, launch."""

import numpy as np
import torch

from harness import cuda

THREADS = 256  # threads per block: eight full warps

module = cuda.module(__file__, "kernel.cu")
vec_add_kernel = module.get_function("vec_add")
axpy_kernel = module.get_function("axpy")
vec_add_gs_kernel = module.get_function("vec_add_gs")
add_u8_kernel = module.get_function("add_u8")
add_2d_kernel = module.get_function("add_2d")
saturating_add_kernel = module.get_function("saturating_add_i32")
vec_add_four_kernel = module.get_function("vec_add_four")


def check_vectors(a: torch.Tensor, b: torch.Tensor) -> None:
    """Let pass what vec_add takes: float32 [n], contiguous, of one length, on one device.

    Raises TypeError for another dtype; ValueError for another shape, layout or device.
    """
    # TASK 2: refuse what the kernel cannot read
    for x in (a, b):
        if x.dtype != torch.float32:
            raise TypeError(f"vec_add adds float32, not {x.dtype}")
        if x.dim() != 1 or not x.is_contiguous():
            raise ValueError("vec_add wants contiguous vectors of one dimension")
    if a.shape != b.shape or a.device != b.device:
        raise ValueError("vec_add wants two vectors of one length on one device")
    # END TASK


def vec_add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A new tensor a + b; checks a and b first."""
    # TASK 2: call the checks; make c without copying anything; launch enough blocks for n threads,
    # or nothing at all when n is 0
    check_vectors(a, b)
    n = a.numel()
    c = torch.empty_like(a)
    if n > 0:
        blocks = (n + THREADS - 1) // THREADS
        vec_add_kernel((blocks,), (THREADS,), (a, b, c, np.int32(n)))
    return c
    # END TASK


def axpy(a: float, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Replace y by a * x + y, and return y; x and y are float32 [n], contiguous, n > 0."""
    # TASK 3: launch the kernel; mind the types of the two scalars
    n = x.numel()
    blocks = (n + THREADS - 1) // THREADS
    axpy_kernel((blocks,), (THREADS,), (x, y, np.float32(a), np.int32(n)))
    return y
    # END TASK


def vec_add_four(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A new tensor a + b, as vec_add makes it, but each thread adds four elements."""
    # TASK 9: the same checks, and as many blocks as there are tiles of 4 * THREADS elements
    check_vectors(a, b)
    c = torch.empty_like(a)
    tiles = (a.numel() + 4 * THREADS - 1) // (4 * THREADS)
    if tiles > 0:
        vec_add_four_kernel((tiles,), (THREADS,), (a, b, c, np.int32(a.numel())))
    return c
    # END TASK


# Supplied: the launches of the other tasks. The grid is the caller's choice, never the kernel's.


def vec_add_gs(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, blocks: int, threads: int = THREADS
) -> None:
    """Write a + b into c; all float32 [n]."""
    vec_add_gs_kernel((blocks,), (threads,), (a, b, c, np.int64(a.numel())))


def add_u8(
    a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, blocks: int, threads: int = THREADS
) -> None:
    """Write a + b, modulo 256, into c; all uint8 [n]."""
    add_u8_kernel((blocks,), (threads,), (a, b, c, np.int64(a.numel())))


def add_2d(a: torch.Tensor, out: torch.Tensor, s: float, cols: int, grid: tuple[int, int]) -> None:
    """Write a + s into the first cols columns of out; a and out are float32 [rows, pitch]."""
    rows, pitch = a.shape
    scalars = (np.float32(s), np.int32(rows), np.int32(cols), np.int32(pitch))
    add_2d_kernel(grid, (32, 8), (a, out, *scalars))


def saturating_add(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A new tensor a + b that stops at the ends of int32; a and b are int32 [n], n > 0."""
    n = a.numel()
    c = torch.empty_like(a)
    blocks = (n + THREADS - 1) // THREADS
    saturating_add_kernel((blocks,), (THREADS,), (a, b, c, np.int32(n)))
    return c
