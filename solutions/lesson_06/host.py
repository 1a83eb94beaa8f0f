"""Lesson 06, the host's half: supplied, and complete."""

import numpy as np
import torch

from harness import cuda

THREADS = 256  # threads per block: eight warps

module = cuda.module(__file__, "kernel.cu")


def covered(n: int, threads: int) -> tuple[int]:
    """The grid that gives n elements a thread each."""
    return ((n + threads - 1) // threads,)


def branch(kernel: str, x: torch.Tensor, trips: int, threads: int = THREADS) -> torch.Tensor:
    """Run branch_parity or branch_aligned on x, int32 [n], n > 0."""
    y = torch.empty_like(x)
    n = x.numel()
    arguments = (x, y, np.int32(n), np.int32(trips))
    module.get_function(kernel)(covered(n, threads), (threads,), arguments)
    return y


def branch_on(
    condition: torch.Tensor, x: torch.Tensor, odd_trips: int, even_trips: int
) -> torch.Tensor:
    """Run branch_on; condition and x are int32 [n], n > 0."""
    y = torch.empty_like(x)
    n = x.numel()
    scalars = (np.int32(n), np.int32(odd_trips), np.int32(even_trips))
    module.get_function("branch_on")(covered(n, THREADS), (THREADS,), (condition, x, y, *scalars))
    return y


def walk(trips: torch.Tensor) -> torch.Tensor:
    """Run walk on trips, int32 [n], n > 0."""
    y = torch.empty_like(trips)
    n = trips.numel()
    module.get_function("walk")(covered(n, THREADS), (THREADS,), (trips, y, np.int32(n)))
    return y


def collatz_steps(x: torch.Tensor, cap: int = 10_000, threads: int = THREADS) -> torch.Tensor:
    """The steps of each number; x is int32 [n]."""
    steps = torch.empty_like(x)
    n = x.numel()
    if n > 0:
        arguments = (x, steps, np.int32(n), np.int32(cap))
        module.get_function("collatz_steps")(covered(n, threads), (threads,), arguments)
    return steps


def vote_count(x: torch.Tensor, threads: int = THREADS) -> torch.Tensor:
    """int32 [ceil(n / 32)]: how many of each 32 elements of x, int32 [n], are above 0."""
    n = x.numel()
    counts = torch.empty((n + 31) // 32, dtype=torch.int32, device=x.device)
    if n > 0:
        arguments = (x, counts, np.int32(n))
        module.get_function("vote_count")(covered(n, threads), (threads,), arguments)
    return counts


def broadcast_first(x: torch.Tensor, block: tuple[int, ...] = (THREADS,)) -> torch.Tensor:
    """Spread the first element of each warp over the warp, in place; x is float32 [n]."""
    n = x.numel()
    if n > 0:
        grid = covered(n, int(np.prod(block)))
        module.get_function("broadcast_first")(grid, block, (x, np.int32(n)))
    return x


def rotate_lanes(x: torch.Tensor, shift: int, block: tuple[int, ...] = (THREADS,)) -> torch.Tensor:
    """Move the elements of each warp round by shift, in place; x is float32 [n]."""
    n = x.numel()
    if n > 0:
        grid = covered(n, int(np.prod(block)))
        module.get_function("rotate_lanes")(grid, block, (x, np.int32(n), np.int32(shift)))
    return x


def settle(x: torch.Tensor, rounds: torch.Tensor, threads: int = THREADS) -> torch.Tensor:
    """Let the rings of `threads` elements settle; x is float32 [n], rounds int32 [n]."""
    y = torch.empty_like(x)
    n = x.numel()
    if n > 0:
        most = np.int32(rounds.max().item())
        arguments = (x, rounds, y, np.int32(n), most)
        shared_bytes = 4 * threads
        module.get_function("settle")(covered(n, threads), (threads,), arguments, shared_bytes)
    return y


def warp_compact(x: torch.Tensor, out: torch.Tensor, threads: int = THREADS) -> torch.Tensor:
    """Move what is above 0 to the front of each 32 places of out; the number of each, int32."""
    n = x.numel()
    counts = torch.empty((n + 31) // 32, dtype=torch.int32, device=x.device)
    if n > 0:
        arguments = (x, out, counts, np.int32(n))
        module.get_function("warp_compact")(covered(n, threads), (threads,), arguments)
    return counts
