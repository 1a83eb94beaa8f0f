from typing import NamedTuple

import torch
from torch import Tensor


class SoftmaxState(NamedTuple):
    m: Tensor
    l: Tensor  # noqa: E741
    o: Tensor


def _join(parts):
    """Any number of (m, l, o) over different keys as one."""
    m = torch.stack([part[0] for part in parts]).max(0).values
    factors = [(part[0] - m).exp().nan_to_num(0.0) for part in parts]  # no key
    l = sum(part[1] * f for part, f in zip(parts, factors, strict=True))  # noqa: E741
    return m, l, sum(part[2] * f[:, None] for part, f in zip(parts, factors, strict=True))


def empty_state(rows, d, dtype=torch.float32):
    nothing = torch.zeros(rows, d + 2, dtype=dtype)
    return SoftmaxState(nothing[:, 0] - torch.inf, nothing[:, 1].clone(), nothing[:, 2:].clone())


def update(state, scores, values):
    hidden = scores.isneginf()
    own = scores.max(1).values
    weights = (scores - own[:, None]).exp().masked_fill(hidden, 0.0)
    used = ~hidden.all(0)
    o = torch.zeros_like(state.o)
    for j in used.nonzero().flatten().tolist():
        rows = ~hidden[:, j]
        o[rows] += weights[rows, j, None] * values[j]
    return SoftmaxState(*_join([tuple(state), (own, weights.sum(1), o)]))


def finalize(state):
    seen = state.l > 0
    o = torch.zeros_like(state.o)
    o[seen] = state.o[seen] / state.l[seen, None]
    lse = torch.full_like(state.m, -torch.inf)
    lse[seen] = state.m[seen] + state.l[seen].log()
    return o, lse


def merge(a, b):
    ones = torch.ones_like(a[1])
    return finalize(
        SoftmaxState(*_join([(p[1], ones * ~p[1].isneginf(), p[0].clone()) for p in (a, b)]))
    )
