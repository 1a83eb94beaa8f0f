import math
from typing import NamedTuple

import torch


class SoftmaxState(NamedTuple):
    m: torch.Tensor
    l: torch.Tensor  # noqa: E741
    o: torch.Tensor


def empty_state(rows, d, dtype=torch.float32):
    like = torch.zeros(rows, d, dtype=dtype)
    return SoftmaxState(like.new_full((rows,), -math.inf), like.sum(1), like)


def update(state, scores, values):
    """Row by row, key by key, as it stands in the papers."""
    ms, ls, os = state.m.tolist(), state.l.tolist(), state.o.double()
    for i, row in enumerate(scores.tolist()):
        for score, value in zip(row, values.double(), strict=True):
            if score == -math.inf:
                continue
            if score > ms[i]:
                shrink = math.exp(ms[i] - score)
                ms[i], ls[i] = score, ls[i] * shrink
                os = torch.cat([os[:i], os[i : i + 1] * shrink, os[i + 1 :]])
            weight = math.exp(score - ms[i])
            ls[i] += weight
            os = torch.cat([os[:i], os[i : i + 1] + weight * value, os[i + 1 :]])
    dtype = state.m.dtype
    return SoftmaxState(torch.tensor(ms, dtype=dtype), torch.tensor(ls, dtype=dtype), os.to(dtype))


def finalize(state):
    blind = state.l == 0
    lse = state.m + torch.log(state.l)
    return (state.o / state.l.masked_fill(blind, 1.0).unsqueeze(1)), lse


def merge(a, b):
    (oa, la), (ob, lb) = a, b
    lse = torch.logaddexp(la, lb)
    safe = lse.masked_fill(lse.isneginf(), 0.0)
    return oa * torch.exp(la - safe).unsqueeze(1) + ob * torch.exp(lb - safe).unsqueeze(1), lse
