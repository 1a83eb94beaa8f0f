"""What the kernels of lesson 06 must compute, one warp after another in plain torch and Python."""

import torch
from torch import Tensor

WARP = 32
_WORD = 1 << 32


def scrambled(x: Tensor, odd: Tensor, odd_trips: int, even_trips: int) -> Tensor:
    """x, int32, after the odd arm where `odd` holds and after the even arm elsewhere."""
    value = x.long() % _WORD
    by_odd, by_even = value, value
    for _ in range(odd_trips):
        by_odd = (by_odd * 22695477 + 1) % _WORD
        by_odd = by_odd ^ (by_odd >> 15)
    for _ in range(even_trips):
        by_even = (by_even * 1664525 + 1013904223) % _WORD
        by_even = by_even ^ (by_even >> 16)
    return by_odd.where(odd, by_even).to(torch.int32)


def scrambled_by_parity(x: Tensor, trips: int) -> Tensor:
    """x after the odd arm at odd places, after the even arm at even ones."""
    return scrambled(x, torch.arange(x.numel(), device=x.device) % 2 == 1, trips, trips)


def collatz(x: Tensor, cap: int) -> Tensor:
    """The steps of each number to 1; -1 below 1, -2 where cap steps do not do."""
    return torch.tensor([_steps(v, cap) for v in x.tolist()], dtype=torch.int32, device=x.device)


def _steps(v: int, cap: int) -> int:
    if v < 1:
        return -1
    count = 0
    while v != 1:
        if count == cap:
            return -2
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        count += 1
    return count


def counted(x: Tensor) -> Tensor:
    """How many of each 32 elements are above 0."""
    sums = [(warp > 0).sum() for warp in torch.split(x, WARP) if warp.numel()]
    return torch.stack(sums).to(torch.int32) if sums else x.new_empty(0, dtype=torch.int32)


def spread_first(x: Tensor) -> Tensor:
    """Each element replaced by the first of its 32."""
    return torch.cat([warp[:1].expand_as(warp) for warp in torch.split(x, WARP)])


def rotated(x: Tensor, shift: int) -> Tensor:
    """Each element replaced by the one `shift` places on, round and round among its 32."""
    return torch.cat([warp.roll(-(shift % max(1, warp.numel()))) for warp in torch.split(x, WARP)])


def settled(x: Tensor, rounds: Tensor, threads: int) -> Tensor:
    """Rings of `threads` elements: who has rounds left becomes the mean of its neighbours."""
    rings = []
    for ring, own in zip(torch.split(x, threads), torch.split(rounds, threads), strict=True):
        for r in range(int(own.max())):
            ring = torch.where(own > r, 0.5 * (ring.roll(1) + ring.roll(-1)), ring)
        rings.append(ring - ring[0])
    return torch.cat(rings)


def compacted(x: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    """(out with what is above 0 moved to the front of each 32 places, how many those are)."""
    moved = out.clone()
    for kept, places in zip(torch.split(x, WARP), torch.split(moved, WARP), strict=True):
        front = kept[kept > 0]
        places[: front.numel()] = front
    return moved, counted(x)
