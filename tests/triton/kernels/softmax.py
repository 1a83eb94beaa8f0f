"""Softmax of rows: a row a program, several rows a program, and rows longer than a tile."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.kernels.elementwise import short
from tests.triton.making import unwritten
from tests.triton.wanted import rounded


@triton.jit
def softmax_row(x, out, columns, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    v = tl.load(x + row * columns + at, at < columns, -float("inf"))
    v = v if v.dtype == tl.float64 else v.to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + at, (e / tl.sum(e, 0)).to(out.dtype.element_ty), at < columns)


@triton.jit
def softmax_rows(x, out, rows, columns, height: tl.constexpr, width: tl.constexpr):
    row = tl.program_id(0) * height + tl.arange(0, height)[:, None]
    column = tl.arange(0, width)[None, :]
    inside = (row < rows) & (column < columns)
    v = tl.load(x + row * columns + column, inside, -float("inf")).to(tl.float32)
    v = tl.where(row < rows, v, 0.0)  # no row of -inf alone: its difference would be NaN
    e = tl.exp(v - tl.max(v, 1)[:, None])
    e = tl.where(column < columns, e, 0.0)
    tl.store(out + row * columns + column, e / tl.sum(e, 1)[:, None], inside)


@triton.jit
def softmax_online(x, out, columns, tile: tl.constexpr):
    """The maximum and the sum in one pass over the row, the output in a second one."""
    row, at = tl.program_id(0), tl.arange(0, tile)
    greatest, total = -float("inf"), 0.0
    for first in range(0, columns, tile):
        inside = first + at < columns
        v = tl.load(x + row * columns + first + at, inside, -float("inf")).to(tl.float32)
        higher = tl.maximum(greatest, tl.max(v, 0))
        total = total * tl.exp(greatest - higher) + tl.sum(tl.exp(v - higher), 0)
        greatest = higher
    for first in range(0, columns, tile):
        inside = first + at < columns
        v = tl.load(x + row * columns + first + at, inside, -float("inf")).to(tl.float32)
        tl.store(out + row * columns + first + at, tl.exp(v - greatest) / total, inside)


@triton.jit
def log_softmax(x, out, columns, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    v = tl.load(x + row * columns + at, at < columns, -float("inf"))
    v = v - tl.max(v, 0)
    tl.store(out + row * columns + at, v - tl.log(tl.sum(tl.exp(v), 0)), at < columns)


@triton.jit
def softmax_backward(y, dy, dx, columns, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    p = tl.load(y + row * columns + at, at < columns, 0.0).to(tl.float32)
    g = tl.load(dy + row * columns + at, at < columns, 0.0).to(tl.float32)
    tl.store(dx + row * columns + at, p * (g - tl.sum(p * g, 0)), at < columns)


def _case(name, dtype, rows, columns, launch, truth=torch.softmax, slack=None):
    # exp(v - m) takes up the rounding of (v - m) log2(e), which is in proportion to v - m.
    unit = 2.0**-52 if dtype == torch.float64 else 2.0**-23
    apart = 4.0 if dtype == torch.float32 else 1.0  # ex2.approx, and a division on top of it

    def wanted(m):
        x = m["x"].double()
        value = truth(x, 1)
        small = unit * value * (8 + (x - x.amax(1, keepdim=True)).abs())
        return {"out": rounded(value, 1.0, small if slack is None else slack, apart)}

    return Case(
        f"{name} {short(dtype)}",
        lambda make: {
            "x": make.rows(rows, columns, dtype),
            "out": unwritten(rows, columns, dtype=dtype),
        },
        lambda m: launch(m["x"], m["out"]),
        wanted,
    )


def _rows(tile, **options):
    return lambda x, out: softmax_row[(len(x),)](x, out, x.shape[1], tile, **options)


def _backward():
    def memory(make):
        return {
            "y": make.rows(19, 300, torch.float32).softmax(1).half(),
            "dy": make.rows(19, 300, torch.float16),
            "dx": unwritten(19, 300, dtype=torch.float16),
        }

    def wanted(m):
        p, g = m["y"].double(), m["dy"].double()
        size = p * (g.abs() + (p * g).abs().sum(1, keepdim=True))
        return {"dx": rounded(p * (g - (p * g).sum(1, keepdim=True)), 1.0, 2.0**-20 * size, 0.0)}

    def run(m):
        softmax_backward[(19,)](m["y"], m["dy"], m["dx"], 300, 512)

    return Case("softmax backward f16", memory, run, wanted)


def cases():
    half, bfloat, single = torch.float16, torch.bfloat16, torch.float32

    def several(x, out):
        softmax_rows[(triton.cdiv(len(x), 8),)](x, out, *x.shape, 8, 64)

    def online(x, out):
        softmax_online[(len(x),)](x, out, x.shape[1], 128, num_warps=2)

    def logarithm(x, out):
        log_softmax[(len(x),)](x, out, x.shape[1], 128, num_warps=1)

    return [
        _case("softmax row", half, 21, 500, _rows(512)),
        _case("softmax row", bfloat, 21, 1000, _rows(1024, num_warps=8)),
        _case("softmax row", single, 13, 101, _rows(128, num_warps=1)),
        _case("softmax row", torch.float64, 5, 37, _rows(64, num_warps=1)),
        _case("softmax of several rows", single, 27, 49, several),
        _case("softmax online", half, 9, 437, online),
        _case("log softmax", single, 11, 97, logarithm, torch.log_softmax, slack=2.0**-19),
        _backward(),
    ]
