"""Expectations as sums over all lengths of the last block."""

from dataclasses import dataclass
from statistics import mean


@dataclass
class BlockTradeoff:
    tail_waste_frac: float
    table_bytes: int
    extra_loads_per_token: float
    max_batch_gain: float


def block_tradeoff(bs, mean_len, B, s):
    empty = mean(bs - used for used in range(1, bs + 1))
    slots = mean_len + empty
    entries = (mean_len + bs - 1) // bs
    a_token = 2 * s.dtype_bytes * s.head_dim * s.kv_heads * s.layers
    gain = 2048 / (slots + 4 * entries / a_token)
    return BlockTradeoff(1 - mean_len / slots, B * entries * 4, bs**-1, gain)


def _steps(requests):
    for prompt, answer in requests:
        yield from range(prompt + 1, prompt + answer + 1)


def reserved_use(requests, reserved=2048):
    return mean(_steps(requests)) / reserved


def paged_use(requests, block_size):
    held = taken = 0
    for tokens in _steps(requests):
        held += tokens
        taken += tokens + -tokens % block_size
    return held / taken
