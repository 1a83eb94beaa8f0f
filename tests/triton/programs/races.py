"""Programs that write where others read or write, and those that rightly do not clash."""

import torch
import triton
import triton.language as tl

from simulator import FaultKind
from tests.triton.programs.program import counted, right, wrong

RACE = FaultKind.RACE
X = counted(128)


def one_sum():
    return {"x": X.clone(), "y": torch.zeros(1), "BLOCK": 32}


# Every program adds to one number, in three steps: what another adds in between is lost.
@wrong(RACE, (4,), one_sum, place="y[0]", advice="Update in one step: tl.atomic_add")
@triton.jit
def added_without_an_atomic(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + offsets), axis=0)
    total = tl.load(y)  # first
    tl.store(y, total + part)  # second


@right((4,), one_sum, {"y": X.sum()[None]})
@triton.jit
def added_by_an_atomic(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y, tl.sum(tl.load(x + offsets), axis=0))


def partial_sums():
    return {"x": X.clone(), "y": torch.zeros(4), "BLOCK": 32}


@right((4,), partial_sums, {"y": X.reshape(4, 32).sum(1)})
@triton.jit
def partial_sums_apart(x, y, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    part = tl.sum(tl.load(x + row * BLOCK + tl.arange(0, BLOCK)), axis=0)
    tl.store(y + row, tl.load(y + row) + part)


def bins():
    return {
        "x": torch.arange(128, dtype=torch.int32) * 5 % 8,
        "counts": torch.zeros(8, dtype=torch.int32),
        "BLOCK": 32,
    }


# Two programs read a bin, both add to what they read: one update is lost.
@wrong(RACE, (4,), bins, place="counts[", advice="Update in one step: tl.atomic_add")
@triton.jit
def lost_updates(x, counts, BLOCK: tl.constexpr):
    for k in range(BLOCK):
        which = tl.load(x + tl.program_id(0) * BLOCK + k)
        tl.store(counts + which, tl.load(counts + which) + 1)  # both


@right((4,), bins, {"counts": torch.full((8,), 16, dtype=torch.int32)})
@triton.jit
def bins_by_an_atomic(x, counts, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + offsets), 1)


def tiles():
    return {"x": X.clone(), "y": torch.zeros(128), "step": 24, "BLOCK": 32}


# Tiles overlap: the programs write their own ids to the same elements.
@wrong(RACE, (4,), tiles, place="y[", advice="keep to its own elements")
@triton.jit
def tiles_overlap(x, y, step, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * step + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.program_id(0) + 0.0 * offsets)  # both


