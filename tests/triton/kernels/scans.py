"""Scans and reductions, built in and with functions of the kernel's own."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten
from tests.triton.wanted import exact, rounded, summed


@triton.jit
def cumulative(x, sums, backwards, products, columns, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    v = tl.load(x + row * columns + at, inside, 0.0)
    tl.store(sums + row * columns + at, tl.cumsum(v, 0), inside)
    tl.store(backwards + row * columns + at, tl.cumsum(v, 0, reverse=True), inside)
    near_one = tl.where(inside, 1.0 + v * 0.0625, 1.0)
    tl.store(products + row * columns + at, tl.cumprod(near_one, 0), inside)


@triton.jit
def cumulative_whole(x, out, rows, height: tl.constexpr, width: tl.constexpr):
    """Down the columns of a tile of whole numbers."""
    row, column = tl.arange(0, height)[:, None], tl.arange(0, width)[None, :]
    v = tl.load(x + row * width + column, row < rows, 0)
    tl.store(out + row * width + column, tl.cumsum(v, 0), row < rows)


@triton.jit
def _step(a, x, b, y):
    """One affine map after another: h -> b (a h + x) + y."""
    return a * b, x * b + y


@triton.jit
def recurrence(decay, x, h, columns, tile: tl.constexpr):
    """h[t] = decay[t] h[t - 1] + x[t], as a scan of affine maps."""
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    a = tl.load(decay + row * columns + at, inside, 1.0)
    b = tl.load(x + row * columns + at, inside, 0.0)
    _, state = tl.associative_scan((a, b), 0, _step)
    tl.store(h + row * columns + at, state, inside)


@triton.jit
def _greater(value, index, other, other_index):
    """The greater one; of equal ones that which comes first."""
    first = (value > other) | ((value == other) & (index < other_index))
    return tl.where(first, value, other), tl.where(first, index, other_index)


@triton.jit
def greatest(x, built_in, own, least, running, columns, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    v = tl.load(x + row * columns + at, inside, -float("inf"))
    tl.store(built_in + row, tl.argmax(v, 0))
    _, index = tl.reduce((v, at), 0, _greater)
    tl.store(own + row, index)
    tl.store(least + row, tl.argmin(tl.where(inside, v, float("inf")), 0))
    _, so_far = tl.associative_scan((v, at), 0, _greater)
    tl.store(running + row * columns + at, so_far, inside)


@triton.jit
def _merged(count, mean, square, count_b, mean_b, square_b):
    """Welford's counts, means and sums of squares of two sets, of both together."""
    both = count + count_b
    part = tl.where(both > 0, count_b / both, 0.0)
    away = mean_b - mean
    return both, mean + away * part, square + square_b + away * away * count * part


