"""The softmax that comes in pieces: what a FlashAttention kernel keeps, as a few lines of torch.

Scores are [rows, keys], -inf where a row may not look at a key. Values are [keys, d].
"""

from typing import NamedTuple

import torch
from torch import Tensor


class SoftmaxState(NamedTuple):
    """What is known of each row after some of its keys, in any order."""

    m: Tensor  # [rows], the largest score so far; -inf before the first
    l: Tensor  # [rows], the sum of exp(score - m)  # noqa: E741  # the papers' name
    o: Tensor  # [rows, d], the sum of exp(score - m) * value


def empty_state(rows: int, d: int, dtype: torch.dtype = torch.float32) -> SoftmaxState:
    """The state before the first key."""
    # TASK 1: what is the largest of no scores?
    m = torch.full((rows,), -torch.inf, dtype=dtype)
    return SoftmaxState(m, torch.zeros(rows, dtype=dtype), torch.zeros(rows, d, dtype=dtype))
    # END TASK


def update(state: SoftmaxState, scores: Tensor, values: Tensor) -> SoftmaxState:
    """The state with more keys: scores[rows, keys] and their values[keys, d].

    A row that has seen no key yet stays as it is. What the value of a masked key holds, NaN also,
    has no influence.
    """
    # TASK 1: the new largest score; old sums rescaled to it; then the new terms. No -inf - -inf.
    m = torch.cat([state.m[:, None], scores], 1).amax(1)
    base = torch.where(m == -torch.inf, 0, m)
    rescale = (state.m - base).exp()
    weights = (scores - base[:, None]).exp()
    terms = torch.where(weights[:, :, None] == 0, 0, weights[:, :, None] * values)
    o = state.o * rescale[:, None] + terms.sum(1)
    return SoftmaxState(m, state.l * rescale + weights.sum(1), o)
    # END TASK


def finalize(state: SoftmaxState) -> tuple[Tensor, Tensor]:
    """(o[rows, d], lse[rows]): the weighed mean of the values, log of the sum of exp(score).

    A row that has seen no key: o = 0, lse = -inf.
    """
    # TASK 1: one division, at the end
    o = torch.where(state.l[:, None] == 0, 0, state.o / state.l[:, None])
    return o, state.m + state.l.log()
    # END TASK


def merge(a: tuple[Tensor, Tensor], b: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Two finished pairs (o[rows, d], lse[rows]) over different keys as one over all of them."""
    # TASK 2: the sums of exp(score) behind a and b are their weights. No key at all on one side,
    # or on both, is allowed.
    top = torch.maximum(a[1], b[1])
    base = torch.where(top == -torch.inf, 0, top)
    of_a, of_b = (a[1] - base).exp(), (b[1] - base).exp()
    total = of_a + of_b
    o = (a[0] * of_a[:, None] + b[0] * of_b[:, None]) / torch.where(total == 0, 1, total)[:, None]
    return o, base + total.log()
    # END TASK
