"""Whole numbers: division of both signs, 64 bits, single bits, and loops that they decide."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.triton.cases import Case
from tests.triton.making import unwritten, whole
from tests.triton.wanted import exact

SIZE, TILE = 700, 256


@triton.jit
def divide(x, y, quotient, remainder, n, tile: tl.constexpr):
    """Towards zero, as in C; the remainder has the sign of x."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside), tl.load(y + at, inside, 1)
    tl.store(quotient + at, a // b, inside)
    tl.store(remainder + at, a % b, inside)


@triton.jit
def wide(x, y, product, high, mixed, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside), tl.load(y + at, inside)
    tl.store(product + at, a * b - (a >> 7) + (b << 3), inside)
    low_a, low_b = a.to(tl.uint32), b.to(tl.uint32)
    tl.store(high + at, tl.umulhi(low_a, low_b).to(tl.int64), inside)
    tl.store(mixed + at, tl.where(a < b, tl.abs(a) ^ b, ~a & b | 5), inside)


@triton.jit
def single_bits(x, ones, zeros_above, reversed_, rotated, swapped, n, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    v = tl.load(x + at, inside)
    tl.store(ones + at, libdevice.popc(v), inside)
    tl.store(zeros_above + at, libdevice.clz(v), inside)
    tl.store(reversed_ + at, libdevice.brev(v), inside)
    u = v.to(tl.uint32, bitcast=True)
    tl.store(rotated + at, ((u << 5) | (u >> 27)).to(tl.int32, bitcast=True), inside)
    bytes_ = (u >> 24) | ((u >> 8) & 0xFF00) | ((u << 8) & 0xFF0000) | (u << 24)
    tl.store(swapped + at, bytes_.to(tl.int32, bitcast=True), inside)


@triton.jit
def float_bits(x, exponent, mantissa, back, n, tile: tl.constexpr):
    """A float32 taken apart and put together again."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    word = tl.load(x + at, inside).to(tl.int32, bitcast=True)
    power, fraction = ((word >> 23) & 0xFF) - 127, word & 0x7FFFFF
    tl.store(exponent + at, power.to(tl.int16), inside)
    tl.store(mantissa + at, fraction, inside)
    word = (word & (-2147483647 - 1)) | ((power + 127) << 23) | fraction
    tl.store(back + at, word.to(tl.float32, bitcast=True), inside)


@triton.jit
def collatz(x, steps):
    """A program a number: how many steps to 1."""
    v, count = tl.load(x + tl.program_id(0)), 0
    while v != 1:
        v = tl.where(v % 2 == 0, v // 2, 3 * v + 1)
        count += 1
    tl.store(steps + tl.program_id(0), count)


@triton.jit
def greatest_divisor(x, y, out, n, tile: tl.constexpr):
    """Euclid's, for a tile together: until no lane has anything left."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    a, b = tl.load(x + at, inside, 1), tl.load(y + at, inside, 1)
    while tl.max(b, 0) > 0:
        rest = a % tl.where(b > 0, b, 1)
        a, b = tl.where(b > 0, b, a), tl.where(b > 0, rest, 0)
    tl.store(out + at, a, inside)


def _unsigned(make, bits):
    signed, unsigned = (torch.int32, torch.uint32) if bits == 32 else (torch.int64, torch.uint64)
    half = 2 ** (bits - 1)
    return make.integers(SIZE, low=-half, high=half - 1, dtype=signed).view(unsigned)


def _divide(dtype):
    signed = dtype.is_signed

    def memory(make):
        if not signed:
            x, y = _unsigned(make, 32), (make.integers(SIZE, low=1, high=2**31) >> 9).view(dtype)
        else:
            half = 2 ** (torch.iinfo(dtype).bits - 1)
            x = make.integers(SIZE, low=-half + 1, high=half - 1, dtype=dtype)
            y = make.integers(SIZE, low=1, high=half - 1, dtype=dtype)
            y = y >> make.integers(SIZE, low=0, high=torch.iinfo(dtype).bits - 1, dtype=dtype)
            y = torch.where(y == 0, 1, y) * torch.where(x % 3 == 0, -1, 1).to(dtype)
        outputs = {n: unwritten(SIZE, dtype=dtype) for n in ("quotient", "remainder")}
        return {"x": x, "y": y} | outputs

    def run(m):
        names = ("x", "y", "quotient", "remainder")
        divide[(3,)](*(m[n] for n in names), SIZE, TILE)

    def wanted(m):
        pairs = list(zip(m["x"].tolist(), m["y"].tolist(), strict=True))
        quotients = [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs]
        rests = [a - q * b for (a, b), q in zip(pairs, quotients, strict=True)]
        return {
            "quotient": exact(whole(quotients, dtype)),
            "remainder": exact(whole(rests, dtype)),
        }

    return Case(f"divide {dtype}".replace("torch.", ""), memory, run, wanted)


def _wrapped(numbers):
    """Python's whole numbers as int64 that wraps."""
    return torch.tensor([(n + 2**63) % 2**64 - 2**63 for n in numbers], dtype=torch.int64)


def _wide():
    outputs = ("product", "high", "mixed")

    def memory(make):
        x, y = (_unsigned(make, 64).view(torch.int64) for _ in range(2))
        return {"x": x, "y": y, **{n: unwritten(SIZE, dtype=torch.int64) for n in outputs}}

    def run(m):
        wide[(3,)](m["x"], m["y"], *(m[n] for n in outputs), SIZE, TILE)

    def wanted(m):
        pairs = list(zip(m["x"].tolist(), m["y"].tolist(), strict=True))
        low = 2**32 - 1
        truth = {
            "product": [a * b - (a >> 7) + (b << 3) for a, b in pairs],
            "high": [((a & low) * (b & low)) >> 32 for a, b in pairs],
            "mixed": [abs(a) ^ b if a < b else ~a & b | 5 for a, b in pairs],
        }
        return {name: exact(_wrapped(numbers)) for name, numbers in truth.items()}

    return Case("arithmetic of 64 bits", memory, run, wanted)


def _single_bits():
    outputs = ("ones", "zeros_above", "reversed_", "rotated", "swapped")

    def memory(make):
        x = _unsigned(make, 32).view(torch.int32) >> make.integers(SIZE, low=0, high=31)
        return {"x": x} | {n: unwritten(SIZE, dtype=torch.int32) for n in outputs}

    def run(m):
        single_bits[(3,)](m["x"], *(m[n] for n in outputs), SIZE, TILE)

    def wanted(m):
        words = [n & 0xFFFFFFFF for n in m["x"].tolist()]
        truth = {
            "ones": [w.bit_count() for w in words],
            "zeros_above": [32 - w.bit_length() for w in words],
            "reversed_": [int(f"{w:032b}"[::-1], 2) for w in words],
            "rotated": [(w << 5 | w >> 27) & 0xFFFFFFFF for w in words],
            "swapped": [int.from_bytes(w.to_bytes(4, "little"), "big") for w in words],
        }
        return {name: exact(torch.tensor(numbers).int()) for name, numbers in truth.items()}

    return Case("single bits", memory, run, wanted)


def _float_bits():
    def memory(make):
        return {
            "x": make.normal(SIZE) * 2.0 ** make.uniform(SIZE, low=-40, high=40),
            "exponent": unwritten(SIZE, dtype=torch.int16),
            "mantissa": unwritten(SIZE, dtype=torch.int32),
            "back": unwritten(SIZE),
        }

    def run(m):
        names = ("x", "exponent", "mantissa", "back")
        float_bits[(3,)](*(m[n] for n in names), SIZE, TILE)

    def wanted(m):
        mantissa, exponent = torch.frexp(m["x"].abs().double())
        fraction = ((2 * mantissa - 1) * 2**23).int()
        return {
            "exponent": exact((exponent - 1).short()),
            "mantissa": exact(fraction),
            "back": exact(m["x"]),
        }

    return Case("bits of a float", memory, run, wanted)


def _collatz(count=60):
    def steps(n):
        taken = 0
        while n != 1:
            n, taken = n // 2 if n % 2 == 0 else 3 * n + 1, taken + 1
        return taken

    return Case(
        "collatz, a loop for each program",
        lambda make: {
            "x": make.integers(count, low=1, high=200),
            "steps": unwritten(count, dtype=torch.int32),
        },
        lambda m: collatz[(count,)](m["x"], m["steps"], num_warps=1),
        lambda m: {"steps": exact(torch.tensor([steps(n) for n in m["x"].tolist()]).int())},
    )


def _greatest_divisor():
    def memory(make):
        inputs = {name: make.integers(SIZE, low=1, high=10_000) for name in "xy"}
        return inputs | {"out": unwritten(SIZE, dtype=torch.int32)}

    def run(m):
        greatest_divisor[(3,)](m["x"], m["y"], m["out"], SIZE, TILE)

    return Case(
        "greatest common divisor of a tile",
        memory,
        run,
        lambda m: {"out": exact(torch.gcd(m["x"], m["y"]))},
    )


def cases():
    return [
        *(_divide(t) for t in (torch.int32, torch.int64, torch.uint32, torch.int8)),
        _wide(),
        _single_bits(),
        _float_bits(),
        _collatz(),
        _greatest_divisor(),
    ]
