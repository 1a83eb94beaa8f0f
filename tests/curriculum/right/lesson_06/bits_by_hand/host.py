"""A right answer of another hand: one function starts every kernel."""

import math

import torch
from numpy import int32

from harness import cuda

MODULE = cuda.module(__file__, "kernel.cu")


def start(name, n, block, *arguments, shared=0):
    if not n:
        return
    block = block if isinstance(block, tuple) else (block,)
    blocks = math.ceil(n / math.prod(block))
    scalars = [int32(a) if isinstance(a, int) else a for a in arguments]
    MODULE.get_function(name)((blocks,), block, scalars, shared_mem=shared)


def branch(kernel, x, trips, threads=128):
    y = x.new_empty(x.shape)
    start(kernel, len(x), threads, x, y, len(x), trips)
    return y


def branch_on(condition, x, odd_trips, even_trips):
    y = x.new_empty(x.shape)
    start("branch_on", len(x), 128, condition, x, y, len(x), odd_trips, even_trips)
    return y


def walk(trips):
    y = trips.new_empty(trips.shape)
    start("walk", len(y), 128, trips, y, len(y))
    return y


def collatz_steps(x, cap=10_000, threads=128):
    steps = x.new_empty(x.shape)
    start("collatz_steps", len(x), threads, x, steps, len(x), cap)
    return steps


def vote_count(x, threads=128):
    counts = x.new_empty(math.ceil(len(x) / 32))
    start("vote_count", len(x), threads, x, counts, len(x))
    return counts


def broadcast_first(x, block=(128,)):
    start("broadcast_first", len(x), block, x, len(x))
    return x


def rotate_lanes(x, shift, block=(128,)):
    start("rotate_lanes", len(x), block, x, len(x), shift)
    return x


def settle(x, rounds, threads=128):
    y = x.new_empty(x.shape)
    most = max(rounds.tolist(), default=0)
    start("settle", len(x), threads, x, rounds, y, len(x), most, shared=threads * x.itemsize)
    return y


def warp_compact(x, out, threads=128):
    counts = torch.empty(math.ceil(len(x) / 32), dtype=torch.int32, device=x.device)
    start("warp_compact", len(x), threads, x, out, counts, len(x))
    return counts
