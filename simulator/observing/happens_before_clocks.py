"""What threads learn through flags: for each thread of the grid, the last moment that is known.

A clock of that kind for each of a million threads would be too much, and few are ever looked at.
So a clock is a number that stands for how it came about: somebody's release, the releases that a
word has gathered, or two clocks joined. It is worked out, for whole blocks and for those threads
that are ahead of their block, only when an access asks.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simulator.observing.happens_before_meetings import Known

NOTHING = 0  # the clock that knows nobody
_KEPT_BYTES = 1 << 26  # of clocks that are worked out
Clock = NDArray[np.int32]  # numbers of clocks


@dataclass(frozen=True, slots=True)
class Item:
    """A write to a word that released something, or none that did.

    clock  what it released
    wide   other blocks see it as well
    block  whose it is
    """

    clock: int
    wide: bool
    block: int


@dataclass(slots=True, eq=False)
class History:
    """The releases that a word has gathered: from a store through the updates that follow it.

    first  block -> place of its first item
    """

    items: list[Item] = field(default_factory=list)
    all_wide: bool = True
    first: dict[int, int] = field(default_factory=dict)

    def add(self, item: Item) -> None:
        self.first.setdefault(item.block, len(self.items))
        self.items.append(item)
        self.all_wide &= item.wide


@dataclass(frozen=True, slots=True)
class _Release:
    """What a thread knows.

    known  of the own block; a number: of each of its threads, but for
    own    (thread, moment)
    """

    block: int
    known: Known | int
    own: tuple[int, int] | None
    views: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Join:
    views: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Prefix:
    """The first `count` items of a history, as a block sees them.

    block  that looks; None: all items are wide, so it does not matter
    own    only items of the same block
    below  the clock of a shorter prefix, and how many items it has
    """

    history: History
    count: int
    block: int | None
    own: bool
    below: tuple[int, int]

    @property
    def views(self) -> tuple[int, ...]:
        shorter, items = self.below[0], self.history.items[self.below[1] : self.count]
        seen = tuple(item.clock for item in items if self._seen(item))
        return (shorter, *seen) if shorter else seen

    def _seen(self, item: Item) -> bool:
        return item.block == self.block or (not self.own and item.wide)


@dataclass(slots=True)
class _Worked:
    """A clock, worked out.

    whole  [blocks of the grid] up to where all threads of a block are known
    ahead  block -> up to where each of its threads is, where some are known further
    """

    whole: NDArray[np.int64]
    ahead: dict[int, Known]


class Clocks:
    """All clocks of a launch, by number."""

    def __init__(self, blocks: int, threads: int, padded: int) -> None:
        """blocks of the grid; threads of a block, and padded to whole warps."""
        self._blocks, self._threads, self._padded = blocks, threads, padded
        self._made: list[_Release | _Join | _Prefix | None] = [None]
        self._joined: dict[tuple[int, ...], int] = {}
        self._prefixes: dict[tuple[int, int, int | None, bool], int] = {}
        self._longest: dict[tuple[int, int | None, bool], tuple[int, int]] = {}
        self._worked: dict[int, _Worked] = {}

    def release(
        self,
        block: int,
        known: Known | int,
        views: tuple[int, ...],
        own: tuple[int, int] | None = None,
    ) -> int:
        """What a thread of a block knows: of its block, and by the clocks that it has acquired.

        known, own  see `_Release`
        """
        return self._add(_Release(block, known, own, tuple(v for v in views if v)))

    def prefix(self, history: History, count: int, block: int, own: bool) -> int:
        """What whoever sees the `count`-th write to a word can acquire."""
        if own and history.first.get(block, count) >= count:
            return NOTHING
        viewer = None if history.all_wide and not own else block
        key = (id(history), count, viewer, own)
        found = self._prefixes.get(key)
        if found is None:
            kind = (id(history), viewer, own)
            below = self._longest.get(kind, (NOTHING, 0))
            if below[1] > count:
                below = (NOTHING, 0)
            found = self._prefixes[key] = self._add(_Prefix(history, count, viewer, own, below))
            if count > self._longest.get(kind, (NOTHING, 0))[1]:
                self._longest[kind] = (found, count)
        return found

    def join(self, one: int, other: int) -> int:
        if one == other or not other:
            return one
        if not one:
            return other
        return self._join((min(one, other), max(one, other)))

    def join_all(self, clocks: Clock) -> int:
        different = sorted(set(clocks.tolist()) - {NOTHING})
        if len(different) < 2:
            return different[0] if different else NOTHING
        return self._join(tuple(different))

    def _join(self, views: tuple[int, ...]) -> int:
        """Two or more clocks, rising, none of them NOTHING."""
        found = self._joined.get(views)
        if found is None:
            left = self._without_shorter(views)
            found = self._joined[views] = left[0] if len(left) == 1 else self._add(_Join(left))
        return found

    def _without_shorter(self, views: tuple[int, ...]) -> tuple[int, ...]:
        """These clocks without what others say already: of one history, the longest tells all."""
        longest: dict[tuple[int, int | None, bool], tuple[int, int]] = {}
        left = []
        for view in views:
            made = self._made[view]
            if isinstance(made, _Prefix):
                kind = (id(made.history), made.block, made.own)
                longest[kind] = max(longest.get(kind, (0, 0)), (made.count, view))
            else:
                left.append(view)
        return (*left, *(view for _, view in longest.values()))

    def join_each(self, ones: Clock, others: Clock | int) -> Clock:
        """[count] the clocks of an array joined with those of another, or all with one."""
        if isinstance(others, int):
            others = np.array([others], np.int32)
        if len(ones) == 1 or ((ones == ones[0]).all() and (others == others[0]).all()):
            return np.full(len(ones), self.join(int(ones[0]), int(others[0])), np.int32)
        pairs = ones.astype(np.int64) << 32 | others
        different, place = np.unique(pairs, return_inverse=True)
        joined = [self.join(p >> 32, p & 0xFFFF_FFFF) for p in different.tolist()]
        each: Clock = np.array(joined, np.int32)[place.reshape(-1)]
        return each

    def knows(
        self,
        clocks: Clock,
        blocks: NDArray[np.int64],
        threads: NDArray[np.int64],
        moments: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """[count] whether a clock knows a thread of a block up to a moment."""
        known = np.zeros(len(clocks), bool)
        for clock in np.unique(clocks).tolist():
            if not clock:
                continue
            worked = self._work_out(clock)
            some = np.flatnonzero(clocks == clock)
            known[some] = worked.whole[blocks[some]] >= moments[some]
            left = some[~known[some]]
            for block in np.unique(blocks[left]).tolist() if worked.ahead and len(left) else ():
                ahead = worked.ahead.get(block)
                if ahead is not None:
                    there = left[blocks[left] == block]
                    known[there] = ahead[threads[there]] >= moments[there]
        return known

    def whole(self, clock: int) -> NDArray[np.int64]:
        """[blocks of the grid] up to where a clock knows all threads of a block."""
        return self._work_out(clock).whole

    def _add(self, made: _Release | _Join | _Prefix) -> int:
        self._made.append(made)
        return len(self._made) - 1

    # ---- working out

    def _work_out(self, clock: int) -> _Worked:
        found = self._worked.get(clock)
        if found is not None:
            return found
        if (len(self._worked) + 1) * 8 * self._blocks > _KEPT_BYTES:
            self._worked.clear()
        # What a clock is made of has lower numbers: whoever is missing is made first, without
        # recursion, since a chain of blocks can be long.
        missing, seen = [clock], {clock}
        for number in missing:
            for view in self._views(number):
                if view not in self._worked and view not in seen:
                    seen.add(view)
                    missing.append(view)
        for number in sorted(missing):
            self._worked[number] = self._sum(number)
        return self._worked[clock]

    def _views(self, number: int) -> tuple[int, ...]:
        made = self._made[number]
        return made.views if made is not None else ()

    def _sum(self, number: int) -> _Worked:
        whole = np.zeros(self._blocks, np.int64)
        ahead: dict[int, Known] = {}
        for view in self._views(number):
            part = self._worked[view]
            np.maximum(whole, part.whole, out=whole)
            for block, known in part.ahead.items():
                ahead[block] = np.maximum(ahead[block], known) if block in ahead else known
        made = self._made[number]
        if isinstance(made, _Release):
            block = made.block
            known = np.full(self._padded, made.known) if isinstance(made.known, int) else made.known
            if made.own is not None:
                known[made.own[0]] = made.own[1]
            if block in ahead:
                known = np.maximum(known, ahead[block])
            whole[block] = max(int(whole[block]), int(known[: self._threads].min()))
            ahead[block] = known
        for block in list(ahead):
            if (ahead[block][: self._threads] <= whole[block]).all():
                del ahead[block]
        return _Worked(whole, ahead)
