"""Attention: forward, backward, and over a cache whose parts are merged."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten
from tests.triton.wanted import rounded

LOG2E = 1.4426950408889634


@triton.jit
def attention(
    q, k, v, out, lse, length, scale, causal: tl.constexpr, precision: tl.constexpr,
    tile_q: tl.constexpr, tile_k: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """out [heads, length, width]; lse [heads, length], of base 2."""
    head, first_q = tl.program_id(1), tl.program_id(0) * tile_q
    start = head * length * width
    row, column = first_q + tl.arange(0, tile_q), tl.arange(0, width)
    at_q = start + row[:, None] * width + column[None, :]
    queries = tl.load(q + at_q, row[:, None] < length, other=0.0)
    greatest = tl.full((tile_q,), -float("inf"), tl.float32)
    total = tl.zeros((tile_q,), tl.float32)
    sums = tl.zeros((tile_q, width), tl.float32)
    end = min(first_q + tile_q, length) if causal else length
    for first_k in range(0, end, tile_k):
        key = first_k + tl.arange(0, tile_k)
        at_k = start + key[:, None] * width + column[None, :]
        keys = tl.load(k + at_k, key[:, None] < length, other=0.0)
        scores = tl.dot(queries, tl.trans(keys), input_precision=precision) * scale
        seen = key[None, :] < length
        if causal:
            seen = seen & (key[None, :] <= row[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        higher = tl.maximum(greatest, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(greatest - higher)
        total = total * shrink + tl.sum(weights, 1)
        values = tl.load(v + at_k, key[:, None] < length, other=0.0)
        sums = tl.dot(
            weights.to(values.dtype), values, sums * shrink[:, None], input_precision=precision
        )
        greatest = higher
    tl.store(out + at_q, (sums / total[:, None]).to(out.dtype.element_ty), row[:, None] < length)
    tl.store(lse + head * length + row, greatest + tl.log2(total), row < length)


@triton.jit
def attention_delta(out, d_out, delta, rows, tile: tl.constexpr, width: tl.constexpr):
    row, column = tl.program_id(0) * tile + tl.arange(0, tile), tl.arange(0, width)
    at = row[:, None] * width + column[None, :]
    o = tl.load(out + at, row[:, None] < rows, other=0.0).to(tl.float32)
    g = tl.load(d_out + at, row[:, None] < rows, other=0.0).to(tl.float32)
    tl.store(delta + row, tl.sum(o * g, 1), row < rows)


@triton.jit
def attention_backward_keys(
    q, k, v, d_out, lse, delta, dk, dv, length, scale, log2_scale,
    tile_q: tl.constexpr, tile_k: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """dk and dv of a tile of keys, over the queries from there on (causal)."""
    head, first_k = tl.program_id(1), tl.program_id(0) * tile_k
    start = head * length * width
    key, column = first_k + tl.arange(0, tile_k), tl.arange(0, width)
    at_k = start + key[:, None] * width + column[None, :]
    keys = tl.load(k + at_k, key[:, None] < length, other=0.0)
    values = tl.load(v + at_k, key[:, None] < length, other=0.0)
    to_keys = tl.zeros((tile_k, width), tl.float32)
    to_values = tl.zeros((tile_k, width), tl.float32)
    for first_q in range(first_k // tile_q * tile_q, length, tile_q):
        row = first_q + tl.arange(0, tile_q)
        at_q = start + row[:, None] * width + column[None, :]
        queries = tl.load(q + at_q, row[:, None] < length, other=0.0)
        g = tl.load(d_out + at_q, row[:, None] < length, other=0.0)
        level = tl.load(lse + head * length + row, row < length, other=0.0)
        along = tl.load(delta + head * length + row, row < length, other=0.0)
        scores = tl.dot(keys, tl.trans(queries)) * log2_scale
        seen = (key[:, None] <= row[None, :]) & (row[None, :] < length)
        weights = tl.where(seen, tl.exp2(scores - level[None, :]), 0.0)
        to_values = tl.dot(weights.to(g.dtype), g, to_values)
        slope = weights * (tl.dot(values, tl.trans(g)) - along[None, :])
        to_keys = tl.dot(slope.to(queries.dtype), queries, to_keys)
    inside = key[:, None] < length
    tl.store(dk + at_k, (to_keys * scale).to(dk.dtype.element_ty), inside)
    tl.store(dv + at_k, to_values.to(dv.dtype.element_ty), inside)


@triton.jit
def attention_backward_queries(
    q, k, v, d_out, lse, delta, dq, length, scale, log2_scale,
    tile_q: tl.constexpr, tile_k: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    head, first_q = tl.program_id(1), tl.program_id(0) * tile_q
    start = head * length * width
    row, column = first_q + tl.arange(0, tile_q), tl.arange(0, width)
    at_q = start + row[:, None] * width + column[None, :]
    queries = tl.load(q + at_q, row[:, None] < length, other=0.0)
    g = tl.load(d_out + at_q, row[:, None] < length, other=0.0)
    level = tl.load(lse + head * length + row, row < length, other=0.0)
    along = tl.load(delta + head * length + row, row < length, other=0.0)
    to_queries = tl.zeros((tile_q, width), tl.float32)
    for first_k in range(0, min(first_q + tile_q, length), tile_k):
        key = first_k + tl.arange(0, tile_k)
        at_k = start + key[:, None] * width + column[None, :]
        keys = tl.load(k + at_k, key[:, None] < length, other=0.0)
        values = tl.load(v + at_k, key[:, None] < length, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * log2_scale
        seen = (key[None, :] <= row[:, None]) & (key[None, :] < length)
        weights = tl.where(seen, tl.exp2(scores - level[:, None]), 0.0)
        slope = weights * (tl.dot(g, tl.trans(values)) - along[:, None])
        to_queries = tl.dot(slope.to(keys.dtype), keys, to_queries)
    tl.store(dq + at_q, (to_queries * scale).to(dq.dtype.element_ty), row[:, None] < length)


@triton.jit
def decode_part(
    q, k, v, part_out, part_lse, length, scale, share,
    tile: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """One query of a head over a share of its keys: no tensor cores, one program a share."""
    head, part, parts = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    column = tl.arange(0, width)
    query = tl.load(q + head * width + column).to(tl.float32) * scale
    greatest, total = -float("inf"), 0.0
    sums = tl.zeros((width,), tl.float32)
    end = min(part * share + share, length)
    for first in range(part * share, end, tile):
        key = first + tl.arange(0, tile)
        at = head * length * width + key[:, None] * width + column[None, :]
        keys = tl.load(k + at, key[:, None] < end, other=0.0).to(tl.float32)
        scores = tl.where(key < end, tl.sum(keys * query[None, :], 1), -float("inf"))
        higher = tl.maximum(greatest, tl.max(scores, 0))
        weights = tl.exp2(scores - higher)
        shrink = tl.exp2(greatest - higher)
        total = total * shrink + tl.sum(weights, 0)
        values = tl.load(v + at, key[:, None] < end, other=0.0).to(tl.float32)
        sums = sums * shrink + tl.sum(weights[:, None] * values, 0)
        greatest = higher
    tl.store(part_out + (head * parts + part) * width + column, sums / total)
    tl.store(part_lse + head * parts + part, greatest + tl.log2(total))


@triton.jit
def decode_merge(part_out, part_lse, out, parts, most: tl.constexpr, width: tl.constexpr):
    head, part, column = tl.program_id(0), tl.arange(0, most), tl.arange(0, width)
    level = tl.load(part_lse + head * parts + part, part < parts, other=-float("inf"))
    weights = tl.exp2(level - tl.max(level, 0))
    at = (head * parts + part[:, None]) * width + column[None, :]
    each = tl.load(part_out + at, part[:, None] < parts, other=0.0)
    merged = tl.sum(each * weights[:, None], 0) / tl.sum(weights, 0)
    tl.store(out + head * width + column, merged.to(out.dtype.element_ty))


def _truth(q, k, v, causal):
    """(output, log2 of the sum of exponentials, weights) in float64; q, k, v [heads, T, width]."""
    q, k, v = q.double(), k.double(), v.double()
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1) * LOG2E, scores.softmax(-1)


def _forward(name, dtype, heads, length, width, causal, tile_q, tile_k, precision, unit, **options):
    def memory(make):
        inputs = {x: make.normal(heads, length, width, dtype=dtype) for x in "qkv"}
        out, lse = unwritten(heads, length, width, dtype=dtype), unwritten(heads, length)
        return inputs | {"out": out, "lse": lse}

    def run(m):
        grid = (triton.cdiv(length, tile_q), heads)
        names = ("q", "k", "v", "out", "lse")
        scale = LOG2E / width**0.5
        attention[grid](
            *(m[n] for n in names), length, scale, causal, precision, tile_q, tile_k, width,
            **options,
        )  # fmt: skip

    def wanted(m):
        value, lse, weights = _truth(m["q"], m["k"], m["v"], causal)
        # The weights are rounded to the type of the values, and scores to that of the factors.
        slack = unit * (weights @ m["v"].double().abs())
        return {
            "out": rounded(value, 1.0, slack, apart=None),
            "lse": rounded(lse, 4.0, 4 * unit, apart=None),
        }

    return Case(f"attention {name}", memory, run, wanted)


def _backward(heads=2, length=50, width=16, tile=32):
    half = torch.float16
    outputs = ("dq", "dk", "dv")

    def memory(make):
        m = {x: make.normal(heads, length, width, dtype=half) for x in ("q", "k", "v", "d_out")}
        out, lse, _ = _truth(m["q"], m["k"], m["v"], True)
        m |= {"out": out.half(), "lse": lse.float(), "delta": unwritten(heads, length)}
        return m | {x: unwritten(heads, length, width, dtype=half) for x in outputs}

    def run(m):
        tiles, scale = triton.cdiv(length, tile), width**-0.5
        sizes = (length, scale, scale * LOG2E)
        rows = heads * length
        attention_delta[(triton.cdiv(rows, 64),)](m["out"], m["d_out"], m["delta"], rows, 64, width)
        inputs = [m[x] for x in ("q", "k", "v", "d_out", "lse", "delta")]
        keys, queries = attention_backward_keys, attention_backward_queries
        keys[(tiles, heads)](*inputs, m["dk"], m["dv"], *sizes, tile, tile, width, num_stages=2)
        queries[(tiles, heads)](*inputs, m["dq"], *sizes, tile, tile, width)

    def wanted(m):
        q, k, v, g = (m[x].double() for x in ("q", "k", "v", "d_out"))
        out, _, weights = _truth(q, k, v, True)
        along = (m["out"].double() * g).sum(-1, keepdim=True)
        slope = weights * (g @ v.mT - along) * width**-0.5
        most = weights * (g.abs() @ v.mT.abs() + along.abs()) * width**-0.5
        unit = 3 * 2.0**-11  # the slope and the weights are rounded to half, and what they are of
        return {
            "delta": rounded(along[..., 0], 1.0, 2.0**-20 * (m["out"].double() * g).abs().sum(-1)),
            "dv": rounded(weights.mT @ g, 1.0, unit * (weights.mT @ g.abs()), None),
            "dk": rounded(slope.mT @ q, 1.0, unit * (most.mT @ q.abs()), None),
            "dq": rounded(slope @ k, 1.0, unit * (most @ k.abs()), None),
        }

    return Case("attention backward causal f16", memory, run, wanted)


def _decode(heads=3, length=150, width=32, share=64):
    half, parts = torch.float16, 3

    def memory(make):
        return {
            "q": make.normal(heads, 1, width, dtype=half),
            **{x: make.normal(heads, length, width, dtype=half) for x in "kv"},
            "part_out": unwritten(heads, parts, width),
            "part_lse": unwritten(heads, parts),
            "out": unwritten(heads, 1, width, dtype=half),
        }

    def run(m):
        names = ("q", "k", "v", "part_out", "part_lse")
        sizes = (length, LOG2E / width**0.5, share)
        decode_part[(heads, parts)](*(m[n] for n in names), *sizes, 32, width, num_warps=2)
        decode_merge[(heads,)](m["part_out"], m["part_lse"], m["out"], parts, 4, width, num_warps=1)

    def wanted(m):
        return {"out": rounded(_truth(m["q"], m["k"], m["v"], False)[0])}

    scratch = ("part_out", "part_lse")
    return Case("attention of one query in parts f16", memory, run, wanted, scratch=scratch)


def cases():
    half, bfloat = torch.float16, torch.bfloat16
    return [
        _forward("f16", half, 2, 50, 32, False, 32, 32, "ieee", 2.0**-11),
        _forward("causal f16", half, 2, 77, 16, True, 16, 32, "ieee", 2.0**-11, num_stages=2),
        _forward("causal bf16", bfloat, 1, 65, 32, True, 32, 16, "ieee", 2.0**-8, num_warps=2),
        _forward("tf32", torch.float32, 1, 40, 16, False, 16, 16, "tf32", 2.0**-8, num_warps=2),
        _backward(),
        _decode(),
    ]
