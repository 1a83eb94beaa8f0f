"""Lesson 12, the trade-off: one formula, two intensities; what tiles save, and what splits cost."""

from references.roofline import Kernel


def attention(
    heads: int,
    kv_heads: int,
    q_len: int,
    context: int,
    d: int,
    dtype_bytes: int = 2,
    causal: bool = True,
) -> Kernel:
    """q_len queries, the last of `context` tokens, in one kernel: its fewest bytes, and its FLOPs.

    Bytes: queries, keys, values, results, each once. FLOPs: the two products, for the pairs
    (query, key) that the mask leaves; causal query i sees context - q_len + i + 1 keys. "bf16" if a
    number has 2 bytes, else "fp32".
    """
    # TASK 5: count pairs first
    pairs = q_len * context - (q_len * (q_len - 1) // 2 if causal else 0)
    moved = 2 * d * (heads * q_len + kv_heads * context) * dtype_bytes
    dtype = "bf16" if dtype_bytes == 2 else "fp32"
    return Kernel("attention", moved, 4 * heads * pairs * d, dtype)
    # END TASK


def latent_decode(
    heads: int, context: int, latent: int, rope_dim: int, dtype_bytes: int = 2
) -> Kernel:
    """One token whose heads all look at one row for each key (multi-head latent attention).

    A row has latent + rope_dim numbers. All of them are the key; the first `latent` are the value,
    and are not read again. A head's query is as long as a key, its result as long as a value.
    """
    # TASK 5: what is read once serves two products of each head
    key = latent + rope_dim
    moved = (context * key + heads * (key + latent)) * dtype_bytes
    return Kernel("latent decode", moved, 2 * heads * context * (key + latent))
    # END TASK


def unfused_bytes(tokens: int, d: int, dtype_bytes: int) -> int:
    """One head by three kernels: scores, softmax, values. Each reads and writes memory."""
    # TASK 5: the scores, tokens * tokens of them, four times; what comes from outside once
    return (4 * tokens * tokens + 4 * tokens * d) * dtype_bytes
    # END TASK


def tiled_bytes(tokens: int, d: int, dtype_bytes: int, rows: int, cached: bool = False) -> int:
    """One head by one kernel with tiles of `rows` queries, without a mask.

    cached  whether a cache holds keys and values, so that only the first tile fetches them
    """
    # TASK 5: how often are keys and values read?
    readings = 1 if cached else -(-tokens // rows)
    return (2 * tokens * d + 2 * tokens * d * readings) * dtype_bytes
    # END TASK


def choose_splits(batch: int, kv_heads: int, places: int, length: int, least: int) -> int:
    """Splits for each key head of flash_decode, so that its blocks fill the GPU once.

    places  blocks that the GPU runs at a time
    least   keys that a split should have at least; a length below it is one split
    """
    # TASK 4: one turn of blocks, no second that is nearly empty; and never no split
    return max(1, min(places // (batch * kv_heads), length // least))
    # END TASK


def invariant_chunk(group: int, d: int, share: float) -> int:
    """Keys of each split, a power of two, that depends on nothing but the model.

    The least for which the parts of `group` query heads, d + 1 floats each, written and read once,
    are at most `share` of the bytes of the split's keys and values, in float32.
    """
    # TASK 7: any batch, any length: the same chunk, hence the same sums in the same order
    chunk = 1
    while group * (d + 1) > share * chunk * d:
        chunk *= 2
    return chunk
    # END TASK
