"""Keys and values in blocks, found through tables: data to try a kernel with, and the truth of it.

A cache is [blocks, block_size, kv_heads, d]. tables[b, i] is the block that holds tokens
i * block_size and on of sequence b, lens[b] how many tokens it has.
"""

import mmap
from collections.abc import Sequence
from math import prod

import numpy as np
import torch
from torch import Tensor

from references.attention import attention

NAN = float("nan")
# Linux's; Python has a name for it from 3.12 on.
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


def filled(
    lens: Sequence[int],
    heads: int,
    kv_heads: int,
    d: int,
    block_size: int,
    rng: torch.Generator,
    device: torch.device | str = "cpu",
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """(query [B, heads, d], keys, values, tables, lens): float32 and int32.

    Blocks lie in random order, three of them belong to nobody, and a row of the table is longer
    than its sequence needs. Slots without a token are NaN, also those that the rest of a row names.
    """
    counts = [-(-n // block_size) for n in lens]
    width, blocks = max([*counts, 1]) + 1, sum(counts) + 3
    order = torch.randperm(blocks, generator=rng).tolist()
    tables = torch.full((len(lens), width), order.pop(), dtype=torch.int32)
    caches = torch.full((2, blocks * block_size, kv_heads, d), NAN)
    for row, (n, count) in enumerate(zip(lens, counts, strict=True)):
        mine = torch.tensor([order.pop() for _ in range(count)], dtype=torch.int64)
        tables[row, :count] = mine
        slots = (mine[:, None] * block_size + torch.arange(block_size)).flatten()[:n]
        caches[0][slots] = torch.randn(n, kv_heads, d, generator=rng)
        caches[1][slots] = torch.randn(n, kv_heads, d, generator=rng) + 1.5
    query = torch.randn(len(lens), heads, d, generator=rng)
    keys, values = caches.view(2, blocks, block_size, kv_heads, d)
    sizes = torch.tensor(lens, dtype=torch.int32)
    return tuple(x.to(device) for x in (query, keys, values, tables, sizes))  # type: ignore[return-value]


def gathered(cache: Tensor, table: Tensor, count: int) -> Tensor:
    """The first `count` tokens of a sequence side by side, [count, kv_heads, d]."""
    return cache[table.long()].flatten(0, 1)[:count]


def attention_in_full(
    query: Tensor, keys: Tensor, values: Tensor, tables: Tensor, lens: Tensor
) -> Tensor:
    """What one query of each sequence gets, [B, heads, d]: gathered, then every score at once."""
    rows = []
    for q, table, count in zip(query, tables, lens.tolist(), strict=True):
        k, v = (gathered(cache, table, int(count)).transpose(0, 1) for cache in (keys, values))
        rows.append(attention(q[:, None], k, v)[0][:, 0])
    return torch.stack(rows)


def untouched(*shape: int) -> Tensor:
    """Float32 zeros that take no memory before they are written, however many there are."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    memory = mmap.mmap(-1, 4 * prod(shape), flags=flags)
    return torch.from_numpy(np.frombuffer(memory, np.float32)).view(shape)
