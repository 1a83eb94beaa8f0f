"""Every size by its name, one launch after the other."""

from numpy import float32, int32
from torch import Tensor, zeros, zeros_like

from harness import cuda

MODULE = cuda.module(__file__, "kernel.cu")


def _scale(d: int) -> float32:
    return float32(d ** (-1 / 2))


def write_kv(key_cache, value_cache, keys, values, slots):
    function = MODULE.get_function("write_kv")
    n, KV, D = (int32(size) for size in keys.shape)
    function((len(slots),), (96,), (key_cache, value_cache, keys, values, slots, n, KV, D))


def dense_attention(query: Tensor, keys, values, lens, threads=128):
    B, H, D = query.shape
    answer = zeros_like(query)
    numbers = [int32(x) for x in (H, keys.shape[2], D, keys.shape[1])]
    tensors = [answer, query, keys, values, lens]
    MODULE.get_function("dense_attn_decode")((H, B), (threads,), (*tensors, *numbers, _scale(D)))
    return answer


def paged_attention(query: Tensor, key_cache, value_cache, tables, lens, threads=128):
    B, H, D = query.shape
    KV, bs = key_cache.shape[2], key_cache.shape[1]
    if H // KV * KV != H:
        raise ValueError(f"{H} on {KV}")
    if D not in range(4, 129, 4):
        raise ValueError(f"head of {D}")
    answer = zeros_like(query)
    numbers = [int32(x) for x in (H, KV, D, bs, tables.shape[1])]
    tensors = [answer, query, key_cache, value_cache, tables, lens]
    MODULE.get_function("paged_attn_decode")((H, B), (threads,), (*tensors, *numbers, _scale(D)))
    return answer


def paged_attention_shared(
    query: Tensor, key_cache, value_cache, tables, lens, parts=None, threads=64
):
    B, H, D = query.shape
    KV, bs = key_cache.shape[2], key_cache.shape[1]
    parts = 1 if parts is None else parts
    module = cuda.module(__file__, "kernel.cu", ("-DGROUP=" + str(H // KV),))
    every = zeros(parts, B, H, D, device=query.device)
    logs = zeros(parts, B, H, device=query.device)
    numbers = [int32(x) for x in (KV, D, bs, tables.shape[1])]
    tensors = [every, logs, query, key_cache, value_cache, tables, lens]
    module.get_function("paged_attn_shared")((KV, B, parts), (64,), (*tensors, *numbers, _scale(D)))
    answer = zeros_like(query)
    sizes = [int32(x) for x in (parts, B * H, D)]
    MODULE.get_function("merge_parts")((B * H,), (128,), (answer, every, logs, *sizes))
    return answer
