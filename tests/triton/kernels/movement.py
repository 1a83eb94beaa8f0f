"""Elements that change place: transposes, gathers, scatters, and shapes inside a program."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten
from tests.triton.wanted import exact, summed


@triton.jit
def transpose(x, out, rows, columns, height: tl.constexpr, width: tl.constexpr):
    row = tl.program_id(0) * height + tl.arange(0, height)
    column = tl.program_id(1) * width + tl.arange(0, width)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    tile = tl.load(x + row[:, None] * columns + column[None, :], inside)
    inside = (column[:, None] < columns) & (row[None, :] < rows)
    tl.store(out + column[:, None] * rows + row[None, :], tl.trans(tile), inside)


@triton.jit
def permute(x, out, a: tl.constexpr, b: tl.constexpr, c: tl.constexpr):
    """[a, b, c] to [c, a, b]."""
    at = tl.reshape(tl.arange(0, a * b * c), (a, b, c))
    moved = tl.permute(tl.load(x + at), (2, 0, 1))
    tl.store(out + tl.reshape(tl.arange(0, a * b * c), (c, a, b)), moved)


@triton.jit
def shapes(x, y, flipped, woven, parted, joined, gathered, size: tl.constexpr):
    at = tl.arange(0, size)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(flipped + at, tl.flip(a, 0))
    twice = tl.arange(0, 2 * size)
    tl.store(woven + twice, tl.interleave(a, b))
    even, odd = tl.split(tl.reshape(a, (size // 2, 2)))
    half = tl.arange(0, size // 2)
    tl.store(parted + half, even)
    tl.store(parted + size // 2 + half, odd)
    pairs = tl.join(a, b)
    place = at[:, None] * 2 + tl.arange(0, 2)[None, :]
    tl.store(joined + place, pairs)
    tl.store(gathered + at, tl.gather(a, (at * 37 + 11) % size, 0))


@triton.jit
def spread(x, out, rows: tl.constexpr, columns: tl.constexpr):
    """A row's sum beside each of its elements, by reshaping and broadcasting."""
    at = tl.arange(0, rows * columns)
    v = tl.reshape(tl.load(x + at), (rows, columns))
    sums = tl.broadcast_to(tl.sum(v, 1)[:, None], (rows, columns))
    tl.store(out + at, tl.reshape(v * 1000 + sums, (rows * columns,)))


