"""A transformer's forward pass, one kernel after the other, with a cache of keys and values.

Weights come in a dictionary, matrices as [outputs, inputs]; references/models.py names them all.
x @ w.T multiplies each row of x by a matrix w.
"""

import torch
from torch import Tensor

EPSILON = 1e-5
THETA = 10_000.0


def rms_norm(x: Tensor, weight: Tensor, epsilon: float = EPSILON) -> Tensor:
    """x[..., h] over the root of (the mean of its squares along h, plus epsilon), times weight[h].

    The quotient is computed in float32, or wider if x is. It is rounded to x's dtype before weight
    multiplies it.
    """
    # TASK 1: widen, divide, round, multiply
    # TODO: about 3 lines
    raise NotImplementedError("task 1")


def rope(x: Tensor, positions: Tensor, theta: float = THETA) -> Tensor:
    """Turn x[T, heads, d] by its positions[T], counted from the beginning of the sequence.

    Elements i and i + d/2 of a head are a pair, i < d/2. At position p the pair (a, b) becomes
    (a cos - b sin, b cos + a sin) of the angle p * theta^(-2i/d). Computed in float32, or wider if
    x is; returned in x's dtype.
    """
    # TASK 1: angles are [T, d/2], and the same for all heads
    # TODO: about 7 lines
    raise NotImplementedError("task 1")


def swiglu(x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """x[..., h] through gate[f, h] and silu, times x through up[f, h], through down[h, f]."""
    # TASK 1: silu(v) is v times sigmoid(v); torch.nn.functional has it
    # TODO: about 2 lines
    raise NotImplementedError("task 1")


class CacheFull(RuntimeError):
    """There is no room for the tokens that were to be appended."""


class KVCache:
    """Keys and values of every token so far, layer by layer, in memory taken once."""

    def __init__(
        self,
        layers: int,
        max_tokens: int,
        kv_heads: int,
        head_dim: int,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.layers, self.max_tokens = layers, max_tokens
        self.kv_heads, self.head_dim = kv_heads, head_dim
        # TASK 3: memory for all tokens, and how many each layer holds
        # TODO: about 3 lines
        raise NotImplementedError("task 3")

    def append(self, layer: int, key: Tensor, value: Tensor) -> None:
        """Add key and value [T, kv_heads, head_dim] behind what the layer holds.

        Raises CacheFull, and changes nothing, if they do not fit.
        """
        # TASK 3: mind that the layers of one step are appended one after the other
        # TODO: about 7 lines
        raise NotImplementedError("task 3")

    def view(self, layer: int) -> tuple[Tensor, Tensor]:
        """(keys, values) of the layer, each [tokens, kv_heads, head_dim]: no copies."""
        # TASK 3: what has been appended, no more
        # TODO: about 2 lines
        raise NotImplementedError("task 3")

    @property
    def length(self) -> int:
        """Tokens that every layer holds: it grows when the last layer of a step is appended."""
        # TASK 3: the layer that lags behind decides
        # TODO: about 1 line
        raise NotImplementedError("task 3")


def grouped_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """query[T, heads, d] over key and value[n, kv_heads, d], the T queries being the last of n.

    Query head h reads key head h // (heads // kv_heads). Query i sees keys 0 .. n - T + i. Scores
    are scaled by 1 / sqrt(d).
    """
    # TASK 4: repeat the heads of keys and values, mask what comes later, softmax, weigh the values
    # TODO: about 6 lines
    raise NotImplementedError("task 4")


def forward(weights: dict[str, Tensor], tokens: Tensor, cache: KVCache, pos0: int) -> Tensor:
    """Run tokens[T], T >= 1, at positions pos0 .. pos0 + T - 1; logits[vocab] of the last.

    What came before is in the cache. It holds the new tokens, too, when forward returns. Weights
    without "head" use "embedding" for it; those with "query_norm" and "key_norm" norm each head
    before it is turned.
    """
    # TASK 4: for each layer: norm, query, key and value, turn, append, attend, output and residual;
    # norm, swiglu and residual. Only the last token needs logits.
    # TODO: about 21 lines
    raise NotImplementedError("task 4")
