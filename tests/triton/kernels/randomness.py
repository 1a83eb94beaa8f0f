"""Numbers from Philox: dropout by a seed, whole numbers, and normal ones."""

import numpy as np
import torch
import triton
import triton.language as tl

from tests.triton.cases import Case
from tests.triton.making import unwritten
from tests.triton.wanted import exact, rounded

SEED, SIZE, TILE = 1234567, 777, 256


@triton.jit
def dropout(x, out, n, keep, seed, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    kept = tl.rand(seed, at) < keep
    tl.store(out + at, tl.where(kept, tl.load(x + at, inside) / keep, 0.0), inside)


@triton.jit
def random_integers(out, four, n, seed, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    tl.store(out + at, tl.randint(seed, at), inside)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(four + at, a ^ b ^ c ^ d, inside)


@triton.jit
def random_reals(uniform, normal, n, seed, tile: tl.constexpr):
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    inside = at < n
    tl.store(uniform + at, tl.rand(seed, at), inside)
    tl.store(normal + at, tl.randn(seed, at), inside)


def philox(size, seed, rounds=10):
    """[4][size] uint32: Philox 4x32 of the counters (0 .. size - 1, 0, 0, 0) under a key."""
    c = [np.arange(size, dtype=np.uint64), *np.zeros((3, size), np.uint64)]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(rounds):
        b, a = c[2] * np.uint64(0xCD9E8D57), c[0] * np.uint64(0xD2511F53)
        c = [(b >> half) ^ c[1] ^ key[0], b & low, (a >> half) ^ c[3] ^ key[1], a & low]
        key = [
            (k + np.uint64(bump)) & low
            for k, bump in zip(key, (0x9E3779B9, 0xBB67AE85), strict=True)
        ]
    return [x.astype(np.uint32) for x in c]


def uniform(words):
    """[size] float32 in [0, 1), from 31 of the 32 bits: negative numbers are folded over."""
    whole = words.view(np.int32)
    folded = np.where(whole < 0, -1 - whole, whole)
    return folded.astype(np.float32) * np.float32(4.6566127342e-10)


def _dropout():
    def memory(make):
        return {"x": make.normal(SIZE), "out": unwritten(SIZE)}

    def run(m):
        dropout[(4,)](m["x"], m["out"], SIZE, 0.5, SEED, TILE)

    def wanted(m):
        kept = torch.from_numpy(uniform(philox(SIZE, SEED)[0]) < 0.5)
        return {"out": exact(torch.where(kept, m["x"] / 0.5, 0.0))}

    return Case("dropout", memory, run, wanted)


def _integers():
    def run(m):
        random_integers[(4,)](m["out"], m["four"], SIZE, SEED, TILE)

    def wanted(m):
        words = philox(SIZE, SEED)
        return {
            "out": exact(torch.from_numpy(words[0].view(np.int32))),
            "four": exact(torch.from_numpy(np.bitwise_xor.reduce(words).view(np.int32))),
        }

    def memory(make):
        return {n: unwritten(SIZE, dtype=torch.int32) for n in ("out", "four")}

    return Case("random integers", memory, run, wanted)


def _reals():
    def run(m):
        random_reals[(4,)](m["uniform"], m["normal"], SIZE, SEED, TILE)

    def wanted(m):
        words = philox(SIZE, SEED)
        u, v = (torch.from_numpy(uniform(w)).double() for w in words[:2])
        u = u.clamp(min=1e-7)
        radius = (-2 * u.log()).sqrt()
        normal = radius * (2 * torch.pi * v).cos()
        # log and cos are approximate, and 2 pi v is rounded before its cosine is taken.
        slack = 2.0**-21 * radius + 2.0**-22
        return {
            "uniform": exact(torch.from_numpy(uniform(words[0]))),
            "normal": rounded(normal, 4.0, slack, apart=None),
        }

    def memory(make):
        return {n: unwritten(SIZE) for n in ("uniform", "normal")}

    return Case("random reals", memory, run, wanted)


def cases():
    return [_dropout(), _integers(), _reals()]
