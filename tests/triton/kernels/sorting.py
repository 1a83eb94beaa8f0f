"""Sort, the greatest few, histograms, and places in a sorted list."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten, zeros
from tests.triton.wanted import exact


@triton.jit
def sort_rows(x, out, columns, descending: tl.constexpr, tile: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    inside = at < columns
    last = -float("inf") if descending else float("inf")
    v = tl.load(x + row * columns + at, inside, last)
    tl.store(out + row * columns + at, tl.sort(v, 0, descending), inside)


@triton.jit
def sort_whole(x, out, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def sort_pairs(key, value, keys, values, tile: tl.constexpr):
    """By key, the number of each behind it: both in one word of 64 bits."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    word = (tl.load(key + at).to(tl.int64) << 32) | tl.load(value + at).to(tl.int64)
    word = tl.sort(word)
    tl.store(keys + at, (word >> 32).to(tl.int32))
    tl.store(values + at, (word & 0xFFFFFFFF).to(tl.int32))


@triton.jit
def top_few(x, out, columns, tile: tl.constexpr, few: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, tile)
    v = tl.load(x + row * columns + at, at < columns, -float("inf"))
    tl.store(out + row * few + tl.arange(0, few), tl.topk(v, few))


@triton.jit
def histogram(x, counts, n, tile: tl.constexpr, bins: tl.constexpr):
    """Each program counts its tile, and adds its counts to those of all."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    mine = tl.histogram(tl.load(x + at, inside, 0), bins, mask=inside)
    tl.atomic_add(counts + tl.arange(0, bins), mine)


@triton.jit
def place_in_list(x, limits, out, n, tile: tl.constexpr, steps: tl.constexpr, count: tl.constexpr):
    """How many limits are below each x, by halving."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    v = tl.load(x + at, at < n, 0.0)
    low = tl.zeros((tile,), tl.int32)
    high = tl.full((tile,), count, tl.int32)
    for _ in tl.static_range(steps):
        middle = (low + high) // 2
        goes_on = low < high
        above = tl.load(limits + middle, goes_on, float("inf")) < v
        low = tl.where(goes_on & above, middle + 1, low)
        high = tl.where(goes_on & ~above, middle, high)
    tl.store(out + at, low, at < n)


def _sort(name, rows, columns, tile, descending, dtype=torch.float32):
    return Case(
        f"sort {name}",
        lambda make: {
            "x": make.rows(rows, columns, dtype),
            "out": unwritten(rows, columns, dtype=dtype),
        },
        lambda m: sort_rows[(rows,)](m["x"], m["out"], columns, descending, tile, num_warps=1),
        lambda m: {"out": exact(m["x"].sort(1, descending=descending).values)},
    )


def _sort_whole():
    dtype = torch.int32
    return Case(
        "sort integers",
        lambda make: {
            "x": make.integers(3, 256, low=-(2**31), high=2**31),
            "out": unwritten(3, 256, dtype=dtype),
        },
        lambda m: sort_whole[(3,)](m["x"], m["out"], 256),
        lambda m: {"out": exact(m["x"].sort(1).values)},
    )


def _sort_pairs():
    def memory(make):
        return {
            "key": make.integers(2, 64, low=-9, high=9),
            "value": torch.stack([make.permutation(64) for _ in range(2)]),
            **{name: unwritten(2, 64, dtype=torch.int32) for name in ("keys", "values")},
        }

    def run(m):
        names = ("key", "value", "keys", "values")
        sort_pairs[(2,)](*(m[n] for n in names), 64, num_warps=2)

    def wanted(m):
        words = ((m["key"].long() << 32) | m["value"].long()).sort(1).values
        return {
            "keys": exact((words >> 32).int()),
            "values": exact((words & 0xFFFFFFFF).int()),
        }

    return Case("sort pairs", memory, run, wanted)


def _top_few():
    return Case(
        "the greatest eight",
        lambda make: {"x": make.normal(7, 100), "out": unwritten(7, 8)},
        lambda m: top_few[(7,)](m["x"], m["out"], 100, 128, 8, num_warps=2),
        lambda m: {"out": exact(m["x"].topk(8, 1).values)},
    )


def _histogram(n=3000, bins=64):
    def memory(make):
        x = make.integers(n, low=0, high=bins) & make.integers(n, low=0, high=bins)
        return {"x": x, "counts": zeros(bins, dtype=torch.int32)}

    def wanted(m):
        return {"counts": exact(torch.bincount(m["x"], minlength=bins).int())}

    def run(m):
        histogram[(triton.cdiv(n, 512),)](m["x"], m["counts"], n, 512, bins)

    return Case("histogram", memory, run, wanted, talks=True)


def _place(n=500, count=40):
    def memory(make):
        limits = make.normal(count).sort().values
        return {"x": make.normal(n), "limits": limits, "out": unwritten(n, dtype=torch.int32)}

    def run(m):
        place_in_list[(4,)](m["x"], m["limits"], m["out"], n, 128, 6, count)

    def wanted(m):
        return {"out": exact(torch.searchsorted(m["limits"], m["x"]).int())}

    return Case("place in a sorted list", memory, run, wanted)


def cases():
    return [
        _sort("ascending", 5, 100, 128, False),
        _sort("descending f16", 4, 63, 64, True, torch.float16),
        _sort_whole(),
        _sort_pairs(),
        _top_few(),
        _histogram(),
        _place(),
    ]
