"""Launches the kernels of lesson 12: shapes, grids, the macros of each compilation. Supplied."""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from harness import cuda
from harness.cuda import Kernel

ROWS, KEYS = 16, 16  # queries of a block of flash_fwd, and keys of its tiles
FAST_KEYS = 64  # keys of a tile of flash_fwd_mma


@cache
def kernel(file: str, name: str, *macros: str) -> Kernel:
    """A kernel of a file beside this one, compiled with these macros: "BR=16"."""
    options = tuple(f"-D{macro}" for macro in macros)
    return cuda.module(__file__, file, options).get_function(name)


def ceil_div(n: int, d: int) -> int:
    """n / d, rounded up."""
    return (n + d - 1) // d


def flash_fwd(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    causal: bool = False,
    scale: float | None = None,
    *,
    rows: int = ROWS,
    keys: int = KEYS,
    window: int = 0,
    sinks: int = 0,
    softcap: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """float32 q [H, Tq, d] over k, v [KV, Tk, d], d up to 64; (o like q, lse [H, Tq]).

    rows, keys  of a tile: multiples of 16
    window, sinks, softcap  0 for none; with one of them flash_fwd_masked runs instead
    """
    (heads, queries, d), (kv_heads, length, _) = q.shape, k.shape
    o, lse = torch.empty_like(q), torch.empty(heads, queries, device=q.device)
    sizes = map(np.int32, (heads, kv_heads, queries, length, d))
    scaled = np.float32(d**-0.5 if scale is None else scale)
    arguments = (o, lse, q, k, v, *sizes, scaled, np.int32(causal))
    macros = (f"BR={rows}", f"BC={keys}", f"D={32 if d <= 32 else 64}")
    grid = (ceil_div(queries, rows), heads)
    if window or sinks or softcap:
        arguments += (np.int32(window), np.int32(sinks), np.float32(softcap))
        kernel("kernel.cu", "flash_fwd_masked", *macros)(grid, (256,), arguments)
    else:
        kernel("kernel.cu", "flash_fwd", *macros)(grid, (256,), arguments)
    return o, lse


def decode_parts(
    q: Tensor, k: Tensor, v: Tensor, lens: Tensor, splits: int, chunk: int, scale: float | None
) -> tuple[Tensor, Tensor]:
    """Each split's result [B, H, splits, d] and lse [B, H, splits]."""
    (batch, heads, d), (_, kv_heads, room, _) = q.shape, k.shape
    parts = torch.empty(batch, heads, splits, d, device=q.device)
    part_lse = torch.empty(batch, heads, splits, device=q.device)
    scaled = np.float32(d**-0.5 if scale is None else scale)
    sizes = np.int32(room), np.int32(d), np.int32(chunk)
    launch = kernel("decode.cu", "flash_decode", f"GROUP={heads // kv_heads}")
    launch((splits, kv_heads, batch), (256,), (parts, part_lse, q, k, v, lens, *sizes, scaled))
    return parts, part_lse


def flash_decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    lens: Tensor,
    splits: int = 1,
    scale: float | None = None,
    *,
    chunk: int | None = None,
) -> Tensor:
    """float32 q [B, H, d] over the first lens[b] of k, v [B, KV, S, d]; o like q.

    lens    int32 [B]
    splits  how many parts S is cut into; chunk instead: how many keys each part has
    """
    room = k.shape[2]
    chunk = ceil_div(max(room, 1), splits) if chunk is None else chunk
    splits = max(1, ceil_div(room, chunk))
    parts, part_lse = decode_parts(q, k, v, lens, splits, chunk, scale)
    o = torch.empty_like(q)
    launch = kernel("decode.cu", "merge_splits", f"GROUP={q.shape[1] // k.shape[1]}")
    sizes = np.int32(splits), np.int32(q.shape[2])
    launch((q.shape[0] * q.shape[1],), (32,), (o, parts, part_lse, *sizes))
    return o


def flash_fwd_mma(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None, down: int = 1
) -> tuple[Tensor, Tensor]:
    """float16 q [H, Tq, d] over k, v [KV, Tk, d], d 64 or 128; (o like q, lse [H, Tq] float32).

    down  strips of 16 queries for each of the four warps of a block
    """
    (heads, queries, d), (kv_heads, length, _) = q.shape, k.shape
    if d not in (64, 128):
        raise ValueError(f"heads of {d} numbers, and this kernel takes 64 or 128")
    o, lse = torch.empty_like(q), torch.empty(heads, queries, device=q.device)
    sizes = map(np.int32, (heads, kv_heads, queries, length))
    scaled = np.float32(d**-0.5 if scale is None else scale)
    shared_bytes = 2 * d * (64 * down + 4 * FAST_KEYS)
    launch = kernel("fast.cu", "flash_fwd_mma", f"DOWN={down}", f"D={d}")
    grid, arguments = (ceil_div(queries, 64 * down), heads), (o, lse, q, k, v, *sizes, scaled)
    launch(grid, (128,), (*arguments, np.int32(causal)), shared_mem=shared_bytes)
    return o, lse