@triton.jit
def embed(table, index, out, width, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    source = tl.load(index + row)
    inside = at < width
    v = tl.load(table + source.to(tl.int64) * width + at, inside)
    tl.store(out + row * width + at, v, inside)


@triton.jit
def embed_backward(gradient, index, of_table, width, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    target = of_table + tl.load(index + row) * width + at
    tl.atomic_add(target, tl.load(gradient + row * width + at, at < width), at < width)


@triton.jit
def scatter(x, place, out, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    tl.store(out + tl.load(place + at, inside, 0), tl.load(x + at, inside), inside)


@triton.jit
def strided(x, out, n, step, offset, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    tl.store(out + at, tl.load(x + offset + at * step, inside, cache_modifier=".cg"), inside)


@triton.jit
def rotate(x, cosine, sine, out, heads, half: tl.constexpr):
    """Rotary embedding: each half of a head turned against the other."""
    position, head, at = tl.program_id(0), tl.program_id(1), tl.arange(0, half)
    start = (position * heads + head) * 2 * half
    a, b = tl.load(x + start + at), tl.load(x + start + half + at)
    c, s = tl.load(cosine + position * half + at), tl.load(sine + position * half + at)
    tl.store(out + start + at, a * c - b * s)
    tl.store(out + start + half + at, b * c + a * s)


def _transpose(dtype, rows=50, columns=70):
    return Case(
        f"transpose {dtype}".replace("torch.", ""),
        lambda make: {
            "x": make.integers(rows, columns, low=0, high=100, dtype=dtype),
            "out": unwritten(columns, rows, dtype=dtype),
        },
        lambda m: transpose[(2, 3)](m["x"], m["out"], rows, columns, 32, 32),
        lambda m: {"out": exact(m["x"].t())},
    )


def _permute():
    return Case(
        "permute three axes",
        lambda make: {"x": make.normal(8, 16, 4), "out": unwritten(4, 8, 16)},
        lambda m: permute[(1,)](m["x"], m["out"], 8, 16, 4),
        lambda m: {"out": exact(m["x"].permute(2, 0, 1))},
    )


def _shapes(size=128):
    sizes = {"flipped": 1, "woven": 2, "parted": 1, "joined": 2, "gathered": 1}

    def memory(make):
        outputs = {name: unwritten(times * size) for name, times in sizes.items()}
        return {"x": make.normal(size), "y": make.normal(size), **outputs}

    def run(m):
        shapes[(1,)](m["x"], m["y"], *(m[name] for name in sizes), size)

    def wanted(m):
        x, y = m["x"], m["y"]
        both = torch.stack((x, y), 1).flatten()
        truth = {
            "flipped": x.flip(0),
            "woven": both,
            "parted": torch.cat((x[::2], x[1::2])),
            "joined": both,
            "gathered": x[(torch.arange(size) * 37 + 11) % size],
        }
        return {name: exact(value) for name, value in truth.items()}

    return Case("flip, interleave, split, join, gather", memory, run, wanted)


def _spread():
    def wanted(m):
        x = m["x"].view(16, 32)
        return {"out": exact((x * 1000 + x.sum(1, keepdim=True)).int().flatten())}

    return Case(
        "broadcast of row sums",
        lambda make: {
            "x": make.integers(512, low=-50, high=50),
            "out": unwritten(512, dtype=torch.int32),
        },
        lambda m: spread[(1,)](m["x"], m["out"], 16, 32),
        wanted,
    )


def _embed(rows=23, width=100, count=40):
    return Case(
        "embedding",
        lambda make: {
            "table": make.normal(count, width, dtype=torch.bfloat16),
            "index": make.integers(rows, low=0, high=count, dtype=torch.int64),
            "out": unwritten(rows, width, dtype=torch.bfloat16),
        },
        lambda m: embed[(rows,)](m["table"], m["index"], m["out"], width, 128),
        lambda m: {"out": exact(m["table"][m["index"]])},
    )


def _embed_backward(rows=40, width=50, count=6):
    def memory(make):
        return {
            "gradient": make.integers(rows, width, low=-99, high=99, dtype=torch.float32),
            "index": make.integers(rows, low=0, high=count),
            "of_table": torch.zeros(count, width),
        }

    def wanted(m):
        whole = torch.zeros(count, width).index_add(0, m["index"].long(), m["gradient"])
        return {"of_table": exact(whole)}

    def run(m):
        names = ("gradient", "index", "of_table")
        embed_backward[(rows,)](*(m[n] for n in names), width, 64, num_warps=2)

    return Case("embedding backward", memory, run, wanted, talks=True)


def _scatter(n=700):
    def memory(make):
        place = make.permutation(n, torch.int64)
        return {"x": make.normal(n), "place": place, "out": unwritten(n)}

    def wanted(m):
        return {"out": exact(torch.empty(n).scatter(0, m["place"], m["x"]))}

    def run(m):
        scatter[(triton.cdiv(n, 256),)](m["x"], m["place"], m["out"], n, 256)

    return Case("scatter by a permutation", memory, run, wanted)


def _strided(n=400, step=3, offset=5):
    return Case(
        "strided copy",
        lambda make: {"x": make.normal(n * step + offset), "out": unwritten(n)},
        lambda m: strided[(2,)](m["x"], m["out"], n, step, offset, 256),
        lambda m: {"out": exact(m["x"][offset::step][:n])},
    )


def _rotate(positions=11, heads=3, half=32):
    def memory(make):
        angle = make.uniform(positions, half, high=6.0)
        return {
            "x": make.grid(positions, heads, 2 * half),
            "cosine": (angle.cos() * 2.0**12).round() * 2.0**-12,
            "sine": (angle.sin() * 2.0**12).round() * 2.0**-12,
            "out": unwritten(positions, heads, 2 * half),
        }

    def run(m):
        names = ("x", "cosine", "sine", "out")
        rotate[(positions, heads)](*(m[n] for n in names), heads, half, num_warps=1)

    def wanted(m):
        a, b = m["x"].double().chunk(2, -1)
        c, s = m["cosine"].double()[:, None], m["sine"].double()[:, None]
        value = torch.cat((a * c - b * s, b * c + a * s), -1)
        size = torch.cat((abs(a * c) + abs(b * s), abs(b * c) + abs(a * s)), -1)
        return {"out": summed(value, size, 1)}

    return Case("rotary embedding", memory, run, wanted)


def cases():
    return [
        _transpose(torch.float32),
        _transpose(torch.int8),
        _permute(),
        _shapes(),
        _spread(),
        _embed(),
        _embed_backward(),
        _scatter(),
        _strided(),
        _rotate(),
    ]
