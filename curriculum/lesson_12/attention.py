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
    # TODO: about 2 lines
    raise NotImplementedError("task 1")


def update(state: SoftmaxState, scores: Tensor, values: Tensor) -> SoftmaxState:
    """The state with more keys: scores[rows, keys] and their values[keys, d].

    A row that has seen no key yet stays as it is. What the value of a masked key holds, NaN also,
    has no influence.
    """
    # TASK 1: the new largest score; old sums rescaled to it; then the new terms. No -inf - -inf.
    # TODO: about 7 lines
    raise NotImplementedError("task 1")


def finalize(state: SoftmaxState) -> tuple[Tensor, Tensor]:
    """(o[rows, d], lse[rows]): the weighed mean of the values, log of the sum of exp(score).

    A row that has seen no key: o = 0, lse = -inf.
    """
    # TASK 1: one division, at the end
    # TODO: about 2 lines
    raise NotImplementedError("task 1")


def merge(a: tuple[Tensor, Tensor], b: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Two finished pairs (o[rows, d], lse[rows]) over different keys as one over all of them."""
    # TASK 2: the sums of exp(score) behind a and b are their weights. No key at all on one side,
    # or on both, is allowed.
    # TODO: about 6 lines
    raise NotImplementedError("task 2")
