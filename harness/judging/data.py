"""Inputs that give wrong kernels away: odd sizes, and values that tell their position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

DECADES = 1.0  # values are spread over 10^-1 … 10^1


def sizes(block: int, blocks: int = 5) -> list[int]:
    """Lengths for a kernel of `block` threads: tiny ones, both sides of a block, a prime, several.

    The last two are a prime beyond two blocks and several whole blocks.
    """
    several = {1, 2, 3, block - 1, block, block + 1, prime_after(2 * block), blocks * block}
    return sorted(size for size in several if size > 0)


def prime_after(number: int) -> int:
    """The first prime above a number: a size that no block, warp or vector width divides."""
    candidate = max(number + 1, 2)
    while any(candidate % divisor == 0 for divisor in range(2, math.isqrt(candidate) + 1)):
        candidate += 1
    return candidate


def spread(
    *shape: int,
    rng: torch.Generator,
    dtype: torch.dtype | None = None,
    device: torch.device | str = "cpu",
) -> torch.Tensor:
    """Floating values of both signs, of sizes from 0.1 to 10, no two the same in float32.

    Sizes differ from row to row and within a row, so that an exchanged index shows.
    """
    import torch

    elements = math.prod(shape)
    # One value from each of `elements` equal steps, in random order: distinct by construction.
    step = (torch.randperm(elements, generator=rng) + 0.5) / max(elements, 1)
    size = 10 ** (2 * DECADES * step.double() - DECADES)
    sign = 1 - 2 * torch.randint(0, 2, (elements,), generator=rng)
    return (size * sign).to(dtype or torch.float32).reshape(shape).to(device)


def distinct_integers(
    *shape: int,
    rng: torch.Generator,
    dtype: torch.dtype | None = None,
    device: torch.device | str = "cpu",
) -> torch.Tensor:
    """Whole numbers in random order, each once as long as the type has enough of them."""
    import torch

    kind = dtype or torch.int32
    limits = torch.iinfo(kind)
    elements = math.prod(shape)
    values = torch.randperm(elements, generator=rng)
    span = limits.max - limits.min + 1
    # Centred on zero for signed types; a type too narrow wraps round.
    low = 0 if limits.min == 0 else -min(elements // 2, -limits.min)
    wrapped = (values % min(span, max(elements, 1))) + low
    return wrapped.to(kind).reshape(shape).to(device)


def rows_of_scale(
    rows: int,
    columns: int,
    *,
    rng: torch.Generator,
    dtype: torch.dtype | None = None,
    device: torch.device | str = "cpu",
) -> torch.Tensor:
    """Normal values [rows, columns] with an offset, each row of its own scale 10^-1 … 10^1."""
    import torch

    scale = 10 ** (2 * DECADES * torch.rand(rows, 1, generator=rng, dtype=torch.float64) - DECADES)
    normal = torch.randn(rows, columns, generator=rng, dtype=torch.float64)
    return ((normal + 0.3) * scale).to(dtype or torch.float32).to(device)


def rectangles(tile: int) -> Sequence[tuple[int, int]]:
    """Shapes for square tiles: lonely, thin both ways, a tile, ragged, wide and tall."""
    return (
        (1, 1),
        (1, tile + 1),
        (tile + 1, 1),
        (tile, tile),
        (tile - 1, tile + 1),
        (2 * tile, 3 * tile + 1),
        (prime_after(3 * tile), 2 * tile),
    )
