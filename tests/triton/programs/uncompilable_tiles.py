# ruff: noqa: F821, F841  (that is what is wrong with some)
"""Refused for their tiles: shapes, dtypes, pointers and masks that do not go together."""

import triton
import triton.language as tl

from tests.triton.programs.refused import refused


@refused("tl.dot(a, a): the tiles are too small", "tiles of 16")
@triton.jit
def dot_too_small(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, 4)
    a = tl.load(x + o[:, None] * 4 + o[None, :])
    tl.store(y + o[:, None] * 4 + o[None, :], tl.dot(a, a))  # error


@refused("a tile of 100 elements: 100 is no power of two", "tl.arange(0, 128), and mask=")
@triton.jit
def range_of_100(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, 100)  # error
    tl.store(y + o, tl.load(x + o))


@refused(
    "n is known only when the kernel runs",
    "tl.arange(0, BLOCK) with BLOCK: tl.constexpr, and mask=offsets < n",
)
@triton.jit
def range_to_a_run_time_value(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, n)  # error
    tl.store(y + o, tl.load(x + o))


@refused("v[3] takes elements out of a tile", "tl.load(pointer + 3)")
@triton.jit
def element_of_a_tile(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, 16))
    tl.store(y, v[3])  # error


@refused("tl.exp of fp16", "tl.exp(v.to(tl.float32))")
@triton.jit
def exp_of_half(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, 16)
    v = tl.load(x + o).to(tl.float16)
    tl.store(y + o, tl.exp(v))  # error


@refused("a + b: 16 and 32 elements along axis 0", "the same offsets")
@triton.jit
def shapes_that_do_not_match(x, y, n, BLOCK: tl.constexpr):
    a = tl.load(x + tl.arange(0, 16))
    b = tl.load(x + tl.arange(0, 32))
    tl.store(y + tl.arange(0, 16), a + b)  # error


@refused("fp8e4nv needs a later GPU", "tl.float8e5")
@triton.jit
def fp8_e4m3(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, 16)
    v = tl.load(x + o).to(tl.float8e4nv)  # error
    tl.store(y + o, v.to(tl.float32))


@refused("fp32 times fp16", "cast the wider one")
@triton.jit
def dot_of_two_dtypes(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, 16)
    at = o[:, None] * 16 + o[None, :]
    a = tl.load(x + at)
    tl.store(y + at, tl.dot(a, a.to(tl.float16)))  # error


@refused("if asks a whole tile", "tl.where")
@triton.jit
def if_on_a_tile(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, 16))
    if v > 0:  # error
        tl.store(y, 1.0)


@refused("tl.load of n + tl.arange(0, 16), which is no pointer", "pass a tensor")
@triton.jit
def load_of_a_number(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(n + tl.arange(0, 16))  # error
    tl.store(y + tl.arange(0, 16), v)


@refused("x[0] takes an element of a pointer", "tl.load(x + 0)")
@triton.jit
def indexing_a_pointer(x, y, n, BLOCK: tl.constexpr):
    y[0] = x[0]  # error


@refused("the operator @ in a kernel", "tl.dot(a, b)")
@triton.jit
def matmul_operator(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, 16)
    a = tl.load(x + o[:, None] * 16 + o[None, :])
    tl.store(y + o[:, None] * 16 + o[None, :], a @ a)  # error


@refused("16 and 32 elements along axis 0", "the same offsets")
@triton.jit
def mask_of_another_shape(x, y, n, BLOCK: tl.constexpr):
    o = tl.arange(0, 16)
    v = tl.load(x + o, mask=tl.arange(0, 32) < n, other=0.0)  # error
    tl.store(y + o, v)


@refused("n is known only when the kernel runs", "BLOCK: tl.constexpr")
@triton.jit
def zeros_of_a_run_time_size(x, y, n, BLOCK: tl.constexpr):
    v = tl.zeros((n,), tl.float32)  # error
    tl.store(y, tl.sum(v))


@refused("a whole tile is stored to one address", "pointer + offsets")
@triton.jit
def store_of_a_tile_to_a_scalar(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x + tl.arange(0, 16)))  # error


@refused("the tile has no axis 1", "axis=0")
@triton.jit
def sum_over_a_missing_axis(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, tl.sum(tl.load(x + tl.arange(0, 16)), axis=1))  # error


@refused("x + y: cannot add pointers together", "load what the pointer points to")
@triton.jit
def sum_of_two_pointers(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, x + y)  # error


@refused("a mask of many elements for one address", "pointer + offsets")
@triton.jit
def a_tile_as_mask_of_a_number(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x, mask=tl.arange(0, BLOCK) < n))  # error


@refused("other= without mask=", "mask=offsets < n")
@triton.jit
def other_without_a_mask(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, tl.load(x, other=0.0))  # error


@refused("v[0:8] takes elements out of a tile", "mask the rest")
@triton.jit
def a_slice_of_a_tile(x, y, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, 16))
    tl.store(y + tl.arange(0, 8), v[0:8])  # error
