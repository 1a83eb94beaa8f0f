"""Where mma.m16n8k16 keeps its elements, what it reaches on a GPU, and halves to multiply."""

import torch
from torch import Tensor

# mma.sync.m16n8k16 on registers that never change, bf16, all SMs of one H200 SXM at its boost clock
# (the GPU of references/hardware.py). wgmma, which Hopper's own libraries use, goes beyond it.
MMA_SYNC_TERAFLOPS = 634.0
MMA_SHAPE = (16, 8, 16)  # M, N, K of one instruction
WMMA_SHAPE = (16, 16, 16)
WARPGROUP_THREADS = 128  # four warps, which multiply together by wgmma
FRAGMENTS = {"a": (16, 16, 4, 2), "b": (16, 8, 2, 2), "c": (16, 8, 4, 1)}
"""Rows, columns, registers of a lane, elements of a register."""


def element(matrix: str, lane: int, register: int, half: int) -> tuple[int, int]:
    """The row and column that a lane holds: PTX ISA, "Matrix Fragments for mma.m16n8k16".

    Its groupID is lane >> 2, its threadID_in_group lane % 4; its ai, bi and ci count elements.
    """
    group, thread = lane >> 2, lane % 4
    i = register * FRAGMENTS[matrix][3] + half
    if matrix == "a":
        row = group if i < 2 or 4 <= i < 6 else group + 8
        return row, thread * 2 + (i & 1) + (0 if i < 4 else 8)
    if matrix == "b":
        return thread * 2 + (i & 1) + (0 if i < 2 else 8), group
    return (group if i < 2 else group + 8), thread * 2 + (i & 1)


def halves(*shape: int, rng: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """float16 of either sign, from a tenth to ten."""
    sizes = 10 ** (2 * torch.rand(*shape, generator=rng) - 1)
    signs = torch.randint(0, 2, shape, generator=rng) * 2 - 1
    return (signs * sizes).half().to(device)


def pair(
    M: int, N: int, K: int, rng: torch.Generator, device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """a [M, K] and b [K, N] to multiply."""
    return halves(M, K, rng=rng, device=device), halves(K, N, rng=rng, device=device)
