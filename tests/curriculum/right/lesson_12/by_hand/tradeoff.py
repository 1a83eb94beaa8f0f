from math import ceil, log2

from references.roofline import Kernel


def attention(heads, kv_heads, q_len, context, d, dtype_bytes=2, causal=True):
    pairs = sum(context - q_len + i + 1 for i in range(q_len)) if causal else q_len * context
    own, shared = heads * q_len, kv_heads * context
    rows = {"q": own, "o": own, "k": shared, "v": shared}
    scores, weighing = 2 * pairs * d * heads, 2 * pairs * d * heads
    return Kernel(
        "attention",
        d * dtype_bytes * sum(rows.values()),
        scores + weighing,
        {2: "bf16"}.get(dtype_bytes, "fp32"),
    )


def latent_decode(heads, context, latent, rope_dim, dtype_bytes=2):
    row = latent + rope_dim
    cache, queries, results = context * row, heads * row, heads * latent
    flops = 2 * context * heads * row + 2 * context * heads * latent
    return Kernel("mla", dtype_bytes * (cache + queries + results), flops)


def unfused_bytes(tokens, d, dtype_bytes):
    first = 2 * tokens * d + tokens**2  # reads q and k, writes scores
    second = 2 * tokens**2  # reads scores, writes weights
    third = tokens**2 + 2 * tokens * d  # reads weights and v, writes o
    return dtype_bytes * (first + second + third)


def tiled_bytes(tokens, d, dtype_bytes, rows, cached=False):
    row = d * dtype_bytes
    tiles = len(range(0, tokens, rows))
    return tokens * row * (2 + 2 * (1 if cached else tiles))


def choose_splits(batch, kv_heads, places, length, least):
    splits = 1
    while (splits + 1) * batch * kv_heads <= places and (splits + 1) * least <= length:
        splits += 1
    return splits


def invariant_chunk(group, d, share):
    return 2 ** max(0, ceil(log2(group * (d + 1) / (share * d))))
