"""Plain loops, and the closed form written the other way round."""

from collections import namedtuple

BlockTradeoff = namedtuple(
    "BlockTradeoff", "tail_waste_frac table_bytes extra_loads_per_token max_batch_gain"
)


def block_tradeoff(bs, mean_len, B, s):
    kv = s.kv_heads * s.head_dim * s.layers * s.dtype_bytes * 2
    blocks = mean_len // bs + (mean_len % bs > 0)
    useful = 2 * mean_len / (2 * mean_len + bs - 1)
    per_sequence = mean_len / useful * kv + 4 * blocks
    return BlockTradeoff(1 - useful, 4 * blocks * B, 1.0 / bs, 2048 * kv / per_sequence)


def reserved_use(requests, reserved=2048):
    tokens = sum(a * p + a * (a + 1) / 2 for p, a in requests)
    steps = sum(a for p, a in requests)
    return tokens / (steps * reserved)


def paged_use(requests, block_size):
    full, used = 0, 0
    for p, a in requests:
        n = p
        while n < p + a:
            n += 1
            used += n
            full += len(range(0, n, block_size))
    return used / (full * block_size)
