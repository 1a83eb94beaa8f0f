"""Descriptors, grids of three axes, programs that end early, functions, loops, and branches."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten
from tests.triton.wanted import exact, rounded, summed


@triton.jit
def described(x, y, height: tl.constexpr, width: tl.constexpr):
    """Tiles by descriptors of the host: what lies outside reads as 0, and is not written."""
    row, column = tl.program_id(0) * height, tl.program_id(1) * width
    y.store([row, column], x.load([row, column]) * 2)


@triton.jit
def described_here(x, out, rows, columns, height: tl.constexpr, width: tl.constexpr):
    """The same with descriptors that the program makes; the sum of a tile's columns."""
    of_x = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [height, width])
    total = tl.zeros((width,), tl.float32)
    column = tl.program_id(0) * width
    for row in range(0, rows, height):
        total += tl.sum(of_x.load([row, column]).to(tl.float32), 0)
    at = column + tl.arange(0, width)
    tl.store(out + at, total, at < columns)


@triton.jit
def axes(out, a, b):
    """Which program is where, in a grid of three axes."""
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    size_x, size_y = tl.num_programs(0), tl.num_programs(1)
    at = (z * size_y + y) * size_x + x
    tl.store(out + at, x * a + y * b + z + tl.num_programs(2) * 100_000)


@triton.jit
def only_some(x, wanted, out, width, tile: tl.constexpr):
    """Programs whose row nobody wants end at once."""
    row, at = tl.program_id(0), tl.arange(0, tile)
    if tl.load(wanted + row) == 0:
        return
    inside = at < width
    v = tl.load(x + row * width + at, inside, 0.0)
    if tl.sum(v, 0) < 0:
        tl.store(out + row * width + at, -v, inside)
    else:
        tl.store(out + row * width + at, v * 2, inside)


@triton.jit
def _horner(v, factors, degree: tl.constexpr):
    total = tl.zeros_like(v)
    for power in tl.static_range(degree):
        total = total * v + tl.load(factors + power)
    return total


