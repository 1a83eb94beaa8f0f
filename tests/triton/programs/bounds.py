"""Tiles that reach past a tensor's end, masks that keep them inside, and offsets that overflow."""

import torch
import triton
import triton.language as tl

from simulator import FaultKind
from tests.triton.programs.program import counted, right, wrong

OUTSIDE = FaultKind.OUT_OF_BOUNDS
X = counted(100)


def vectors(n=100):
    return {"x": X.clone(), "y": torch.zeros(100), "n": n, "BLOCK": 32}


# The last program's tile reaches past the end.
@wrong(OUTSIDE, (4,), vectors, place="x[100]; x has 100 elements", advice="mask=offsets < n")
@triton.jit
def unmasked_tail(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets)  # fault
    tl.store(y + offsets, 2 * value, mask=offsets < n)


# The load is masked, and the store is not.
@wrong(OUTSIDE, (4,), vectors, place="y[100]; y has 100 elements", advice="mask=offsets < n")
@triton.jit
def unmasked_store(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n, other=0.0)
    tl.store(y + offsets, 2 * value)  # fault


@right((4,), vectors, {"y": 2 * X})
@triton.jit
def masked_tail(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(y + offsets, 2 * value, mask=offsets < n)


# The mask lets one element too many through.
@wrong(OUTSIDE, (4,), vectors, place="x[100]; x has 100 elements", advice="offsets <= n")
@triton.jit
def one_past_the_end(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets <= n
    value = tl.load(x + offsets, mask=mask, other=0.0)  # fault
    tl.store(y + offsets, 2 * value, mask=mask)


# The neighbour to the left of the first element.
@wrong(OUTSIDE, (4,), vectors, place="x[-1]; x has 100 elements", advice="offsets >= 0")
@triton.jit
def left_of_the_first(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(x + offsets - 1, mask=mask, other=0.0)  # fault
    tl.store(y + offsets, left, mask=mask)


@right((4,), vectors, {"y": torch.cat([torch.zeros(1), X[:-1]])})
@triton.jit
def left_of_each_but_the_first(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x + offsets - 1, mask=(offsets > 0) & (offsets < n), other=0.0)
    tl.store(y + offsets, left, mask=offsets < n)


@triton.jit
def _rows(x, row, width, WIDTH: tl.constexpr):
    columns = tl.arange(0, WIDTH)
    return tl.load(x + row * width + columns)  # fault


# A function of the learner's: the report names its line, and the line that calls it.
@wrong(
    OUTSIDE,
    (10,),
    lambda: {"x": X.clone(), "y": torch.zeros(10), "width": 10, "WIDTH": 16},
    place="x[100]; x has 100 elements",
    advice="mask",
)
@triton.jit
def rows_of_a_function(x, y, width, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    value = _rows(x, row, width, WIDTH)  # called
    tl.store(y + row, tl.sum(value, axis=0))


# The mask looks at rows and forgets columns.
@wrong(
    OUTSIDE,
    (1,),
    lambda: {"x": counted(10, 10), "y": torch.zeros(10, 10), "n": 10, "SIDE": 16},
    place="x[100]; x has 100 elements",
    advice="mask",
)
@triton.jit
def only_rows_are_masked(x, y, n, SIDE: tl.constexpr):
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    value = tl.load(x + row * n + column, mask=row < n, other=0.0)  # fault
    tl.store(y + row * n + column, value, mask=(row < n) & (column < n))


@right(
    (1,),
    lambda: {"x": counted(10, 10), "y": torch.zeros(10, 10), "n": 10, "SIDE": 16},
    {"y": counted(10, 10)},
)
@triton.jit
def rows_and_columns_are_masked(x, y, n, SIDE: tl.constexpr):
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    mask = (row < n) & (column < n)
    value = tl.load(x + row * n + column, mask=mask, other=0.0)
    tl.store(y + row * n + column, value, mask=mask)


ROW = (1 << 29) + 32  # bytes: the fifth row begins beyond 2^31, memory is touched where it is used


def long_rows():
    return {"x": torch.empty(5, ROW, dtype=torch.int8), "length": ROW, "BLOCK": 32}


# Row times length leaves int32: the offset wraps round to a negative one.
@wrong(OUTSIDE, (5,), long_rows, place="x[-2147483", advice=".to(tl.int64)")
@triton.jit
def offset_in_32_bits(x, length, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * length + tl.arange(0, BLOCK)
    tl.store(x + offsets, 1)  # fault


@right((5,), long_rows, {})
@triton.jit
def offset_in_64_bits(x, length, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * length + tl.arange(0, BLOCK)
    tl.store(x + offsets, 1)


# A pointer to a wider type begins where the tensor's second element does.
@wrong(
    FaultKind.MISALIGNED,
    (1,),
    vectors,
    place="8 bytes at byte 4 of x",
    advice="the type that the pointer was cast to",
)
@triton.jit
def wider_from_the_second(x, y, n, BLOCK: tl.constexpr):
    pairs = (x + 1).to(tl.pointer_type(tl.int64))
    value = tl.load(pairs + tl.arange(0, BLOCK))  # fault
    tl.store(y + tl.arange(0, BLOCK), value.to(tl.float32))