@right((4,), tiles, {"y": torch.cat([2 * X[:104], torch.zeros(24)])})
@triton.jit
def tiles_overlap_with_the_same_values(x, y, step, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * step + tl.arange(0, BLOCK)
    tl.store(y + offsets, 2 * tl.load(x + offsets))


def repeated():
    return {
        "x": X.clone(),
        "at": torch.arange(128, dtype=torch.int32) // 2,
        "y": torch.zeros(64),
        "BLOCK": 128,
    }


# Two elements of one tile are stored to the same address.
@wrong(RACE, (1,), repeated, place="y[", advice="tl.atomic_add")
@triton.jit
def scattered_twice(x, at, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + tl.load(at + offsets), tl.load(x + offsets))  # both


@right((1,), repeated, {"y": X[::2] + X[1::2]})
@triton.jit
def scattered_and_added(x, at, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.atomic_add(y + tl.load(at + offsets), tl.load(x + offsets))


def in_place():
    return {"x": X.clone(), "BLOCK": 128}


# Turned round in place: who holds an element when it is loaded is not who stores there.
@wrong(RACE, (1,), in_place, place="x[", advice="tl.debug_barrier()")
@triton.jit
def reversed_in_place(x, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + BLOCK - 1 - offsets)  # first
    tl.store(x + offsets, value)  # second


@right((1,), in_place, {"x": X.flip(0)})
@triton.jit
def reversed_in_place_behind_a_barrier(x, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + BLOCK - 1 - offsets)
    tl.debug_barrier()
    tl.store(x + offsets, value)


@right((4,), lambda: {"x": X.clone(), "BLOCK": 32}, {"x": 2 * X + 1})
@triton.jit
def in_place_with_tiles_smaller_than_the_threads(x, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, 2 * tl.load(x + offsets) + 1)


@right((4,), partial_sums, {"y": torch.full((4,), 3.0)})
@triton.jit
def one_number_counted_up(x, y, BLOCK: tl.constexpr):
    place = y + tl.program_id(0)
    for _ in range(3):
        tl.store(place, tl.load(place) + 1)
        tl.debug_barrier()


# What one turn has stored the next one loads, and most threads that load it have not stored it.
@wrong(RACE, (4,), partial_sums, place="y[", advice="tl.debug_barrier()")
@triton.jit
def one_number_handed_on_through_memory(x, y, BLOCK: tl.constexpr):
    place = y + tl.program_id(0)
    for _ in range(BLOCK):
        tl.store(place, tl.load(place) + 1)  # both


def scratch():
    return {"x": X.clone(), "scratch": torch.zeros(128), "y": torch.zeros(128), "BLOCK": 128}


# Handed on through memory: nothing makes the load wait for the other threads' stores.
@wrong(RACE, (1,), scratch, place="scratch[", advice="tl.debug_barrier()")
@triton.jit
def through_scratch_without_a_barrier(x, scratch, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(scratch + offsets, tl.load(x + offsets))  # first
    value = tl.load(scratch + BLOCK - 1 - offsets)  # second
    tl.store(y + offsets, value)


@right((1,), scratch, {"y": X.flip(0)})
@triton.jit
def through_scratch_behind_a_barrier(x, scratch, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(scratch + offsets, tl.load(x + offsets))
    tl.debug_barrier()
    tl.store(y + offsets, tl.load(scratch + BLOCK - 1 - offsets))


# Each element takes in its neighbour, which another program may have changed already.
@wrong(
    RACE,
    (4,),
    lambda: {"x": X.clone(), "n": 128, "BLOCK": 32},
    place="x[",
    advice="second launch",
)
@triton.jit
def neighbours_in_place(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    right_of = tl.load(x + offsets + 1, mask=offsets + 1 < n, other=0.0)  # first
    tl.debug_barrier()
    tl.store(x + offsets, right_of)  # second


@triton.jit
def _add_to(place, value):
    tl.store(place, tl.load(place) + value)  # both


# The race is in a function: the report names the line that calls it too.
@wrong(RACE, (4,), one_sum, place="y[0]", advice="Update in one step: tl.atomic_add")
@triton.jit
def added_in_a_function(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    _add_to(y, tl.sum(tl.load(x + offsets), axis=0))  # called


SIDE = 16


def split_product():
    return {
        "a": counted(SIDE, 64) / 64,
        "b": counted(64, SIDE) / 64,
        "c": torch.zeros(SIDE, SIDE),
        "SIDE": SIDE,
        "K": 64,
    }


@triton.jit
def _part_of_a_product(a, b, SIDE: tl.constexpr, K: tl.constexpr):
    row, column = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    k = tl.program_id(0) * SIDE
    left = tl.load(a + row * K + k + column)
    right_of = tl.load(b + (k + row) * SIDE + column)
    return tl.dot(left, right_of, input_precision="ieee")


# Split along k: each program adds its part of the product to the same tile.
@wrong(RACE, (4,), split_product, place="c[", advice="Update in one step: tl.atomic_add")
@triton.jit
def split_k_without_an_atomic(a, b, c, SIDE: tl.constexpr, K: tl.constexpr):
    at = c + tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    part = _part_of_a_product(a, b, SIDE, K)
    tl.store(at, tl.load(at) + part)  # both


@right(
    (4,),
    split_product,
    {"c": (counted(SIDE, 64) / 64) @ (counted(64, SIDE) / 64)},
)
@triton.jit
def split_k_by_an_atomic(a, b, c, SIDE: tl.constexpr, K: tl.constexpr):
    at = c + tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    tl.atomic_add(at, _part_of_a_product(a, b, SIDE, K))
