"""Lesson 06, the host's half: supplied, and complete."""

import numpy as np
import torch

from harness import cuda

THREADS = 256  # threads per block: eight warps

module = cuda.module(__file__, "kernel.cu")
branch_on_kernel = module.get_function("branch_on")
walk_kernel = module.get_function("walk")
collatz_steps_kernel = module.get_function("collatz_steps")
vote_count_kernel = module.get_function("vote_count")
broadcast_first_kernel = module.get_function("broadcast_first")
rotate_lanes_kernel = module.get_function("rotate_lanes")
settle_kernel = module.get_function("settle")
warp_compact_kernel = module.get_function("warp_compact")


def ceil_div(n: int, d: int) -> int:
    """n / d, rounded up."""
    return (n + d - 1) // d


def branch(kernel: str, x: torch.Tensor, trips: int, threads: int = THREADS) -> torch.Tensor:
    """Run branch_parity or branch_aligned on x, int32 [n], n > 0."""
    y = torch.empty_like(x)
    n = x.numel()
    arguments = (x, y, np.int32(n), np.int32(trips))
    module.get_function(kernel)((ceil_div(n, threads),), (threads,), arguments)
    return y


def branch_on(
    condition: torch.Tensor, x: torch.Tensor, odd_trips: int, even_trips: int
) -> torch.Tensor:
    """Run branch_on; condition and x are int32 [n], n > 0."""
    y = torch.empty_like(x)
    n = x.numel()
    scalars = (np.int32(n), np.int32(odd_trips), np.int32(even_trips))
    branch_on_kernel((ceil_div(n, THREADS),), (THREADS,), (condition, x, y, *scalars))
    return y


def walk(trips: torch.Tensor) -> torch.Tensor:
    """Run walk on trips, int32 [n], n > 0."""
    y = torch.empty_like(trips)
    n = trips.numel()
    walk_kernel((ceil_div(n, THREADS),), (THREADS,), (trips, y, np.int32(n)))
    return y


def collatz_steps(x: torch.Tensor, cap: int = 10_000, threads: int = THREADS) -> torch.Tensor:
    """The steps of each number; x is int32 [n]."""
    steps = torch.empty_like(x)
    n = x.numel()
    if n > 0:
        arguments = (x, steps, np.int32(n), np.int32(cap))
        collatz_steps_kernel((ceil_div(n, threads),), (threads,), arguments)
    return steps


def vote_count(x: torch.Tensor, threads: int = THREADS) -> torch.Tensor:
    """int32 [ceil(n / 32)]: how many of each 32 elements of x, int32 [n], are above 0."""
    n = x.numel()
    counts = torch.empty(ceil_div(n, 32), dtype=torch.int32, device=x.device)
    if n > 0:
        arguments = (x, counts, np.int32(n))
        vote_count_kernel((ceil_div(n, threads),), (threads,), arguments)
    return counts


def broadcast_first(x: torch.Tensor, block: tuple[int, ...] = (THREADS,)) -> torch.Tensor:
    """Spread the first element of each warp over the warp, in place; x is float32 [n]."""
    n = x.numel()
    if n > 0:
        grid = (ceil_div(n, int(np.prod(block))),)
        broadcast_first_kernel(grid, block, (x, np.int32(n)))
    return x


def rotate_lanes(x: torch.Tensor, shift: int, block: tuple[int, ...] = (THREADS,)) -> torch.Tensor:
    """Move the elements of each warp round by shift, in place; x is float32 [n]."""
    n = x.numel()
    if n > 0:
        grid = (ceil_div(n, int(np.prod(block))),)
        rotate_lanes_kernel(grid, block, (x, np.int32(n), np.int32(shift)))
    return x


def settle(x: torch.Tensor, rounds: torch.Tensor, threads: int = THREADS) -> torch.Tensor:
    """Let the rings of `threads` elements settle; x is float32 [n], rounds int32 [n]."""
    y = torch.empty_like(x)
    n = x.numel()
    if n > 0:
        most = np.int32(rounds.max().item())
        arguments = (x, rounds, y, np.int32(n), most)
        shared_bytes = 4 * threads
        settle_kernel((ceil_div(n, threads),), (threads,), arguments, shared_bytes)
    return y


def warp_compact(x: torch.Tensor, out: torch.Tensor, threads: int = THREADS) -> torch.Tensor:
    """Move what is above 0 to the front of each 32 places of out; the number of each, int32."""
    n = x.numel()
    counts = torch.empty(ceil_div(n, 32), dtype=torch.int32, device=x.device)
    if n > 0:
        arguments = (x, out, counts, np.int32(n))
        warp_compact_kernel((ceil_div(n, threads),), (threads,), arguments)
    return counts
