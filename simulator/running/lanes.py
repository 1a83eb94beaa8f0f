"""Sets of lanes that run together, and what is known of each.

A wave is an array of lanes: its blocks one after another, each block padded to whole warps, so
that lane >> 5 is the warp and the array index alone says who a lane is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

WARP = 32
_DEEPEST = 8


class Lanes:
    """Some lanes of a wave, in rising order.

    index  intp [count], or None for all lanes of the wave
    group  of lanes that run apart from all others (`schedule.py`), counted from 1; 0: of none, or
           of several
    """

    __slots__ = (
        "index", "count", "whole", "memo", "parent", "depth", "group",
        "_groups", "_complete", "_rows", "_starts",
    )  # fmt: skip

    def __init__(
        self, index: NDArray[np.intp] | None, whole: int, parent: "Lanes | None" = None
    ) -> None:
        self.index = index
        self.whole = whole  # lanes of the wave
        self.count = whole if index is None else len(index)
        # The set that a branch split, so that its parts find it again; a chain is kept short,
        # or a long loop that lanes leave one by one would keep every set that it ever had.
        self.depth: int = parent.depth + 1 if parent is not None and parent.depth < _DEEPEST else 0
        self.parent = parent if self.depth else None
        self.group: int = parent.group if parent is not None else 0
        self.memo: dict[Any, Any] = {}  # what warp instructions worked out about this set
        self._groups: dict[int, int] = {}
        self._complete: dict[int, bool] = {}
        self._starts: NDArray[np.intp] | None = None
        self._rows: dict[int, tuple[NDArray[np.intp], NDArray[np.intp], int]] = {}

    def indices(self) -> NDArray[np.intp]:
        return np.arange(self.whole, dtype=np.intp) if self.index is None else self.index

    @property
    def warps(self) -> int:
        """How many warps have at least one lane here."""
        return self.groups(WARP)

    def groups(self, size: int) -> int:
        """How many warps, or parts of one with `size` lanes, have at least one lane here."""
        if self.index is None:
            return self.whole // size
        found = self._groups.get(size)
        if found is None:
            if self.complete(size):
                found = self.count // size
            else:
                group = self.index >> (size.bit_length() - 1)
                found = int(np.count_nonzero(group[1:] != group[:-1])) + (self.count > 0)
            self._groups[size] = found
        return found

    def complete(self, size: int) -> bool:
        """Whether all `size` lanes are here of each group that has any: then a row is a group.

        Lanes rise, so it is enough to look at the first and the last of each `size` of them.
        """
        if self.index is None:
            return True
        found = self._complete.get(size)
        if found is None:
            found = self.count % size == 0
            if found:
                first, last = self.index[::size], self.index[size - 1 :: size]
                found = bool(
                    ((first | size - 1) == last).all() and (last - first == size - 1).all()
                )
            self._complete[size] = found
        return found

    def starts(self) -> NDArray[np.intp]:
        """Where each warp that has lanes here begins among them, 0 .. count - 1."""
        if self._starts is None:
            if self.index is None or self.complete(WARP):
                self._starts = np.arange(0, self.count, WARP, dtype=np.intp)
            else:
                warp = self.index >> 5
                begins = np.flatnonzero(warp[1:] != warp[:-1]) + 1
                self._starts = np.concatenate([np.zeros(min(self.count, 1), np.intp), begins])
            self._groups[WARP] = len(self._starts)
        return self._starts

    def warp_numbers(self) -> NDArray[np.intp]:
        """The warps of the wave that have lanes here, in rising order."""
        starts = self.starts()
        numbers: NDArray[np.intp] = (starts if self.index is None else self.index[starts]) >> 5
        return numbers

    def select(self, mask: NDArray[np.bool_]) -> "Lanes":
        """The lanes where mask [count] holds."""
        chosen = np.flatnonzero(mask)
        return Lanes(chosen if self.index is None else self.index.take(chosen), self.whole, self)

    def split(self, mask: NDArray[np.bool_]) -> tuple["Lanes", "Lanes"]:
        return self.select(mask), self.select(~mask)

    def rows(self, values: NDArray[Any], size: int = WARP) -> NDArray[Any]:
        """Values [count] as [groups, size]: each warp (or part of one) a row.

        A lane that is missing repeats one of its group, so that counting distinct
        values over a row gives the same number.
        """
        if self.index is None or self.complete(size):
            return values.reshape(-1, size)
        known = self._rows.get(size)
        if known is None:
            group = self.index >> (size.bit_length() - 1)
            begins = np.empty(self.count, bool)
            begins[0] = True
            np.not_equal(group[1:], group[:-1], out=begins[1:])
            first = np.flatnonzero(begins)
            place = (np.cumsum(begins) - 1) * size + (self.index & size - 1)
            known = self._rows[size] = (first, place, len(first))
        first, place, groups = known
        full = np.empty((groups, size), values.dtype)
        full[:] = values[first][:, None]
        full.reshape(-1)[place] = values
        return full


def merge(sets: list[Lanes]) -> Lanes:
    """The union of disjoint sets; the very set that a branch split, where that is what meets."""
    if len(sets) == 1:
        return sets[0]
    whole = sets[0].whole
    count = sum(s.count for s in sets)
    parent = sets[0].parent
    while parent is not None and parent.count < count:
        parent = parent.parent
    if parent is not None and parent.count == count and all(_descends(s, parent) for s in sets):
        return parent
    if count == whole:
        return Lanes(None, whole)
    if count * 8 > whole:
        mask = np.zeros(whole, bool)
        for s in sets:
            mask[s.index] = True
        merged = Lanes(np.flatnonzero(mask), whole)
    else:
        merged = Lanes(np.sort(np.concatenate([s.indices() for s in sets])), whole)
    if all(s.group == sets[0].group for s in sets):
        merged.group = sets[0].group
    return merged


def _descends(lanes: Lanes, ancestor: Lanes) -> bool:
    step: Lanes | None = lanes
    while step is not None and step is not ancestor:
        step = step.parent
    return step is ancestor
