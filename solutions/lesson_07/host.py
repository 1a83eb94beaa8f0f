"""Lesson 07, the host's half: how many blocks, and who adds up what they leave."""

import numpy as np
import torch

from harness import cuda

THREADS = 256  # threads per block, where nothing else is asked
BLOCKS = 132 * 8  # eight for each SM of an H200: all of them are resident at a time

module = cuda.module(__file__, "kernel.cu")
sum_atomic_kernel = module.get_function("sum_atomic")
partial_sums_kernel = module.get_function("partial_sums")
softmax_row_kernel = module.get_function("softmax_row")
row_argmax_kernel = module.get_function("row_argmax")
atomic_each_kernel = module.get_function("atomic_each")
add_as_they_come_kernel = module.get_function("add_as_they_come")

together = cuda.module(__file__, "kernel.cu", ("-DWHOLE_GRID",), enable_cooperative_groups=True)
sum_grid_kernel = together.get_function("sum_grid")


def ceil_div(n: int, d: int) -> int:
    """n / d, rounded up."""
    return (n + d - 1) // d


def block_sums(kernel: str, x: torch.Tensor, threads: int = THREADS) -> torch.Tensor:
    """float32 [ceil(n / threads)]: the sum of each block of x, float32 [n]. Supplied.

    kernel is block_sum_interleaved, block_sum_smem or block_sum_shfl.
    """
    n = x.numel()
    sums = torch.empty(ceil_div(n, threads), device=x.device)
    if n > 0:
        shared_bytes = 0 if kernel == "block_sum_shfl" else 4 * threads
        arguments = (x, sums, np.int32(n))
        module.get_function(kernel)((sums.numel(),), (threads,), arguments, shared_bytes)
    return sums


def held(kernel: str, x: torch.Tensor, threads: int = THREADS) -> torch.Tensor:
    """float32 [ceil(n / threads), threads]: what each thread holds, n > 0. Supplied.

    kernel is block_sum_held or block_max_held.
    """
    n = x.numel()
    values = torch.empty(ceil_div(n, threads), threads, device=x.device)
    module.get_function(kernel)((len(values),), (threads,), (x, values, np.int32(n)))
    return values


def sum_atomic(x: torch.Tensor, blocks: int = BLOCKS, threads: int = THREADS) -> torch.Tensor:
    """The sum of x, float32 [n], as a tensor float32 [1]; 0 if n is 0."""
    # TASK 3: what must out hold before the first block adds to it?
    out = torch.zeros(1, device=x.device)
    sum_atomic_kernel((blocks,), (threads,), (x, out, np.int64(x.numel())))
    return out
    # END TASK


def sum_two_pass(x: torch.Tensor) -> torch.Tensor:
    """The sum of x, float32 [n], as a tensor float32 [1], with the same bits in every run."""
    # TASK 4: choose a grid that depends on n alone, of several blocks where n is large; then one
    # more launch of the same kernel adds up the sums of the blocks
    n = x.numel()
    blocks = max(1, min(BLOCKS, n // (16 * THREADS)))
    sums, out = torch.empty(blocks, device=x.device), torch.empty(1, device=x.device)
    partial_sums_kernel((blocks,), (THREADS,), (x, sums, np.int64(n)))
    partial_sums_kernel((1,), (THREADS,), (sums, out, np.int64(blocks)))
    return out
    # END TASK


def softmax_row(x: torch.Tensor) -> torch.Tensor:
    """The softmax of each row of x, float32 [rows, columns], columns up to 8192."""
    # TASK 5: a block for each row; how many threads, and how many bytes of shared memory, if any?
    rows, columns = x.shape
    y = torch.empty_like(x)
    if x.numel() > 0:
        warps = ceil_div(columns, 16 * 32)  # 16 floats a thread, as HELD says
        softmax_row_kernel((rows,), (32 * warps,), (x, y, np.int32(columns)))
    return y
    # END TASK


def row_argmax(x: torch.Tensor, threads: int = THREADS) -> tuple[torch.Tensor, torch.Tensor]:
    """(largest float32 [rows], its place int32 [rows]) of x, float32 [rows, columns].

    Raises ValueError where there are no columns: nothing is the largest of nothing.
    """
    # TASK 7: check, make room, launch if there are rows
    rows, columns = x.shape
    if columns == 0:
        raise ValueError("row_argmax wants at least one column")
    most = torch.empty(rows, device=x.device)
    where = torch.empty(rows, dtype=torch.int32, device=x.device)
    if rows > 0:
        row_argmax_kernel((rows,), (threads,), (x, most, where, np.int32(columns)))
    return most, where
    # END TASK


def sum_grid(x: torch.Tensor, blocks: int = 132, threads: int = THREADS) -> torch.Tensor:
    """The sum of x, float32 [n], as a tensor float32 [1], in one cooperative launch. Supplied."""
    sums, out = torch.empty(blocks, device=x.device), torch.empty(1, device=x.device)
    sum_grid_kernel((blocks,), (threads,), (x, sums, out, np.int64(x.numel())))
    return out


def atomic_each(x: torch.Tensor) -> torch.Tensor:
    """The sum of x, float32 [n], n > 0, by an atomic for every element. Supplied."""
    n, out = x.numel(), torch.zeros(1, device=x.device)
    atomic_each_kernel((ceil_div(n, THREADS),), (THREADS,), (x, out, np.int32(n)))
    return out


def add_as_they_come(parts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(the sum of parts, float32 [1]; what each block found there, float32 [blocks]). Supplied."""
    out, before = torch.zeros(1, device=parts.device), torch.empty_like(parts)
    add_as_they_come_kernel((parts.numel(),), (32,), (parts, out, before))
    return out, before