@triton.jit
def polynomials(x, factors, out, n, second: tl.constexpr, tile: tl.constexpr):
    """Functions of the kernel, unrolled loops, and branches that the compiler decides."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    v = tl.load(x + at, inside, 0.0)
    total = _horner(v, factors, 5)
    if second:
        total = tl.maximum(total, _horner(-v, factors + 5, 3))
    tl.store(out + at, total, inside)


@triton.jit
def ragged_sums(values, start, out, tile: tl.constexpr):
    """A program for each segment, as many turns as its length takes."""
    segment = tl.program_id(0)
    at, end = tl.load(start + segment), tl.load(start + segment + 1)
    total = tl.zeros((tile,), tl.float32)
    while at < end:
        place = at + tl.arange(0, tile)
        total += tl.load(values + place, place < end, 0.0)
        at += tile
    tl.store(out + segment, tl.sum(total, 0))


@triton.jit
def stencil(x, out, height, width, tile: tl.constexpr):
    """The mean of five neighbours; outside of the image is 0."""
    row = tl.program_id(1)
    column = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = column < width
    total = tl.load(x + row * width + column, inside, 0.0)
    total += tl.load(x + (row - 1) * width + column, inside & (row > 0), 0.0)
    total += tl.load(x + (row + 1) * width + column, inside & (row < height - 1), 0.0)
    total += tl.load(x + row * width + column - 1, inside & (column > 0), 0.0)
    total += tl.load(x + row * width + column + 1, inside & (column < width - 1), 0.0)
    tl.store(out + row * width + column, total * 0.2, inside)


@triton.jit
def sparse_rows(value, column, start, x, out, tile: tl.constexpr):
    """A sparse matrix, row by row, times a vector."""
    row, at = tl.program_id(0), tl.arange(0, tile)
    begin, end = tl.load(start + row), tl.load(start + row + 1)
    total = tl.zeros((tile,), tl.float64)
    for first in range(begin, end, tile):
        inside = first + at < end
        where = tl.load(column + first + at, inside, 0)
        v = tl.load(value + first + at, inside, 0.0).to(tl.float64)
        total += v * tl.load(x + where, inside, 0.0)
    tl.store(out + row, tl.sum(total, 0))


def _described(rows=50, columns=40):
    from triton.tools.tensor_descriptor import TensorDescriptor

    def run(m):
        x, y = (TensorDescriptor.from_tensor(m[n], [16, 32]) for n in ("x", "y"))
        described[(4, 2)](x, y, 16, 32)

    return Case(
        "tensor descriptors of the host",
        lambda make: {"x": make.normal(rows, columns), "y": unwritten(rows, columns)},
        run,
        lambda m: {"y": exact(m["x"] * 2)},
    )


def _described_here(rows=37, columns=72):
    def run(m):
        device = m["x"].device
        triton.set_allocator(
            lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=device)
        )
        described_here[(3,)](m["x"], m["out"], rows, columns, 16, 32)

    def wanted(m):
        x = m["x"].double()
        return {"out": summed(x.sum(0), x.abs().sum(0), 40)}

    return Case(
        "tensor descriptors of the program",
        lambda make: {
            "x": make.normal(rows, columns, dtype=torch.float16),
            "out": unwritten(columns),
        },
        run,
        wanted,
    )


def _axes(sizes=(3, 5, 4)):
    x, y, z = sizes

    def wanted(m):
        each = [
            i * 1000 + j * 10 + k + z * 100_000
            for k in range(z)
            for j in range(y)
            for i in range(x)
        ]
        return {"out": exact(torch.tensor(each).int())}

    return Case(
        "grid of three axes",
        lambda make: {"out": unwritten(x * y * z, dtype=torch.int32)},
        lambda m: axes[sizes](m["out"], 1000, 10, num_warps=1),
        wanted,
    )


def _only_some(rows=20, width=100):
    def memory(make):
        return {
            "x": make.grid(rows, width),
            "wanted": make.integers(rows, low=0, high=2),
            "out": torch.full((rows, width), 7.0),
        }

    def wanted(m):
        x = m["x"].double()
        value = torch.where(x.sum(1, keepdim=True) < 0, -x, 2 * x).float()
        return {"out": exact(torch.where(m["wanted"][:, None] == 0, m["out"], value))}

    def run(m):
        only_some[(rows,)](m["x"], m["wanted"], m["out"], width, 128)

    return Case("programs that end early", memory, run, wanted)


def _polynomials(n=300):
    def horner(v, factors):
        total = torch.zeros_like(v)
        for factor in factors:
            total = total * v + factor
        return total

    def wanted(m):
        x, f = m["x"].double(), m["factors"].double()
        value = torch.maximum(horner(x, f[:5]), horner(-x, f[5:]))
        size = horner(x.abs(), f[:5].abs()) + horner(x.abs(), f[5:].abs())
        return {"out": rounded(value, 1.0, 8 * 2.0**-24 * size, apart=0.0)}

    return Case(
        "polynomials by functions",
        lambda make: {"x": make.normal(n), "factors": make.normal(8), "out": unwritten(n)},
        lambda m: polynomials[(2,)](m["x"], m["factors"], m["out"], n, True, 256),
        wanted,
    )


def _starts(make, count, most):
    lengths = make.integers(count, low=0, high=most)
    return torch.cat((torch.zeros(1, dtype=torch.int32), lengths.cumsum(0).int()))


def _segments(start):
    return list(zip(start[:-1].tolist(), start[1:].tolist(), strict=True))


def _ragged_sums(count=15):
    def memory(make):
        start = _starts(make, count, 300)
        return {"values": make.normal(int(start[-1])), "start": start, "out": unwritten(count)}

    def wanted(m):
        parts = [m["values"][a:b].double() for a, b in _segments(m["start"])]
        sums = torch.stack([p.sum() for p in parts])
        return {"out": summed(sums, torch.stack([p.abs().sum() for p in parts]), 16)}

    def run(m):
        ragged_sums[(count,)](m["values"], m["start"], m["out"], 64, num_warps=2)

    return Case("sums of segments", memory, run, wanted)


def _stencil(height=9, width=150):
    def wanted(m):
        kernel = torch.tensor([[0.0, 1, 0], [1, 1, 1], [0, 1, 0]]).double()[None, None]
        x = m["x"].double()[None, None]
        value, size = (
            torch.nn.functional.conv2d(v, kernel, padding=1)[0, 0] * 0.2 for v in (x, x.abs())
        )
        return {"out": summed(value, size, 6)}

    def run(m):
        stencil[(2, height)](m["x"], m["out"], height, width, 128)

    return Case(
        "stencil",
        lambda make: {"x": make.normal(height, width), "out": unwritten(height, width)},
        run,
        wanted,
    )


def _sparse(rows=30, columns=200):
    def memory(make):
        start = _starts(make, rows, 90)
        count = int(start[-1])
        return {
            "value": make.normal(count),
            "column": make.integers(count, low=0, high=columns),
            "start": start,
            "x": make.normal(columns, dtype=torch.float64),
            "out": unwritten(rows, dtype=torch.float64),
        }

    def wanted(m):
        terms = m["value"].double() * m["x"][m["column"].long()]
        parts = [terms[a:b] for a, b in _segments(m["start"])]
        sums = torch.stack([p.sum() for p in parts])
        size = torch.stack([p.abs().sum() for p in parts])
        return {"out": summed(sums, size, 16, unit=2.0**-53)}

    def run(m):
        names = ("value", "column", "start", "x", "out")
        sparse_rows[(rows,)](*(m[n] for n in names), 32, num_warps=1)

    return Case("sparse matrix times vector f64", memory, run, wanted)


def cases():
    return [
        _described(),
        _described_here(),
        _axes(),
        _only_some(),
        _polynomials(),
        _ragged_sums(),
        _stencil(),
        _sparse(),
    ]
