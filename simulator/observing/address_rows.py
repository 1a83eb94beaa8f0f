"""The addresses of each warp as a row, and sums over rows that look at each kind of row once.

Warps mostly do the same a little further on: their rows are shifted copies of one shape, or of a
few. What a row costs depends on its shape and on where it begins within a sector or a line of
banks, so it is worked out once for each of those; only what has no common shape is looked at row by
row.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.running.addresses import Addresses
from simulator.running.lanes import WARP, Lanes

_SHAPES = 6  # how many are looked for before all rows are looked at
_FEW = 8  # a shape is worth it if one row in so many has it
_LARGEST = np.iinfo(np.int32).max // 2
_CHUNK = 1024  # rows looked at together: what they need stays in the cache

Array = NDArray[Any]
Answers = tuple[Array, ...]  # each [rows]
Question = Callable[[Array], Answers]  # of rows of byte offsets [rows, lanes]


@dataclass(slots=True)
class Rows:
    """Byte offsets of the lanes of each warp, or of each part of one that is served together.

    A lane that is missing has the address of one that is there: most questions are about different
    addresses, and that adds none.
    """

    start: NDArray[np.int64]  # [rows] of the first lane
    shape: Array  # [rows, lanes] from there; int32 where it fits
    alike: bool  # all rows have one shape
    full: bool  # no lane is missing
    _like_first: NDArray[np.bool_] | None = None

    @property
    def like_first(self) -> NDArray[np.bool_]:
        """[rows] which have the shape of the first."""
        if self._like_first is None:
            self._like_first = all_in_row(self.shape == self.shape[0])
        return self._like_first

    def at(self, shift: int, period: int) -> Array:
        """[rows, lanes] moved by whole periods, so that the offsets stay small."""
        begins = ((self.start + shift) % period).astype(self.shape.dtype)
        rows: Array = self.shape + begins[:, None]
        return rows


def rows_of(addresses: Addresses, lanes: Lanes, size: int = WARP) -> Rows:
    """The rows of `size` lanes each; remembered with the addresses."""
    key = ("rows of", size)
    found: Rows | None = addresses.memo.get(key)
    if found is None:
        found = addresses.memo[key] = _made(addresses, lanes, size)
    return found


def _made(addresses: Addresses, lanes: Lanes, size: int) -> Rows:
    if lanes.index is None and addresses.stride is not None:
        first, step = int(addresses.signed[0]) - addresses.origin, addresses.stride
        start = first + size * step * np.arange(lanes.whole // size)
        return Rows(start, step * np.arange(size)[None, :], alike=True, full=True)
    offsets = lanes.rows(addresses.offsets(), size)
    start = offsets[:, 0].copy()
    full = lanes.count == offsets.size
    shape = offsets[:1] - start[0]
    if _alike(offsets, start, shape):
        return Rows(start, shape, alike=True, full=full)
    narrow = addresses.high - addresses.low <= _LARGEST
    shape = np.empty(offsets.shape, np.int32 if narrow else np.int64)
    np.subtract(offsets, start[:, None], out=shape, casting="unsafe")
    return Rows(start, shape, alike=False, full=full)


def _alike(offsets: Array, start: Array, shape: Array) -> bool:
    """Whether all rows have the shape [1, lanes] of the first."""
    for first in range(0, len(offsets), _CHUNK):
        some = slice(first, first + _CHUNK)
        if not (offsets[some] - start[some, None] == shape).all():
            return False
    return True


def summed(rows: Rows, shift: int, period: int, question: Question) -> tuple[int, ...]:
    """The answers to a question, summed over the rows.

    shift     bytes added to every address
    period    a shift by this many bytes changes no answer
    question  asked again, it must be the same object: answers about a shape are remembered
    """
    begins = (rows.start + shift) % period
    if rows.alike:
        return _of_shape(rows.shape[0], begins, question)
    sums: list[tuple[int, ...]] = []
    shape = rows.shape
    for _ in range(_SHAPES):
        same = rows.like_first if shape is rows.shape else all_in_row(shape == shape[0])
        if np.count_nonzero(same) * _FEW < len(shape):
            break
        sums.append(_of_shape(shape[0], begins[same], question))
        shape, begins = shape[~same], begins[~same]
        if not len(shape):
            break
    for first in range(0, len(shape), _CHUNK):
        some = slice(first, first + _CHUNK)
        answers = question(shape[some] + begins[some].astype(shape.dtype)[:, None])
        sums.append(tuple(int(answer.sum()) for answer in answers))
    return tuple(map(sum, zip(*sums, strict=True)))


_KNOWN: dict[tuple[Question, bytes, int], tuple[int, ...]] = {}  # the answers about one row
_MOST_KNOWN = 1 << 14


def _of_shape(shape: Array, begins: NDArray[np.int64], question: Question) -> tuple[int, ...]:
    """shape [lanes] of rows that begin at `begins` [rows]."""
    often = np.bincount(begins)
    kinds = np.flatnonzero(often).tolist()
    as_bytes = shape.tobytes()
    new = [kind for kind in kinds if (question, as_bytes, kind) not in _KNOWN]
    if new:
        if len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.clear()
            new = kinds
        found = question(shape + np.array(new, shape.dtype)[:, None])
        for kind, *each in zip(new, *(answer.tolist() for answer in found), strict=True):
            _KNOWN[question, as_bytes, kind] = tuple(each)
    known = [_KNOWN[question, as_bytes, kind] for kind in kinds]
    counts = often[kinds].tolist()
    return tuple(
        sum(count * answer for count, answer in zip(counts, answers, strict=True))
        for answers in zip(*known, strict=True)
    )


# ---- flags of a row: 8, 16 or 32 of them are 1, 2 or 4 words of 64 bits

_ONES = np.uint64(0x0101_0101_0101_0101)


def count_in_row(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[rows, lanes] -> [rows] how many hold."""
    each = (_by_eight(flags) * _ONES) >> np.uint64(56)  # the sum of the 8 bytes of a word
    return _fold(np.add, each).astype(np.int64)


def all_in_row(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[rows, lanes] -> [rows] whether all hold."""
    found: NDArray[np.bool_] = _fold(np.bitwise_and, _by_eight(flags)) == _ONES
    return found


def _fold(combine: np.ufunc, values: Array) -> Array:
    """[rows, few] -> [rows], column by column: NumPy is slow along short rows."""
    return functools.reduce(combine, values.T)


def _by_eight(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """[rows, lanes] -> [rows, lanes / 8]: eight flags in the bytes of a word."""
    return np.ascontiguousarray(flags).view(np.uint64)
