"""Attention in full, every score at once, and the cases that each way of computing it must pass.

Layout everywhere: queries [heads, Tq, d], keys and values [kv_heads, Tk, d]. Query head h reads
key head h // (heads // kv_heads). Causal is aligned at the end: query i sees key j where
j <= i + Tk - Tq, so that a chunk of queries sees all that came before it.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: int | None = None,
    sinks: int = 0,
    softcap: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(output [heads, Tq, d], natural log of the sum of exponentials [heads, Tq]).

    scale: of the scores, 1/sqrt(d) by default. window: a query sees its own position and the
    window - 1 before it, and the first `sinks` keys. softcap: scores become cap * tanh(score / cap)
    before the mask. A query that sees no key: output 0, log -inf. What a masked value holds, also
    NaN, has no influence. Computed in the inputs' dtype: pass float64 for the truth.
    """
    heads, queries, depth = query.shape
    keys = key.shape[1]
    if heads % key.shape[0]:
        raise ValueError(f"{heads} query heads are no multiple of {key.shape[0]} key heads")
    group = heads // key.shape[0]
    key, value = key.repeat_interleave(group, 0), value.repeat_interleave(group, 0)
    scores = query @ key.transpose(1, 2) * (depth**-0.5 if scale is None else scale)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    seen = visible(queries, keys, causal=causal, window=window, sinks=sinks).to(query.device)
    scores = scores.masked_fill(~seen, -torch.inf)
    total = scores.logsumexp(-1)
    weights = torch.where(seen, (scores - total[..., None]).exp(), 0)
    # 0 * NaN is NaN: keys whose values are not finite are added only where they are seen.
    plain = value.isfinite().all(-1).all(0)
    output = weights[..., plain] @ value[:, plain]
    terms = weights[:, :, ~plain, None] * value[:, None, ~plain]
    output = output + torch.where(seen[:, ~plain, None], terms, 0).sum(-2)
    return torch.where(seen.any(1)[:, None], output, 0), total


def visible(
    queries: int, keys: int, *, causal: bool = False, window: int | None = None, sinks: int = 0
) -> Tensor:
    """[queries, keys], True where query i may look at key j."""
    at = torch.arange(queries)[:, None] + keys - queries  # the key that is the query's own
    j = torch.arange(keys)[None]
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if causal:
        seen &= j <= at
    if window is not None:
        seen &= (j > at - window) | (j < sinks)
    return seen


@dataclass(frozen=True, slots=True)
class Case:
    """One shape to try; `queries` and `keys` are lengths, `why` says what it is there for."""

    why: str
    heads: int
    kv_heads: int
    queries: int
    keys: int
    depth: int
    causal: bool
    spread: float = 1.0  # of the queries: scores grow with it

    @property
    def label(self) -> str:
        causal = "-causal" if self.causal else ""
        return f"{self.heads}on{self.kv_heads}-{self.queries}x{self.keys}-d{self.depth}{causal}"

    def inputs(
        self, rng: torch.Generator, dtype: torch.dtype = torch.float32
    ) -> tuple[Tensor, Tensor, Tensor]:
        """(query, key, value), values away from zero so that a lost row is seen."""
        query = torch.randn(self.heads, self.queries, self.depth, generator=rng) * self.spread
        key = torch.randn(self.kv_heads, self.keys, self.depth, generator=rng)
        value = torch.randn(self.kv_heads, self.keys, self.depth, generator=rng) + 1.5
        return query.to(dtype), key.to(dtype), value.to(dtype)


_TILE = Case("one tile, nothing ragged", 1, 1, 16, 16, 16, False)

CASES = (
    _TILE,
    replace(_TILE, why="one query, one key: the softmax of one number is 1", queries=1, keys=1),
    replace(_TILE, why="the same, with its own diagonal", causal=True),
    replace(_TILE, why="ragged in both directions", queries=17, keys=33, depth=24),
    replace(_TILE, why="ragged and causal", queries=33, keys=33, causal=True),
    replace(
        _TILE, why="a chunk of queries at the end of its keys", queries=5, keys=40, causal=True
    ),
    replace(
        _TILE, why="more queries than keys: the first see nothing", queries=21, keys=5, causal=True
    ),
    replace(_TILE, why="a decode step: one query sees all keys", queries=1, keys=50, causal=True),
    Case("queries in groups of two", 4, 2, 20, 20, 16, True),
    Case("all queries on one key head", 4, 1, 7, 30, 32, False),
    Case("scores of some hundreds: no exponential overflows", 2, 2, 19, 19, 16, True, 60.0),
    Case("a wide head", 1, 1, 18, 35, 64, True),
)


def split_lengths(total: int, parts: int) -> list[int]:
    """`parts` lengths, each at least 0, that add up to total and differ by 1 at most."""
    return [total // parts + (part < total % parts) for part in range(parts)]
