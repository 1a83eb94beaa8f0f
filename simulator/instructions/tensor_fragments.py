"""Which element of a matrix each register of each lane holds: the fragments of tensor cores.

A warp holds a matrix in the registers of its 32 lanes. PTX tells the maps of mma.sync ("Matrix
fragments for mma.m16n8k16" and its like). Those of wmma it keeps to itself; here they are the ones
of the hardware instructions that wmma becomes: tiles of mma.sync side by side.

With g = lane / 4 and t = lane % 4, and a register of 4 bytes that holds `per` elements:

  a, 16 x k   g is the row, 8 rows further in every other register; t the run of `per` columns
  b, k x 8    g is the column; t the run of `per` rows
  c, 16 x 8   g is the row, and the lane holds columns 2 t and 2 t + 1

Matrices of 8 rows have half of it, larger ones several of these one after another. In wmma's
m8n32k16 the matrices change places: what is computed is the transpose.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

BITS = {
    "f64": 64, "f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16,
    "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
}  # fmt: skip
_WORD = 32  # bits
_GROUPS, _IN_GROUP = 8, 4  # of lanes
Index = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Shape:
    """a [m, k] times b [k, n]."""

    m: int
    n: int
    k: int

    @property
    def transposed(self) -> bool:
        """Whether hardware computes the transpose, with a and b in each other's place."""
        return self.m == 8 and self.n > 8


@dataclass(frozen=True)
class Fragment:
    """A matrix [rows, columns] in the registers of a warp.

    row, column  [registers, 32, elements of a register] of the element there
    copies       how often the registers repeat themselves
    turned       it is the transpose that the register tells of: each has 8 of its rows
    """

    rows: int
    columns: int
    row: Index
    column: Index
    copies: int = 1
    turned: bool = False

    @property
    def registers(self) -> int:
        """Of a lane, without the copies."""
        return len(self.row)

    @cached_property
    def tiles(self) -> tuple[tuple[int, int], ...]:
        """Of each register, (from which row its eight come, from which column), turned or not.

        Its lanes hold eight rows, four lanes a row one after another.
        """
        row, column = (self.column, self.row) if self.turned else (self.row, self.column)
        return tuple(zip(row[:, 0, 0].tolist(), column[:, 0, 0].tolist(), strict=True))

    def transposed(self) -> "Fragment":
        return Fragment(
            self.columns, self.rows, self.column, self.row, self.copies, not self.turned
        )


@cache
def operand(which: str, shape: Shape, type_: str, copies: int = 1) -> Fragment:
    """The fragment of matrix "a" or "b"."""
    length = shape.m if which == "a" else shape.n
    tall = (which == "a") != shape.transposed and length >= 16
    fragment = _along_depth(length, shape.k, BITS[type_], 16 if tall else 8, copies)
    return fragment if which == "a" else fragment.transposed()


@cache
def accumulator(shape: Shape, type_: str) -> Fragment:
    """The fragment of matrices c and d."""
    if shape.transposed:
        return accumulator(Shape(shape.n, shape.m, shape.k), type_).transposed()
    halves = min(shape.m, 16) // 8
    tiles = (shape.m // (8 * halves), shape.n // 8)
    low, across, half, group, pair, two = _indices(*tiles, halves, _GROUPS, _IN_GROUP, 2)
    row = (low * halves + half) * 8 + group
    column = across * 8 + 2 * pair + two
    if BITS[type_] < _WORD:  # a pair to a register
        kept = (-1, 32, 2)
        return Fragment(shape.m, shape.n, row.reshape(kept), column.reshape(kept))
    row, column = (
        index.reshape(-1, 32, 2).transpose(0, 2, 1).reshape(-1, 32, 1) for index in (row, column)
    )
    return Fragment(shape.m, shape.n, row, column)


def _along_depth(length: int, depth: int, bits: int, block: int, copies: int) -> Fragment:
    """A matrix [length, depth] whose registers hold elements along the depth.

    block  8 or 16 rows, whose registers come one after another
    """
    per = max(1, _WORD // bits)
    halves = block // 8
    steps = depth // (_IN_GROUP * per)
    high, step, half, group, run, element = _indices(
        length // block, steps, halves, _GROUPS, _IN_GROUP, per
    )
    row = (high * halves + half) * 8 + group
    column = (step * _IN_GROUP + run) * per + element
    return Fragment(length, depth, row.reshape(-1, 32, per), column.reshape(-1, 32, per), copies)


def _indices(*sizes: int) -> list[Index]:
    """Of each place in an array of these sizes, its index along each axis."""
    return [np.ascontiguousarray(index) for index in np.indices(sizes, np.intp)]
