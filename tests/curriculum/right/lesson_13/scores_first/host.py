"""The same launches, told by one helper."""

import math

import numpy as np
import torch

from harness import cuda

code = cuda.module(__file__, "kernel.cu")


def launch(kernel, grid, threads, *arguments):
    as_given = [np.int32(a) if isinstance(a, int) else a for a in arguments]
    as_given = [np.float32(a) if isinstance(a, float) else a for a in as_given]
    kernel(grid, (threads,), tuple(as_given))


def write_kv(key_cache, value_cache, keys, values, slots):
    n, kv, d = keys.shape
    launch(
        code.get_function("write_kv"),
        (n,),
        64,
        key_cache,
        value_cache,
        keys,
        values,
        slots,
        n,
        kv,
        d,
    )


def dense_attention(query, keys, values, lens, threads=64):
    b, h, d = query.shape
    _, longest, kv, _ = keys.shape
    out = torch.empty_like(query)
    kernel = code.get_function("dense_attn_decode")
    launch(
        kernel, (h, b), threads, out, query, keys, values, lens, h, kv, d, longest, 1 / math.sqrt(d)
    )
    return out


def paged_attention(query, key_cache, value_cache, tables, lens, threads=64):
    b, h, d = query.shape
    blocks, bs, kv, _ = key_cache.shape
    if h % kv or d % 4 or d > 128:
        raise ValueError("shapes")
    out = torch.empty_like(query)
    kernel = code.get_function("paged_attn_decode")
    last = tables.shape[1], 1 / math.sqrt(d)
    launch(
        kernel,
        (h, b),
        threads,
        out,
        query,
        key_cache,
        value_cache,
        tables,
        lens,
        h,
        kv,
        d,
        bs,
        *last,
    )
    return out


def paged_attention_shared(query, key_cache, value_cache, tables, lens, parts=None, threads=64):
    b, h, d = query.shape
    _, bs, kv, _ = key_cache.shape
    parts = parts or 2
    each, logs = (
        torch.empty(parts, b, h, d, device=query.device),
        torch.empty(parts, b, h, device=query.device),
    )
    kernel = cuda.module(__file__, "kernel.cu", (f"-DGROUP={h // kv}",)).get_function(
        "paged_attn_shared"
    )
    last = tables.shape[1], 1 / math.sqrt(d)
    launch(
        kernel,
        (kv, b, parts),
        threads,
        each,
        logs,
        query,
        key_cache,
        value_cache,
        tables,
        lens,
        kv,
        d,
        bs,
        *last,
    )
    out = torch.empty_like(query)
    launch(code.get_function("merge_parts"), (b * h,), 64, out, each, logs, parts, b * h, d)
    return out
