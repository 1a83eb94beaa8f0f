"""What the kernels of lesson 07 must compute: sums, softmax and the largest of each row."""

import torch
from torch import Tensor


def block_sums(x: Tensor, threads: int) -> Tensor:
    """The sum of each `threads` elements."""
    return torch.stack([block.sum() for block in torch.split(x, threads)])


def total(x: Tensor) -> Tensor:
    """The sum, as a tensor of one element."""
    return x.sum().reshape(1)


def softmax(x: Tensor) -> Tensor:
    """The softmax of each row."""
    return x.softmax(dim=1)


def largest(x: Tensor) -> tuple[Tensor, Tensor]:
    """(the largest of each row, its first index as int32); a NaN is larger than all."""
    found = x.max(dim=1)
    return found.values, found.indices.to(torch.int32)


def whole(n: int, rng: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """n float32 values that are whole numbers: up to 2^16 of them add up exactly in any order.

    Neighbours differ, and the sum of no few of them is 0 by accident alone.
    """
    return torch.randint(-99, 156, (n,), generator=rng).float().to(device)


def order_of(parts: list[float], before: list[float]) -> list[int] | None:
    """An order in which blocks may have added their parts to 0, if each found `before` there.

    None if there is no such order. Where a part was too small to change the sum, there are several.
    """

    def after(total: Tensor, left: frozenset[int]) -> list[int] | None:
        if not left:
            return []
        for block in sorted(left):
            if before[block] == total.item():
                rest = after(total + torch.tensor(parts[block]), left - {block})
                if rest is not None:
                    return [block, *rest]
        return None

    return after(torch.tensor(0.0), frozenset(range(len(parts))))
