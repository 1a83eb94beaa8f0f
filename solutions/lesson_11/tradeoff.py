"""Lesson 11, the trade-off: where the bytes and FLOPs of each step go, at a given context.

references/models.py has the ModelShape: layers, hidden, heads, kv_heads, head_dim, ffn, vocab,
tied, qk_norm, dtype_bytes.
"""

from dataclasses import dataclass

from references.models import ModelShape
from references.roofline import Hardware, Kernel


def param_count(shape: ModelShape) -> int:
    """All weights: tables, matrices and norms. A tied head is the embedding table, counted once."""
    # TASK 2: a layer has two norms over hidden, and two over head_dim where qk_norm says so
    s = shape
    attention = 2 * s.hidden * s.head_dim * (s.heads + s.kv_heads)
    norms = 2 * s.hidden + (2 * s.head_dim if s.qk_norm else 0)
    layer = attention + 3 * s.hidden * s.ffn + norms
    tables = s.vocab * s.hidden * (1 if s.tied else 2)
    return tables + s.layers * layer + s.hidden
    # END TASK


def kv_bytes_per_token(shape: ModelShape) -> int:
    """Bytes that one token leaves in the cache."""
    # TASK 2: a key and a value, for each head that has its own, in each layer
    return 2 * shape.layers * shape.kv_heads * shape.head_dim * shape.dtype_bytes
    # END TASK


def max_kv_tokens(
    memory_bytes: int, share: float, shape: ModelShape, activation_bytes: int = 0
) -> int:
    """Tokens whose keys and values fit into `share` of the memory, beside weights and activations.

    Whole tokens; 0 if the weights do not fit.
    """
    # TASK 2: what is left, in tokens
    left = int(memory_bytes * share) - param_count(shape) * shape.dtype_bytes - activation_bytes
    return max(0, left // kv_bytes_per_token(shape))
    # END TASK


def kv_equals_weights_tokens(shape: ModelShape) -> int:
    """Tokens in all caches together, from which on keys and values have more bytes than weights."""
    # TASK 2: rounded down
    return param_count(shape) * shape.dtype_bytes // kv_bytes_per_token(shape)
    # END TASK


@dataclass(frozen=True)
class StepCost:
    """What one decode step moves and computes: one new token for each sequence of a batch."""

    weight_bytes: int  # read once, for the whole batch
    kv_bytes: int  # read for each sequence
    flops: int

    def floor_seconds(self, hardware: Hardware) -> float:
        """The least time of the step, were it one kernel; launches not counted. Supplied."""
        moving = (self.weight_bytes + self.kv_bytes) / hardware.bytes_per_second
        return max(moving, self.flops / hardware.flops_per_second["bf16"])


def step_cost(shape: ModelShape, batch: int, context: int) -> StepCost:
    """A step of `batch` sequences whose caches hold `context` tokens each, the new one included.

    The embedding table is not read, but for a row a sequence, which is nothing beside it; a tied
    one is, as the head. FLOPs are those of the matrices and of attention; the others are nothing.
    """
    # TASK 2: each weight of a matrix takes one multiplication and one addition a sequence.
    # Attention takes them for each element of a query with each key, and again with each value.
    s = shape
    norms = s.hidden + s.layers * (2 * s.hidden + (2 * s.head_dim if s.qk_norm else 0))
    read = param_count(s) - (0 if s.tied else s.vocab * s.hidden)
    attention = 4 * s.layers * s.heads * s.head_dim * context
    return StepCost(
        weight_bytes=read * s.dtype_bytes,
        kv_bytes=batch * context * kv_bytes_per_token(s),
        flops=batch * (2 * (read - norms) + attention),
    )
    # END TASK


def kernel_chain(shape: ModelShape, batch: int, q_len: int, context: int) -> list[Kernel]:
    """Every kernel of a step in order: `batch` sequences, q_len new tokens each, `context` in all.

    For each layer "norm", "qkv", "rope", "kv_write", "attention", "output", "add_norm", "gate_up",
    "silu_mul", "down", "add"; at last "final_norm" and "head", for the last token of each sequence
    alone. Bytes: weights, what comes in and what goes out, each once. FLOPs: those of "qkv",
    "attention", "output", "gate_up", "down" and "head" count. Query i of q_len sees
    context - q_len + i + 1 keys.
    """
    # TASK 6: one list; matrices are products as in lesson 10
    s, b = shape, shape.dtype_bytes
    t, width, kv = batch * q_len, s.heads * s.head_dim, s.kv_heads * s.head_dim
    seen = batch * (q_len * (context - q_len) + q_len * (q_len + 1) // 2)  # pairs (query, key)

    def matrix(name: str, rows: int, inputs: int, outputs: int) -> Kernel:
        moved = rows * inputs + inputs * outputs + rows * outputs
        return Kernel(name, b * moved, 2 * rows * inputs * outputs)

    def plain(name: str, elements: int) -> Kernel:
        return Kernel(name, b * elements, 0)

    layer = [
        plain("norm", 2 * t * s.hidden + s.hidden),
        matrix("qkv", t, s.hidden, width + 2 * kv),
        plain("rope", 2 * t * (width + kv)),
        plain("kv_write", 4 * t * kv),
        Kernel("attention", b * (2 * t * width + 2 * batch * context * kv), 4 * seen * width),
        matrix("output", t, width, s.hidden),
        plain("add_norm", 4 * t * s.hidden + s.hidden),
        matrix("gate_up", t, s.hidden, 2 * s.ffn),
        plain("silu_mul", 3 * t * s.ffn),
        matrix("down", t, s.ffn, s.hidden),
        plain("add", 3 * t * s.hidden),
    ]
    end = [
        plain("final_norm", 2 * batch * s.hidden + s.hidden),
        matrix("head", batch, s.hidden, s.vocab),
    ]
    return layer * s.layers + end
    # END TASK


def split_kv_bytes(shape: ModelShape, gpus: int) -> int:
    """Bytes of a token's keys and values on each of `gpus` GPUs that share the heads out.

    A head is never cut: with more GPUs than heads, some GPUs hold the same one.
    """
    # TASK 7: heads a GPU, at least one
    heads = -(-shape.kv_heads // gpus)
    return 2 * shape.layers * heads * shape.head_dim * shape.dtype_bytes
    # END TASK


def all_reduce_bytes(shape: ModelShape, gpus: int, tokens: int) -> int:
    """Bytes that each GPU sends in a step of `tokens` tokens, by rings, for split matrices.

    Two sums a layer, behind "output" and behind "down", of [tokens, hidden] each. In a ring of p
    GPUs each sends 2 (p - 1) / p of what is summed.
    """
    # TASK 7: one product
    summed = 2 * shape.layers * tokens * shape.hidden * shape.dtype_bytes
    return 2 * (gpus - 1) * summed // gpus
    # END TASK


def latent_kv_bytes(layers: int, latent: int, rope_dim: int, dtype_bytes: int = 2) -> int:
    """Bytes of a token where a layer keeps one latent vector and one turned key for all heads."""
    # TASK 7: one vector, not a key and a value; heads do not matter
    return layers * (latent + rope_dim) * dtype_bytes
    # END TASK
