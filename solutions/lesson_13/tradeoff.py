"""Lesson 13, the trade-off: the size of a block against empty slots, tables and extra loads."""

from collections.abc import Sequence
from dataclasses import dataclass

from references.models import ModelShape

Request = tuple[int, int]  # tokens of the prompt, tokens of the answer

RESERVED = 2048  # tokens that a cache without blocks keeps for each sequence: the longest allowed
ENTRY_BYTES = 4  # of one block id in a table


@dataclass(frozen=True)
class BlockTradeoff:
    """What blocks of one size cost, and what they win."""

    tail_waste_frac: float  # of all slots taken: those behind the last token of their sequence
    table_bytes: int  # of all tables of the batch
    extra_loads_per_token: float  # table entries that a kernel reads for each token
    max_batch_gain: float  # sequences in a given memory, over those that reserve RESERVED tokens


def block_tradeoff(bs: int, mean_len: int, B: int, s: ModelShape) -> BlockTradeoff:
    """Blocks of `bs` tokens, for B sequences of mean_len tokens on average.

    Any number of tokens in the last block is as likely as any other, 1 .. bs.
    """
    # TASK 6: how many slots of the last block are empty on average? A table has one entry for each
    # block that mean_len tokens begin. The gain: bytes of RESERVED tokens over the bytes that a
    # sequence takes with its tail and its table.
    tail = (bs - 1) / 2
    entries = -(-mean_len // bs)
    per_token = 2 * s.layers * s.kv_heads * s.head_dim * s.dtype_bytes
    taken = (mean_len + tail) * per_token + ENTRY_BYTES * entries
    return BlockTradeoff(
        tail_waste_frac=tail / (mean_len + tail),
        table_bytes=ENTRY_BYTES * entries * B,
        extra_loads_per_token=1 / bs,
        max_batch_gain=RESERVED * per_token / taken,
    )
    # END TASK


def reserved_use(requests: Sequence[Request], reserved: int = RESERVED) -> float:
    """Share of slots that hold a token, where each request reserves as many from its first step on.

    A request of p prompt and a answer tokens is there for a steps, with p + 1, p + 2, … p + a
    tokens. Every step of every request counts alike.
    """
    # TASK 6: all tokens of all steps, over all slots of all steps
    held = sum(p + step for p, a in requests for step in range(1, a + 1))
    return held / sum(reserved * a for _, a in requests)
    # END TASK


def paged_use(requests: Sequence[Request], block_size: int) -> float:
    """The same share where a request has, at each step, the blocks that its tokens begin."""
    # TASK 6: all tokens of all steps, over all slots of all steps
    lengths = [p + step for p, a in requests for step in range(1, a + 1)]
    return sum(lengths) / sum(-(-n // block_size) * block_size for n in lengths)
    # END TASK
