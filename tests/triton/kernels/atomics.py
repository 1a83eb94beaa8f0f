"""Atomic updates of every kind and type, with many lanes at one place."""

import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.kernels.elementwise import short
from tests.triton.making import unwritten, whole, zeros
from tests.triton.wanted import exact

SIZE, TILE, PLACES = 500, 128, 6


@triton.jit
def add_up(x, place, out, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    tl.atomic_add(out + tl.load(place + at, inside, 0), tl.load(x + at, inside), inside)


@triton.jit
def extremes(x, place, least, greatest, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    v, to = tl.load(x + at, inside), tl.load(place + at, inside, 0)
    tl.atomic_min(least + to, v, inside)
    tl.atomic_max(greatest + to, v, inside)


@triton.jit
def combine_bits(x, place, both, either, one, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    v, to = tl.load(x + at, inside), tl.load(place + at, inside, 0)
    tl.atomic_and(both + to, v, inside)
    tl.atomic_or(either + to, v, inside)
    tl.atomic_xor(one + to, v, inside)


@triton.jit
def tickets(counter, seen, n, tile: tl.constexpr):
    """Each lane draws a number of its own, and marks it."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    drawn = tl.atomic_add(counter + at * 0, 1, at < n, sem="relaxed")
    tl.store(seen + drawn, 1, at < n)


@triton.jit
def exchange(x, out, old, n, tile: tl.constexpr):
    """Every element has a place of its own: what was there comes back."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    before = tl.atomic_xchg(out + at, tl.load(x + at, inside), inside)
    tl.store(old + at, before, inside)


@triton.jit
def compare_and_swap(expected, new, out, old, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    before = tl.atomic_cas(out + at, tl.load(expected + at), tl.load(new + at))
    tl.store(old + at, before)


@triton.jit
def add_by_swapping(x, total, n):
    """A program adds its number by compare and swap, until nobody has come in between."""
    v = tl.load(x + tl.program_id(0))
    held = tl.load(total, volatile=True)
    before = tl.atomic_cas(total, held, held + v)
    while before != held:
        held = before
        before = tl.atomic_cas(total, held, held + v)


@triton.jit
def under_a_lock(x, lock, total, n):
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    tl.store(total, tl.load(total) * 3 + tl.load(x + tl.program_id(0)) * 0 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release")


def _programs():
    return (triton.cdiv(SIZE, TILE),)


def _place(make):
    return make.integers(SIZE, low=0, high=PLACES)


def _add(dtype):
    """Whole numbers whose sums the type holds: the same in any order."""
    most = {torch.float16: 5, torch.bfloat16: 2}.get(dtype, 1000)

    def memory(make):
        x = make.integers(SIZE, low=-most + 1, high=most, dtype=dtype)
        return {"x": x, "place": _place(make), "out": zeros(PLACES, dtype=dtype)}

    def wanted(m):
        whole = torch.zeros(PLACES, dtype=torch.float64)
        return {"out": exact(whole.index_add(0, m["place"], m["x"].double()).to(dtype))}

    def run(m):
        add_up[_programs()](m["x"], m["place"], m["out"], SIZE, TILE)

    return Case(f"atomic add {short(dtype)}", memory, run, wanted, talks=True)


def _extremes(dtype):
    make_one = torch.tensor if dtype.is_floating_point else whole
    info = torch.finfo if dtype.is_floating_point else torch.iinfo
    low, high = info(dtype).min, info(dtype).max
    signed = {torch.uint32: torch.int32, torch.uint64: torch.int64}.get(dtype, dtype)

    def memory(make):
        if dtype.is_floating_point:
            x = make.normal(SIZE, dtype=dtype)
        elif signed == torch.int64:
            x = make.integers(SIZE, low=-(2**62), high=2**62, dtype=torch.int64).view(dtype)
        else:
            x = make.integers(SIZE, low=-(2**31), high=2**31).view(dtype)
        least, greatest = (make_one([start] * PLACES, dtype=dtype) for start in (high, low))
        return {"x": x, "place": _place(make), "least": least, "greatest": greatest}

    def wanted(m):
        x, place = m["x"].numpy(), m["place"].numpy()
        groups = [x[place == p].tolist() for p in range(PLACES)]
        return {
            "least": exact(make_one([min(g) for g in groups], dtype=dtype)),
            "greatest": exact(make_one([max(g) for g in groups], dtype=dtype)),
        }

    def run(m):
        names = ("x", "place", "least", "greatest")
        extremes[_programs()](*(m[n] for n in names), SIZE, TILE)

    return Case(f"atomic min and max {short(dtype)}", memory, run, wanted, talks=True)


def _bits(dtype):
    size = torch.iinfo(dtype).bits - 1

    def memory(make):
        x = make.integers(SIZE, low=-(2**size), high=2**size - 1, dtype=dtype)
        return {
            "x": x | 1 << 3,
            "place": _place(make),
            "both": torch.full((PLACES,), -1, dtype=dtype),
            "either": zeros(PLACES, dtype=dtype),
            "one": zeros(PLACES, dtype=dtype),
        }

    def wanted(m):
        truth = {name: m[name].clone() for name in ("both", "either", "one")}
        for v, p in zip(m["x"], m["place"].tolist(), strict=True):
            truth["both"][p] &= v
            truth["either"][p] |= v
            truth["one"][p] ^= v
        return {name: exact(value) for name, value in truth.items()}

    def run(m):
        names = ("x", "place", "both", "either", "one")
        combine_bits[_programs()](*(m[n] for n in names), SIZE, TILE)

    return Case(f"atomic and, or, xor {short(dtype)}", memory, run, wanted, talks=True)


def _tickets():
    def memory(make):
        return {name: zeros(n, dtype=torch.int32) for name, n in (("counter", 1), ("seen", SIZE))}

    def wanted(m):
        return {
            "counter": exact(torch.tensor([SIZE], dtype=torch.int32)),
            "seen": exact(torch.ones(SIZE, dtype=torch.int32)),
        }

    def run(m):
        tickets[_programs()](m["counter"], m["seen"], SIZE, TILE)

    return Case("tickets from a counter", memory, run, wanted, talks=True)


def _exchange(dtype):
    def memory(make):
        x = make.integers(SIZE, low=-99, high=99, dtype=dtype)
        return {"x": x, "out": x.flip(0).contiguous(), "old": unwritten(SIZE, dtype=dtype)}

    def run(m):
        exchange[_programs()](m["x"], m["out"], m["old"], SIZE, TILE)

    return Case(
        f"atomic exchange {short(dtype)}",
        memory,
        run,
        lambda m: {"out": exact(m["x"]), "old": exact(m["out"])},
    )


def _swap(dtype, size=256):
    def memory(make):
        out = make.integers(size, low=0, high=3, dtype=dtype)
        return {
            "expected": make.integers(size, low=0, high=3, dtype=dtype),
            "new": make.integers(size, low=50, high=99, dtype=dtype),
            "out": out,
            "old": unwritten(size, dtype=dtype),
        }

    def wanted(m):
        after = torch.where(m["out"] == m["expected"], m["new"], m["out"])
        return {"out": exact(after), "old": exact(m["out"])}

    def run(m):
        compare_and_swap[(2,)](*(m[n] for n in ("expected", "new", "out", "old")), TILE)

    return Case(f"atomic compare and swap {short(dtype)}", memory, run, wanted)


def _by_swapping(programs=40):
    def memory(make):
        return {
            "x": make.integers(programs, low=-99, high=99, dtype=torch.int64),
            "total": zeros(1, dtype=torch.int64),
        }

    return Case(
        "sum by compare and swap",
        memory,
        lambda m: add_by_swapping[(programs,)](m["x"], m["total"], programs, num_warps=1),
        lambda m: {"total": exact(m["x"].sum().view(1))},
        talks=True,
    )


def _locked(programs=17):
    def memory(make):
        zero = {name: zeros(1, dtype=torch.int32) for name in ("lock", "total")}
        return {"x": make.integers(programs, low=0, high=9)} | zero

    return Case(
        "steps under a lock",
        memory,
        lambda m: under_a_lock[(programs,)](m["x"], m["lock"], m["total"], programs, num_warps=2),
        lambda m: {
            "lock": exact(m["lock"]),
            "total": exact(torch.tensor([(3**programs - 1) // 2], dtype=torch.int64).int()),
        },
        talks=True,
    )


def cases():
    return [
        *(
            _add(t)
            for t in (
                torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32,
                torch.int64,
            )
        ),
        *(
            _extremes(t)
            for t in (torch.int32, torch.uint32, torch.int64, torch.uint64, torch.float32)
        ),
        _bits(torch.int32),
        _bits(torch.int64),
        _tickets(),
        *(_exchange(t) for t in (torch.int32, torch.int64, torch.float32)),
        *(_swap(t) for t in (torch.int32, torch.int64)),
        _by_swapping(),
        _locked(),
    ]  # fmt: skip
