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
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean = (wide * wide).mean(-1, keepdim=True)
    return (wide / torch.sqrt(mean + epsilon)).to(x.dtype) * weight
    # END TASK


def rope(x: Tensor, positions: Tensor, theta: float = THETA) -> Tensor:
    """Turn x[T, heads, d] by its positions[T], counted from the beginning of the sequence.

    Elements i and i + d/2 of a head are a pair, i < d/2. At position p the pair (a, b) becomes
    (a cos - b sin, b cos + a sin) of the angle p * theta^(-2i/d). Computed in float32, or wider if
    x is; returned in x's dtype.
    """
    # TASK 1: angles are [T, d/2], and the same for all heads
    half = x.shape[-1] // 2
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    rates = theta ** (-torch.arange(half, device=x.device, dtype=torch.float64) / half)
    angles = (positions[:, None] * rates)[:, None]  # [T, 1, d/2]
    cosine, sine = angles.cos().to(wide.dtype), angles.sin().to(wide.dtype)
    a, b = wide[..., :half], wide[..., half:]
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1).to(x.dtype)
    # END TASK


def swiglu(x: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """x[..., h] through gate[f, h] and silu, times x through up[f, h], through down[h, f]."""
    # TASK 1: silu(v) is v times sigmoid(v); torch.nn.functional has it
    bent = torch.nn.functional.silu(x @ gate.T)
    return (bent * (x @ up.T)) @ down.T
    # END TASK


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
        shape = layers, max_tokens, kv_heads, head_dim
        self.keys, self.values = torch.empty(shape, dtype=dtype), torch.empty(shape, dtype=dtype)
        self.lengths = [0] * layers
        # END TASK

    def append(self, layer: int, key: Tensor, value: Tensor) -> None:
        """Add key and value [T, kv_heads, head_dim] behind what the layer holds.

        Raises CacheFull, and changes nothing, if they do not fit.
        """
        # TASK 3: mind that the layers of one step are appended one after the other
        begin = self.lengths[layer]
        end = begin + key.shape[0]
        if end > self.max_tokens:
            raise CacheFull(f"{end} tokens, and there is room for {self.max_tokens}")
        self.keys[layer, begin:end] = key
        self.values[layer, begin:end] = value
        self.lengths[layer] = end
        # END TASK

    def view(self, layer: int) -> tuple[Tensor, Tensor]:
        """(keys, values) of the layer, each [tokens, kv_heads, head_dim]: no copies."""
        # TASK 3: what has been appended, no more
        n = self.lengths[layer]
        return self.keys[layer, :n], self.values[layer, :n]
        # END TASK

    @property
    def length(self) -> int:
        """Tokens that every layer holds: it grows when the last layer of a step is appended."""
        # TASK 3: the layer that lags behind decides
        return min(self.lengths)
        # END TASK


def grouped_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """query[T, heads, d] over key and value[n, kv_heads, d], the T queries being the last of n.

    Query head h reads key head h // (heads // kv_heads). Query i sees keys 0 .. n - T + i. Scores
    are scaled by 1 / sqrt(d).
    """
    # TASK 4: repeat the heads of keys and values, mask what comes later, softmax, weigh the values
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = torch.einsum("thd,nhd->htn", query, key) / query.shape[2] ** 0.5
    later = torch.ones_like(scores[0], dtype=torch.bool).triu(key.shape[0] - query.shape[0] + 1)
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    return torch.einsum("htn,nhd->thd", weights, value)
    # END TASK


def forward(weights: dict[str, Tensor], tokens: Tensor, cache: KVCache, pos0: int) -> Tensor:
    """Run tokens[T], T >= 1, at positions pos0 .. pos0 + T - 1; logits[vocab] of the last.

    What came before is in the cache. It holds the new tokens, too, when forward returns. Weights
    without "head" use "embedding" for it; those with "query_norm" and "key_norm" norm each head
    before it is turned.
    """
    # TASK 4: for each layer: norm, query, key and value, turn, append, attend, output and residual;
    # norm, swiglu and residual. Only the last token needs logits.
    count, d = tokens.shape[0], cache.head_dim
    positions = torch.arange(pos0, pos0 + count)
    x = weights["embedding"][tokens]
    for layer in range(cache.layers):
        own = {
            name.split(".")[2]: weight
            for name, weight in weights.items()
            if name.startswith(f"layers.{layer}.")
        }
        normed = rms_norm(x, own["attention_norm"])
        query, key, value = (
            (normed @ own[name].T).view(count, -1, d) for name in ("query", "key", "value")
        )
        if "query_norm" in own:
            query, key = rms_norm(query, own["query_norm"]), rms_norm(key, own["key_norm"])
        cache.append(layer, rope(key, positions), value)
        mixed = grouped_attention(rope(query, positions), *cache.view(layer))
        x = x + mixed.reshape(count, -1) @ own["output"].T
        x = x + swiglu(rms_norm(x, own["ffn_norm"]), own["gate"], own["up"], own["down"])
    last = rms_norm(x[-1], weights["final_norm"])
    return last @ weights.get("head", weights["embedding"]).T
    # END TASK
