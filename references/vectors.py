"""What the vector kernels of lesson 03 must compute, and values to try them on."""

import torch
from torch import Tensor

INT32 = torch.iinfo(torch.int32)


def spread(n: int, rng: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """n float32 values of either sign, hardly two alike, from thousandths to thousands."""
    sizes = 10 ** (6 * torch.rand(n, generator=rng) - 3)
    signs = torch.randint(0, 2, (n,), generator=rng) * 2 - 1
    return (signs * sizes).to(device)


def added(a: Tensor, b: Tensor) -> Tensor:
    """a + b for vectors of any one dtype; bytes wrap modulo 256."""
    return a + b


def scaled_and_added(a: float, x: Tensor, y: Tensor) -> Tensor:
    """a * x + y, with no shortcut for a = 0: zero times infinity is NaN."""
    return a * x + y


def added_to_rows(a: Tensor, scalar: float, columns: int, out: Tensor) -> Tensor:
    """out [rows, pitch] with its first columns replaced by those of a [rows, pitch] plus scalar."""
    replaced = out.clone()
    replaced[:, :columns] = a[:, :columns] + scalar
    return replaced


def added_and_clamped(a: Tensor, b: Tensor) -> Tensor:
    """a + b for int32, stopped at the smallest and the largest int32."""
    return (a.long() + b.long()).clamp(INT32.min, INT32.max).to(torch.int32)
