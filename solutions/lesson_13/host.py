"""Launches the kernels of lesson 13."""

from functools import cache

import numpy as np
from torch import Tensor, empty, empty_like

from harness import cuda

module = cuda.module(__file__, "kernel.cu")
write_kernel = module.get_function("write_kv")
dense_kernel = module.get_function("dense_attn_decode")
paged_kernel = module.get_function("paged_attn_decode")
merge_kernel = module.get_function("merge_parts")

WIDEST_HEAD = 128  # floats: four for each lane of a warp
BLOCKS_WANTED = 256  # of threads: two for each SM of a large GPU


@cache
def shared_kernel(group: int) -> cuda.Kernel:
    """The kernel for `group` query heads on each key head: a constant of the compiler's."""
    options = (f"-DGROUP={group}",)
    return cuda.module(__file__, "kernel.cu", options).get_function("paged_attn_shared")


def write_kv(
    key_cache: Tensor, value_cache: Tensor, keys: Tensor, values: Tensor, slots: Tensor
) -> None:
    """Put keys[n, KV, D] and values into the slots[n] of both caches [blocks, bs, KV, D]."""
    count, kv_heads, d = keys.shape
    arguments = (key_cache, value_cache, keys, values, slots)
    sizes = np.int32(count), np.int32(kv_heads), np.int32(d)
    write_kernel((count,), (min(256, max(32, kv_heads * d // 4)),), (*arguments, *sizes))


def dense_attention(
    query: Tensor, keys: Tensor, values: Tensor, lens: Tensor, threads: int = 256
) -> Tensor:
    """query[B, H, D] over keys and values [B, longest, KV, D], of which lens[B] are there."""
    sequences, heads, d = query.shape
    longest, kv_heads = keys.shape[1:3]
    out = empty_like(query)
    sizes = np.int32(heads), np.int32(kv_heads), np.int32(d), np.int32(longest)
    arguments = (out, query, keys, values, lens, *sizes, np.float32(d**-0.5))
    dense_kernel((heads, sequences), (threads,), arguments)
    return out


def paged_attention(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    tables: Tensor,
    lens: Tensor,
    threads: int = 256,
) -> Tensor:
    """query[B, H, D] over the blocks of tables[B, width] in both caches [blocks, bs, KV, D].

    Scores are scaled by 1 / sqrt(D). Raises ValueError if H is no multiple of KV, or if D is no
    multiple of 4 up to WIDEST_HEAD.
    """
    # TASK 5: check, make room, launch as dense_attention does
    (sequences, heads, d), (_, block_size, kv_heads, _) = query.shape, key_cache.shape
    if heads % kv_heads or d % 4 or d > WIDEST_HEAD:
        raise ValueError(f"{heads} heads of {d} on {kv_heads} key heads")
    out = empty_like(query)
    sizes = (np.int32(n) for n in (heads, kv_heads, d, block_size, tables.shape[1]))
    arguments = (out, query, key_cache, value_cache, tables, lens, *sizes, np.float32(d**-0.5))
    paged_kernel((heads, sequences), (threads,), arguments)
    return out
    # END TASK


def parts_for(blocks: int, width: int) -> int:
    """Into how many parts to cut the contexts, where there are `blocks` of threads without it."""
    return max(1, min(BLOCKS_WANTED // blocks, width // 8))


def paged_attention_shared(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    tables: Tensor,
    lens: Tensor,
    parts: int | None = None,
    threads: int = 256,
) -> Tensor:
    """As paged_attention, with paged_attn_shared: each key and value is read once."""
    sequences, heads, d = query.shape
    block_size, kv_heads = key_cache.shape[1:3]
    width = tables.shape[1]
    parts = parts or parts_for(sequences * kv_heads, width)
    mixed = empty(parts, *query.shape, device=query.device)
    logs = empty(parts, sequences, heads, device=query.device)
    sizes = (np.int32(n) for n in (kv_heads, d, block_size, width))
    arguments = (mixed, logs, query, key_cache, value_cache, tables, lens, *sizes)
    grid = kv_heads, sequences, parts
    shared_kernel(heads // kv_heads)(grid, (threads,), (*arguments, np.float32(d**-0.5)))
    if parts == 1:
        return mixed[0]
    out = empty_like(query)
    merged = (out, mixed, logs, np.int32(parts), np.int32(sequences * heads), np.int32(d))
    merge_kernel((sequences * heads,), (max(32, d),), merged)
    return out
