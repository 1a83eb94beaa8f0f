"""Products that programs share out: split along k, persistent, and one queue of tiles."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.kernels.matmul import product
from tests.triton.making import unwritten, zeros
from tests.triton.wanted import dotted, exact


@triton.jit
def tile_product(
    a, b, row, column, m, n, k, begin, end, tile_k: tl.constexpr,
    tile_m: tl.constexpr, tile_n: tl.constexpr,
):  # fmt: skip
    """[tile_m, tile_n] the products of k from begin to end."""
    sums = tl.zeros((tile_m, tile_n), tl.float32)
    for first in range(begin, end, tile_k):
        depth = first + tl.arange(0, tile_k)
        in_a = (row[:, None] < m) & (depth[None, :] < end)
        in_b = (depth[:, None] < end) & (column[None, :] < n)
        left = tl.load(a + row[:, None] * k + depth[None, :], in_a, other=0.0)
        right = tl.load(b + depth[:, None] * n + column[None, :], in_b, other=0.0)
        sums = tl.dot(left, right, sums)
    return sums


@triton.jit
def split_k(
    a, b, parts, m, n, k, share, atomic: tl.constexpr,
    tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr,
):  # fmt: skip
    """Each program of a tile takes a share of k: into its own part, or added to one result."""
    row = tl.program_id(0) * tile_m + tl.arange(0, tile_m)
    column = tl.program_id(1) * tile_n + tl.arange(0, tile_n)
    begin = tl.program_id(2) * share
    end = min(begin + share, k)
    sums = tile_product(a, b, row, column, m, n, k, begin, end, tile_k, tile_m, tile_n)
    inside = (row[:, None] < m) & (column[None, :] < n)
    if atomic:
        tl.atomic_add(parts + row[:, None] * n + column[None, :], sums, inside)
    else:
        part = parts + tl.program_id(2) * m * n
        tl.store(part + row[:, None] * n + column[None, :], sums, inside)


@triton.jit
def add_parts(parts, c, size, count, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    total = tl.zeros((tile,), tl.float32)
    for part in range(count):
        total += tl.load(parts + part * size + at, at < size, other=0.0)
    tl.store(c + at, total, at < size)


@triton.jit
def persistent(
    a, b, c, m, n, k, programs: tl.constexpr,
    tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr,
):  # fmt: skip
    """A fixed number of programs, each of which goes from tile to tile."""
    wide = tl.cdiv(n, tile_n)
    for tile in tl.range(tl.program_id(0), tl.cdiv(m, tile_m) * wide, programs):
        row = tile // wide * tile_m + tl.arange(0, tile_m)
        column = tile % wide * tile_n + tl.arange(0, tile_n)
        sums = tile_product(a, b, row, column, m, n, k, 0, k, tile_k, tile_m, tile_n)
        inside = (row[:, None] < m) & (column[None, :] < n)
        tl.store(c + row[:, None] * n + column[None, :], sums.to(c.dtype.element_ty), inside)


@triton.jit
def queued(
    a, b, c, next_tile, taken, m, n, k,
    tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr,
):  # fmt: skip
    """Programs take the next tile from a counter, until there is none left."""
    wide = tl.cdiv(n, tile_n)
    tiles = tl.cdiv(m, tile_m) * wide
    tile = tl.atomic_add(next_tile, 1)
    while tile < tiles:
        row = tile // wide * tile_m + tl.arange(0, tile_m)
        column = tile % wide * tile_n + tl.arange(0, tile_n)
        sums = tile_product(a, b, row, column, m, n, k, 0, k, tile_k, tile_m, tile_n)
        inside = (row[:, None] < m) & (column[None, :] < n)
        tl.store(c + row[:, None] * n + column[None, :], sums.to(c.dtype.element_ty), inside)
        tl.atomic_add(taken + tile, 1)
        tile = tl.atomic_add(next_tile, 1)


@triton.jit
def last_one_adds(
    a, b, parts, arrived, c, m, n, k, share, shares,
    tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr,
):  # fmt: skip
    """Split along k; the program that comes last to a tile adds up the parts of all."""
    row = tl.arange(0, tile_m)
    column = tl.program_id(0) * tile_n + tl.arange(0, tile_n)
    part = tl.program_id(1)
    begin = part * share
    sums = tile_product(
        a, b, row, column, m, n, k, begin, min(begin + share, k), tile_k, tile_m, tile_n
    )
    place = row[:, None] * n + column[None, :]
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(parts + part * m * n + place, sums, inside)
    tl.debug_barrier()  # all of the program's part is there before it says so
    if tl.atomic_add(arrived + tl.program_id(0), 1) == shares - 1:
        total = tl.zeros((tile_m, tile_n), tl.float32)
        for other in range(shares):
            total += tl.load(parts + other * m * n + place, inside, other=0.0)
        tl.store(c + place, total, inside)


def _case(name, m, n, k, others, run, talks=True, scratch=()):
    def memory(make):
        inputs = {
            "a": make.normal(m, k, dtype=torch.float16),
            "b": make.normal(k, n, dtype=torch.float16),
        }
        return inputs | others()

    def wanted(of):
        truth = {"c": dotted(*product(of["a"], of["b"]), k)}
        if "taken" in of:
            truth["taken"] = exact(torch.ones_like(of["taken"]))
        return truth

    return Case(f"matmul {name} f16", memory, run, wanted, scratch, talks)


def _in_parts():
    m, n, k, share = 30, 40, 150, 48

    def run(of):
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 32), 4)
        split_k[grid](of["a"], of["b"], of["parts"], m, n, k, share, False, 16, 32, 16, num_warps=2)
        add_parts[(triton.cdiv(m * n, 256),)](of["parts"], of["c"], m * n, 4, 256)

    def others():
        return {"parts": unwritten(4, m, n), "c": unwritten(m, n)}

    return _case("split along k in parts", m, n, k, others, run, False, ("parts",))


def _atomic():
    m, n, k, share = 30, 40, 150, 48

    def run(of):
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 32), 4)
        split_k[grid](of["a"], of["b"], of["c"], m, n, k, share, True, 16, 32, 16, num_warps=2)

    return _case("split along k by atomics", m, n, k, lambda: {"c": zeros(m, n)}, run)


def _persistent():
    m, n, k = 70, 65, 64

    def run(of):
        persistent[(4,)](of["a"], of["b"], of["c"], m, n, k, 4, 16, 32, 32, num_stages=2)

    others = {"c": unwritten(m, n, dtype=torch.float16)}
    return _case("persistent", m, n, k, lambda: {k_: v.clone() for k_, v in others.items()}, run)


def _queued():
    m, n, k = 70, 50, 32

    def run(of):
        names = ("a", "b", "c", "next_tile", "taken")
        queued[(3,)](*(of[x] for x in names), m, n, k, 16, 16, 32, num_warps=2)

    def others():
        return {
            "c": unwritten(m, n, dtype=torch.float16),
            "next_tile": zeros(1, dtype=torch.int32),
            "taken": zeros(20, dtype=torch.int32),
        }

    return _case("from a queue", m, n, k, others, run, True, ("next_tile",))


def _last():
    m, n, k, share = 16, 60, 130, 32

    def run(of):
        names = ("a", "b", "parts", "arrived", "c")
        last_one_adds[(4, 5)](*(of[x] for x in names), m, n, k, share, 5, 16, 16, 32)

    def others():
        return {
            "parts": unwritten(5, m, n),
            "arrived": zeros(4, dtype=torch.int32),
            "c": unwritten(m, n),
        }

    return _case("added up by the last one", m, n, k, others, run, True, ("parts", "arrived"))


def cases():
    return [_in_parts(), _atomic(), _persistent(), _queued(), _last()]
