"""What the kernels of lesson 04 must compute, and the sectors that addresses lie in."""

from collections.abc import Iterable

import torch
from torch import Tensor


def every(x: Tensor, n: int, stride: int) -> Tensor:
    """n elements of x, `stride` apart."""
    return x[torch.arange(n, device=x.device) * stride]


def column_sums(a: Tensor) -> Tensor:
    """The sum of each column of a [rows, columns]."""
    return a.sum(dim=0)


def strip_sums(a: Tensor, strip: int) -> Tensor:
    """The sum of each column of each `strip` rows of a; one strip of zeros if a has no row."""
    strips = max(1, -(-a.shape[0] // strip))
    return torch.stack([a[s * strip : (s + 1) * strip].sum(dim=0) for s in range(strips)])


def split(xyz: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The columns of xyz [n, 3]."""
    return xyz[:, 0].clone(), xyz[:, 1].clone(), xyz[:, 2].clone()


def transposed(a: Tensor) -> Tensor:
    """a [rows, columns] as [columns, rows], laid out row by row."""
    return a.t().contiguous()


def gathered(x: Tensor, indices: Tensor) -> Tensor:
    """x at the indices; NaN where one is negative."""
    taken = x[indices.long().clamp(min=0)]
    return torch.where(indices < 0, torch.nan, taken)


def touched_sectors(addresses: Iterable[int], bytes_: int) -> int:
    """How many 32-byte sectors hold a byte of any access, counted byte by byte."""
    return len({(start + byte) // 32 for start in addresses for byte in range(bytes_)})
