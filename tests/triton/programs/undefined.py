"""Values that nobody has given: masked loads without other=, and fresh memory."""

import torch
import triton
import triton.language as tl

from simulator import FaultKind
from tests.triton.programs.program import counted, right, wrong

UNDEFINED = FaultKind.UNDEFINED_VALUE
X = counted(100)


def row():
    return {"x": X.clone(), "y": torch.zeros(1), "n": 100, "BLOCK": 128}


# What the mask leaves out has no value, and the sum takes it in.
@wrong(UNDEFINED, (1,), row, place="y[0]", advice="other=")
@triton.jit
def summed_without_other(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)  # origin
    tl.store(y, tl.sum(value, axis=0))  # fault


@right((1,), row, {"y": X.sum()[None]})
@triton.jit
def summed_with_other(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n, other=0.0)
    tl.store(y, tl.sum(value, axis=0))


@right((1,), row, {"y": X.sum()[None]})
@triton.jit
def summed_where_the_mask_holds(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(y, tl.sum(tl.where(offsets < n, value, 0.0), axis=0))


# A maximum takes in what the mask leaves out.
@wrong(UNDEFINED, (1,), row, place="y[0]", advice="float('-inf')")
@triton.jit
def maximum_without_other(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)  # origin
    tl.store(y, tl.max(value, axis=0))  # fault


@right((1,), lambda: row() | {"y": torch.zeros(100)}, {"y": X + 1})
@triton.jit
def stored_under_the_mask_of_the_load(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(y + offsets, value + 1, mask=offsets < n)


def accumulated():
    return {"x": counted(128), "y": torch.empty(1), "BLOCK": 32}


# Added to a workspace that torch.empty gave and nobody has filled.
@wrong(UNDEFINED, (4,), accumulated, place="y[0]", advice="torch.zeros")
@triton.jit
def added_to_fresh_memory(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y, tl.sum(tl.load(x + offsets), axis=0))  # fault


@right((4,), lambda: accumulated() | {"y": torch.zeros(1)}, {"y": counted(128).sum()[None]})
@triton.jit
def added_to_zeros(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y, tl.sum(tl.load(x + offsets), axis=0))


def workspace():
    return {"x": counted(128), "parts": torch.empty(8), "y": torch.zeros(1), "BLOCK": 32}


# Four of eight places of the workspace are filled, and all eight are added up.
@wrong(UNDEFINED, (1,), workspace, place="y[0]", advice="torch.zeros")
@triton.jit
def half_a_workspace_is_filled(x, parts, y, BLOCK: tl.constexpr):
    for row in range(4):
        tile = tl.load(x + row * BLOCK + tl.arange(0, BLOCK))
        tl.store(parts + row, tl.sum(tile, axis=0))
    tl.debug_barrier()
    value = tl.load(parts + tl.arange(0, 8))  # origin
    tl.store(y, tl.sum(value, axis=0))  # fault


@right((1,), workspace, {"y": counted(128).sum()[None]})
@triton.jit
def what_is_filled_is_read(x, parts, y, BLOCK: tl.constexpr):
    for row in range(4):
        tile = tl.load(x + row * BLOCK + tl.arange(0, BLOCK))
        tl.store(parts + row, tl.sum(tile, axis=0))
    tl.debug_barrier()
    tl.store(y, tl.sum(tl.load(parts + tl.arange(0, 4)), axis=0))


# The program itself says what must hold.
@wrong(
    FaultKind.ASSERTION,
    (2,),
    lambda: {"x": torch.tensor([1.0, -1.0]), "y": torch.zeros(2)},
    place="x is positive",
    advice="tl.device_print",
    options={"debug": True},
)
@triton.jit
def a_false_assertion(x, y):
    me = tl.program_id(0)
    value = tl.load(x + me)
    tl.device_assert(value > 0, "x is positive")  # fault
    tl.store(y + me, tl.sqrt(value))
