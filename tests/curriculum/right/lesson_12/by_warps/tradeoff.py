from references.roofline import Kernel


def attention(heads, kv_heads, q_len, context, d, dtype_bytes=2, causal=True):
    seen = context - (q_len - 1) / 2 if causal else context  # keys of a query, on average
    flops = round(4 * heads * d * q_len * seen)
    own, shared = 2 * heads * q_len, 2 * kv_heads * context
    kind = "fp32" if dtype_bytes != 2 else "bf16"
    return Kernel("prefill or decode", (own + shared) * d * dtype_bytes, flops, kind)


def latent_decode(heads, context, latent, rope_dim, dtype_bytes=2):
    both = 2 * latent + rope_dim
    numbers = context * (latent + rope_dim) + heads * both
    return Kernel("latent", numbers * dtype_bytes, 2 * heads * context * both)


def unfused_bytes(tokens, d, dtype_bytes):
    return 4 * dtype_bytes * tokens * (tokens + d)


def tiled_bytes(tokens, d, dtype_bytes, rows, cached=False):
    times = 1 if cached else (tokens + rows - 1) // rows
    return 2 * dtype_bytes * tokens * d * (1 + times)


def choose_splits(batch, kv_heads, places, length, least):
    fitting = places // batch // kv_heads
    if fitting * least > length:
        fitting = length // least
    return fitting or 1


def invariant_chunk(group, d, share):
    for power in range(31):
        if group * (d + 1) / (d << power) <= share:
            return 1 << power
    raise ValueError("no chunk is long enough")
