"""Layer norm and RMS norm, forward; backward in two passes, and with locks."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten, zeros
from tests.triton.wanted import rounded, summed

EPSILON = 1e-5
DIVIDED = 2.0  # ulps: a plain division of float32 is div.full, which is not rounded once


@triton.jit
def layer_norm(x, w, b, out, mean, rstd, columns, epsilon, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    v = tl.load(x + row * columns + at, inside, 0.0).to(tl.float32)
    middle = tl.sum(v, 0) / columns
    away = tl.where(inside, v - middle, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(away * away, 0) / columns + epsilon)
    tl.store(mean + row, middle)
    tl.store(rstd + row, scale)
    y = away * scale * tl.load(w + at, inside) + tl.load(b + at, inside)
    tl.store(out + row * columns + at, y, inside)


@triton.jit
def rms_norm(x, w, out, rstd, columns, epsilon, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    v = tl.load(x + row * columns + at, inside, 0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 0) / columns + epsilon)
    tl.store(rstd + row, scale)
    tl.store(out + row * columns + at, v * scale * tl.load(w + at, inside, 0.0), inside)


@triton.jit
def rms_norm_backward(
    x, w, dy, rstd, dx, partial, rows, columns, height: tl.constexpr, tile: tl.constexpr
):
    """The gradient of the input; of the weight, the sum over the rows of this program."""
    program, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    weight = tl.load(w + at, inside, 0.0).to(tl.float32)
    total = tl.zeros((tile,), tl.float32)
    for row in range(program * height, min(program * height + height, rows)):
        v = tl.load(x + row * columns + at, inside, 0.0).to(tl.float32)
        g = tl.load(dy + row * columns + at, inside, 0.0).to(tl.float32)
        scale = tl.load(rstd + row)
        unit, wg = v * scale, weight * g
        along = tl.sum(unit * wg, 0) / columns
        tl.store(dx + row * columns + at, (wg - unit * along) * scale, inside)
        total += g * unit
    tl.store(partial + program * columns + at, total, inside)


@triton.jit
def column_sums(partial, out, rows, columns, height: tl.constexpr, width: tl.constexpr):
    column = tl.program_id(0) * width + tl.arange(0, width)
    total = tl.zeros((height, width), tl.float32)
    for first in range(0, rows, height):
        row = first + tl.arange(0, height)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        total += tl.load(partial + row[:, None] * columns + column[None, :], inside, 0.0)
    tl.store(out + column, tl.sum(total, 0), column < columns)


@triton.jit
def layer_norm_backward_locked(
    x, w, dy, mean, rstd, dx, dw, db, locks, counts, columns, groups, tile: tl.constexpr
):
    """Rows of a group add to one row of sums, one after another, under a lock."""
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    v = tl.load(x + row * columns + at, inside, 0.0).to(tl.float32)
    g = tl.load(dy + row * columns + at, inside, 0.0).to(tl.float32)
    scale = tl.load(rstd + row)
    unit = tl.where(inside, (v - tl.load(mean + row)) * scale, 0.0)
    wg = tl.load(w + at, inside, 0.0).to(tl.float32) * g
    along, middle = tl.sum(unit * wg, 0) / columns, tl.sum(wg, 0) / columns
    tl.store(dx + row * columns + at, (wg - (unit * along + middle)) * scale, inside)
    group = row % groups
    dw_row, db_row = dw + group * columns + at, db + group * columns + at
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    of_weight, of_bias = g * unit, g
    if tl.load(counts + group) == 0:
        tl.store(counts + group, 1)
    else:
        of_weight += tl.load(dw_row, inside, 0.0)
        of_bias += tl.load(db_row, inside, 0.0)
    tl.store(dw_row, of_weight, inside)
    tl.store(db_row, of_bias, inside)
    tl.debug_barrier()  # all of the program's stores come before the lock is given back
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def group_norm(x, out, channels_of_group, positions, epsilon, tile: tl.constexpr):
    """A program for each group of channels of a [group, channels x positions] image."""
    first = tl.program_id(0) * channels_of_group * positions
    at = tl.arange(0, tile)
    inside = at < channels_of_group * positions
    v = tl.load(x + first + at, inside, 0.0)
    n = (channels_of_group * positions).to(tl.float32)
    middle = tl.sum(v, 0) / n
    away = tl.where(inside, v - middle, 0.0)
    tl.store(out + first + at, away * tl.rsqrt(tl.sum(away * away, 0) / n + epsilon), inside)


def _inputs(make, rows, columns, dtype):
    return {
        "x": make.rows(rows, columns, dtype),
        "w": (1 + make.normal(columns, scale=0.3)).to(dtype),
        "b": make.normal(columns, dtype=dtype),
    }


def _forward(dtype, rows, columns, tile, **options):
    def memory(make):
        return {
            **_inputs(make, rows, columns, dtype),
            "out": unwritten(rows, columns, dtype=dtype),
            "mean": unwritten(rows),
            "rstd": unwritten(rows),
        }

    def run(m):
        names = ("x", "w", "b", "out", "mean", "rstd")
        layer_norm[(rows,)](*(m[n] for n in names), columns, EPSILON, tile, **options)

    def wanted(m):
        x, w, b = (m[n].double() for n in "xwb")
        mean, size = x.mean(1, keepdim=True), x.abs().mean(1, keepdim=True)
        rstd = ((x - mean).square().mean(1, keepdim=True) + EPSILON).rsqrt()
        slack = 2.0**-21 * (rstd * w.abs() * (x.abs() + size) + b.abs())
        return {
            "out": rounded((x - mean) * rstd * w + b, 1.0, slack, apart=None),
            "mean": summed(mean[:, 0], size[:, 0], 16, apart=DIVIDED),
            "rstd": rounded(rstd[:, 0], 8.0, apart=4.0),
        }

    return Case(f"layer norm {dtype}".replace("torch.", ""), memory, run, wanted)


def _rms(rows, columns, tile):
    bfloat = torch.bfloat16

    def memory(make):
        inputs = _inputs(make, rows, columns, bfloat)
        outputs = {"out": unwritten(rows, columns, dtype=bfloat), "rstd": unwritten(rows)}
        return {"x": inputs["x"], "w": inputs["w"], **outputs}

    def run(m):
        rms_norm[(rows,)](m["x"], m["w"], m["out"], m["rstd"], columns, EPSILON, tile)

    def wanted(m):
        x, w = m["x"].double(), m["w"].double()
        rstd = (x.square().mean(1, keepdim=True) + EPSILON).rsqrt()
        return {"out": rounded(x * rstd * w), "rstd": rounded(rstd[:, 0], 8.0, apart=2.0)}

    return Case("rms norm bfloat16", memory, run, wanted)


def _rms_backward(rows, columns, tile, height=6):
    programs = triton.cdiv(rows, height)

    def memory(make):
        inputs = _inputs(make, rows, columns, torch.float16)
        x = inputs["x"].double()
        return {
            "x": inputs["x"],
            "w": inputs["w"],
            "dy": make.rows(rows, columns, torch.float16),
            "rstd": (x.square().mean(1) + EPSILON).rsqrt().float(),
            "dx": unwritten(rows, columns, dtype=torch.float16),
            "partial": unwritten(programs, columns),
            "dw": unwritten(columns),
        }

    def run(m):
        names = ("x", "w", "dy", "rstd", "dx", "partial")
        rms_norm_backward[(programs,)](*(m[n] for n in names), rows, columns, height, tile)
        columns_each = (triton.cdiv(columns, 32),)
        column_sums[columns_each](m["partial"], m["dw"], programs, columns, 4, 32, num_warps=2)

    def wanted(m):
        x, w, dy, rstd = (m[n].double() for n in ("x", "w", "dy", "rstd"))
        unit, wg = x * rstd[:, None], w * dy
        along = (unit * wg).mean(1, keepdim=True)
        size = (unit * wg).abs().mean(1, keepdim=True)
        slack = 2.0**-20 * rstd[:, None] * (wg.abs() + unit.abs() * size)
        return {
            "dx": rounded((wg - unit * along) * rstd[:, None], 1.0, slack),
            "dw": summed((dy * unit).sum(0), (dy * unit).abs().sum(0), rows),
        }

    return Case(
        "rms norm backward in two passes", memory, run, wanted, scratch=("partial",)
    )


def _locked(rows, columns, tile, groups=5):
    def memory(make):
        inputs = _inputs(make, rows, columns, torch.float32)
        x = inputs["x"].double()
        return {
            "x": inputs["x"],
            "w": inputs["w"],
            "dy": make.rows(rows, columns),
            "mean": x.mean(1).float(),
            "rstd": (x.var(1, correction=0) + EPSILON).rsqrt().float(),
            "dx": unwritten(rows, columns),
            "dw": unwritten(groups, columns),
            "db": unwritten(groups, columns),
            "locks": zeros(groups, dtype=torch.int32),
            "counts": zeros(groups, dtype=torch.int32),
        }

    def run(m):
        names = ("x", "w", "dy", "mean", "rstd", "dx", "dw", "db", "locks", "counts")
        layer_norm_backward_locked[(rows,)](*(m[n] for n in names), columns, groups, tile)

    def wanted(m):
        x, w, dy, mean, rstd = (m[n].double() for n in ("x", "w", "dy", "mean", "rstd"))
        unit, wg = (x - mean[:, None]) * rstd[:, None], w * dy
        along, size = ((f(unit * wg)).mean(1, keepdim=True) for f in (torch.clone, torch.abs))
        middle, middles = wg.mean(1, keepdim=True), wg.abs().mean(1, keepdim=True)
        slack = 2.0**-20 * rstd[:, None] * (wg.abs() + unit.abs() * size + middles)
        of_group = [(slice(g, None, groups), g) for g in range(groups)]
        sums = {
            name: (
                torch.stack([v[rows_].sum(0) for rows_, _ in of_group]),
                torch.stack([v[rows_].abs().sum(0) for rows_, _ in of_group]),
            )
            for name, v in (("dw", dy * unit), ("db", dy))
        }
        return {
            "dx": rounded((wg - unit * along - middle) * rstd[:, None], 1.0, slack, apart=None),
            # Whoever has the lock first adds first: the bits are those of one order of several.
            **{n: summed(*both, 2 * rows // groups, apart=None) for n, both in sums.items()},
        }

    scratch = ("locks", "counts")
    name = "layer norm backward with locks"
    return Case(name, memory, run, wanted, scratch=scratch, talks=True)


def _group_norm():
    def run(m):
        group_norm[(12,)](m["x"], m["out"], 3, 49, EPSILON, 256, num_warps=2)

    def wanted(m):
        x = m["x"].double()
        mean = x.mean(1, keepdim=True)
        rstd = (x.var(1, correction=0, keepdim=True) + EPSILON).rsqrt()
        slack = 2.0**-21 * rstd * (x.abs() + x.abs().mean(1, keepdim=True))
        return {"out": rounded((x - mean) * rstd, 1.0, slack, apart=None)}

    return Case(
        "group norm float32",
        lambda make: {"x": make.rows(12, 147), "out": unwritten(12, 147)},
        run,
        wanted,
    )


def cases():
    return [
        _forward(torch.float32, 9, 200, 256),
        _forward(torch.float16, 17, 433, 512),
        _rms(23, 1000, 1024),
        _rms_backward(31, 211, 256),
        _locked(37, 100, 128),
        _group_norm(),
    ]
