"""A right answer of another hand: shared memory for every row, a grid by the size of x."""

import math

import torch
from numpy import int32, int64

from harness import cuda

KERNELS = cuda.module(__file__, "kernel.cu").get_function
MEETING = cuda.module(__file__, "kernel.cu", ["-DMEETING"], enable_cooperative_groups=True)
THREADS = 128


def run(name, blocks, *arguments, threads=THREADS, shared=0):
    KERNELS(name)((blocks, 1, 1), (threads, 1, 1), arguments, shared_mem=shared)


def one(x, value=math.nan):
    return x.new_full((1,), value)


def block_sums(kernel, x, threads=256):
    blocks = math.ceil(len(x) / threads)
    sums = x.new_empty(blocks)
    if blocks:
        run(kernel, blocks, x, sums, int32(len(x)), threads=threads, shared=threads * x.itemsize)
    return sums


def held(kernel, x, threads=256):
    values = x.new_empty(math.ceil(len(x) / threads), threads)
    run(kernel, len(values), x, values, int32(len(x)), threads=threads)
    return values


def sum_atomic(x, blocks=264, threads=256):
    out = one(x, 0.0)
    run("sum_atomic", blocks, x, out, int64(len(x)), threads=threads)
    return out


def sum_two_pass(x):
    blocks = 1 if len(x) < 5000 else min(528, len(x) // 2500)
    sums, out = x.new_empty(blocks), one(x)
    run("partial_sums", blocks, x, sums, int64(len(x)))
    run("partial_sums", 1, sums, out, int64(len(sums)), threads=1024)
    return out


def softmax_row(x):
    y = x.new_empty(x.shape)
    rows, columns = x.shape
    if rows and columns:
        shared = (columns + 32) * x.itemsize
        run("softmax_row", rows, x, y, int32(columns), shared=shared)
    return y


def row_argmax(x, threads=128):
    if not x.shape[1]:
        raise ValueError("a row without columns has no largest element")
    most = x.new_empty(len(x))
    where = torch.empty_like(most, dtype=torch.int32)
    if len(x):
        run("row_argmax", len(x), x, most, where, int32(x.shape[1]), threads=threads)
    return most, where


def sum_grid(x, blocks=132, threads=128):
    sums, out = x.new_empty(blocks), one(x)
    MEETING.get_function("sum_grid")((blocks,), (threads,), (x, sums, out, int64(len(x))))
    return out


def atomic_each(x):
    out = one(x, 0.0)
    run("atomic_each", math.ceil(len(x) / THREADS), x, out, int32(len(x)))
    return out


def add_as_they_come(parts):
    out, before = one(parts, 0.0), parts.new_empty(len(parts))
    run("add_as_they_come", len(parts), parts, out, before, threads=32)
    return out, before