@triton.jit
def welford(x, mean, variance, columns, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    v = tl.load(x + row * columns + at, inside, 0.0)
    ones = tl.where(inside, 1.0, 0.0)
    count, middle, square = tl.reduce((ones, v, tl.zeros_like(v)), 0, _merged)
    tl.store(mean + row, middle)
    tl.store(variance + row, square / count)


@triton.jit
def _both_bits(a, b):
    return a & b


@triton.jit
def bitwise(x, out, size: tl.constexpr):
    """Reductions of whole numbers: exclusive or, sum, greatest, least, and one of its own."""
    v = tl.load(x + tl.program_id(0) * size + tl.arange(0, size))
    out += tl.program_id(0) * 5
    tl.store(out, tl.xor_sum(v, 0))
    tl.store(out + 1, tl.sum(v, 0))
    tl.store(out + 2, tl.max(v, 0))
    tl.store(out + 3, tl.min(v, 0))
    tl.store(out + 4, tl.reduce(v, 0, _both_bits))


@triton.jit
def long_cumsum(x, out, n, tile: tl.constexpr):
    """A row longer than a tile, with what came before carried along."""
    carried = 0.0
    for first in range(0, n, tile):
        at = first + tl.arange(0, tile)
        v = tl.load(x + at, at < n, 0.0)
        tl.store(out + at, carried + tl.cumsum(v, 0), at < n)
        carried += tl.sum(v, 0)


def _cumulative(rows=7, columns=300):
    outputs = ("sums", "backwards", "products")

    def memory(make):
        return {"x": make.rows(rows, columns).clamp(-4, 4)} | {
            name: unwritten(rows, columns) for name in outputs
        }

    def run(m):
        cumulative[(rows,)](m["x"], *(m[n] for n in outputs), columns, 512)

    def wanted(m):
        x = m["x"].double()
        back = x.flip(1)
        products = (1 + x * 0.0625).cumprod(1)
        return {
            "sums": summed(x.cumsum(1), x.abs().cumsum(1), 16),
            "backwards": summed(back.cumsum(1).flip(1), back.abs().cumsum(1).flip(1), 16),
            "products": rounded(products, 1.0, columns * 2.0**-23 * products, 0.0),
        }

    return Case("cumulative sums and products", memory, run, wanted)


def _whole():
    def memory(make):
        x = make.integers(27, 16, low=-(2**30), high=2**30)
        return {"x": x, "out": unwritten(27, 16, dtype=torch.int32)}

    def run(m):
        cumulative_whole[(1,)](m["x"], m["out"], 27, 32, 16, num_warps=2)

    def wanted(m):
        return {"out": exact(m["x"].cumsum(0).to(torch.int32))}  # wraps

    return Case("cumulative sums of integers", memory, run, wanted)


def _recurrence(rows=5, columns=200):
    def memory(make):
        decay = make.uniform(rows, columns, low=0.5, high=1.0)
        return {"decay": decay, "x": make.normal(rows, columns), "h": unwritten(rows, columns)}

    def run(m):
        recurrence[(rows,)](m["decay"], m["x"], m["h"], columns, 256, num_warps=2)

    def states(decay, x):
        h = torch.zeros(rows, dtype=torch.float64)
        every = []
        for t in range(columns):
            h = decay[:, t] * h + x[:, t]
            every.append(h)
        return torch.stack(every, 1)

    def wanted(m):
        decay, x = m["decay"].double(), m["x"].double()
        return {"h": summed(states(decay, x), states(decay, x.abs()), 40)}

    return Case("linear recurrence by a scan", memory, run, wanted)


def _greatest(rows=9, columns=230):
    outputs = ("built_in", "own", "least")

    def memory(make):
        x = make.integers(rows, columns, low=-20, high=20, dtype=torch.float32)  # many ties
        every = {name: unwritten(rows, dtype=torch.int32) for name in outputs}
        return {"x": x, **every, "running": unwritten(rows, columns, dtype=torch.int32)}

    def run(m):
        greatest[(rows,)](m["x"], *(m[n] for n in (*outputs, "running")), columns, 256)

    def first(x):
        return x.double().sub(torch.arange(x.shape[-1]) * 1e-6).argmax(-1).to(torch.int32)

    def wanted(m):
        so_far = [first(m["x"][:, : t + 1]) for t in range(columns)]
        return {
            "built_in": exact(first(m["x"])),
            "own": exact(first(m["x"])),
            "least": exact(first(-m["x"])),
            "running": exact(torch.stack(so_far, 1)),
        }

    return Case("argmax with ties, three ways", memory, run, wanted)


def _welford(rows=8, columns=150):
    def memory(make):
        return {"x": make.rows(rows, columns), **{n: unwritten(rows) for n in ("mean", "variance")}}

    def run(m):
        welford[(rows,)](m["x"], m["mean"], m["variance"], columns, 256)

    def wanted(m):
        x = m["x"].double()
        return {
            "mean": summed(x.mean(1), x.abs().mean(1), 32, apart=4.0),
            "variance": rounded(x.var(1, correction=0), 32.0, apart=4.0),
        }

    return Case("welford by a reduction", memory, run, wanted)


def _bitwise():
    def memory(make):
        x = make.integers(6, 256, low=-(2**31), high=2**31) | 0x40
        return {"x": x, "out": unwritten(6, 5, dtype=torch.int32)}

    def run(m):
        bitwise[(6,)](m["x"], m["out"], 256)

    def wanted(m):
        x = m["x"]
        either, both = torch.zeros(6, dtype=torch.int32), torch.full((6,), -1, dtype=torch.int32)
        for column in x.unbind(1):
            either, both = either ^ column, both & column
        parts = (either, x.sum(1).to(torch.int32), x.amax(1), x.amin(1), both)
        return {"out": exact(torch.stack(parts, 1))}

    return Case("reductions of integers", memory, run, wanted)


def _long(n=1000):
    def wanted(m):
        x = m["x"].double()
        return {"out": summed(x.cumsum(0), x.abs().cumsum(0), 32)}

    return Case(
        "cumulative sum of a long row",
        lambda make: {"x": make.normal(n), "out": unwritten(n)},
        lambda m: long_cumsum[(1,)](m["x"], m["out"], n, 256, num_warps=8),
        wanted,
    )


def cases():
    return [
        _cumulative(), _whole(), _recurrence(), _greatest(), _welford(), _bitwise(), _long()
    ]  # fmt: skip
