"""Loads and stores of a wave: global buffers, shared memory, local memory.

Which elements lanes aim at, and whether they may, is `planning.py`'s business; what hardware lets
slip is left to observers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Access, MemoryEvent, Observer, listeners
from simulator.running.buffers import (
    AddressMap,
    keep_freed_pages,
)
from simulator.running.lanes import Lanes
from simulator.running.planning import Planner
from simulator.running.plans import Plan, item
from simulator.running.wave import Wave
from simulator.running.weak_stores import WeakStores
from simulator.running.writers import Writers

Values = tuple[Any, ...]
_ZERO = np.uint8(0)


class Memory(Planner):
    """All memory that the lanes of one wave can reach.

    changes  counts stores that may have changed a value: who waits in a loop looks at it
    watch    count only stores that do change one; costs a look at the old values
    weak     hides stores from other blocks, if that is asked for
    writers  remembers who wrote each word, if a loop may wait for it
    """

    def __init__(self, wave: Wave, addresses: AddressMap, observers: list[Observer]) -> None:
        keep_freed_pages()
        super().__init__(wave, addresses)
        self.changes = 0
        self.watch = False
        self.weak: WeakStores | None = None
        self.writers: Writers | None = None
        self._hear = listeners(observers, "memory_accessed")
        self._storing = listeners(observers, "storing")

    def load(self, access: Access, base: Any, offset: int, lanes: Lanes, guard: Any) -> Values:
        """The elements of each lane's access: access.count arrays [count] or scalars.

        Lanes that the guard leaves out get zero.
        """
        if guard is not None:
            if guard.ndim == 0:
                if not guard:
                    return (np.zeros((), access.element)[()],) * access.count
            elif not guard.all():
                chosen = self.cache.selections.get(guard, lanes)
                part: Values = (_ZERO,) * access.count
                if chosen.lanes.count:
                    where = chosen.addresses(base)
                    part = self.load(access, where, offset, chosen.lanes, None)
                return tuple(chosen.spread(values, access.element) for values in part)
        plan = self._plan(access, base, offset, lanes)
        if plan is None:
            return self._load_apart(access, base, offset, lanes)
        if self.weak is not None and (own := self.weak.load(plan.event)) is not None:
            return own
        index = plan.index
        if isinstance(index, slice):
            return tuple([view[index].copy() for view in plan.views])
        if isinstance(index, int):
            return tuple([view[index] for view in plan.views])
        # Bounds are checked already: "wrap" only spares NumPy its own look at them.
        return tuple([view.take(index, mode="wrap") for view in plan.views])

    def store(
        self, access: Access, base: Any, offset: int, values: Values, lanes: Lanes, guard: Any
    ) -> None:
        """Write each lane's values; where lanes hit one address, the last lane wins."""
        if guard is not None:
            if guard.ndim == 0:
                if not guard:
                    return
            elif not guard.all():
                chosen = self.cache.selections.get(guard, lanes)
                lanes = chosen.lanes
                if not lanes.count:
                    return
                base = chosen.addresses(base)
                values = tuple(chosen.part(v) for v in values)
        plan = self._plan(access, base, offset, lanes)
        if plan is None:
            for mask in self.apart(access, base, offset, lanes):
                part = tuple(v if v.ndim == 0 else v[mask] for v in values)
                self.store(access, base[mask], offset, part, lanes.select(mask), None)
            return
        for tell in self._storing:
            tell(plan.event, values)
        if self.writers is not None:
            self.writers.wrote(plan.event)
        if self.weak is not None and (seen := self.weak.store(plan.event, values)) is not None:
            self.changes += seen
            return
        one = isinstance(plan.index, int)
        for view, value in zip(plan.views, values, strict=True):
            self._write(view, plan.index, value[-1] if one and value.ndim else value)

    # ---- all elements of a lane as one item: what only moves them need not take them apart

    def load_whole(self, access: Access, base: Any, offset: int, lanes: Lanes) -> NDArray[Any]:
        """`load` of all lanes: [count] items of access.bytes."""
        plan = self._plan(access, base, offset, lanes)
        own: Values | None = None
        if plan is None:
            own = self._load_apart(access, base, offset, lanes)
        elif self.weak is not None:
            own = self.weak.load(plan.event)
        if own is not None:
            return joined(own, access, lanes.count)
        assert plan is not None
        view, index = self.whole(plan)
        if isinstance(index, slice):
            return view[index].copy()
        if isinstance(index, int):
            return np.full(lanes.count, view[index])
        items: NDArray[Any] = view.take(index, mode="wrap")
        return items

    def store_whole(
        self, access: Access, base: Any, offset: int, items: NDArray[Any], lanes: Lanes
    ) -> None:
        """`store` of all lanes, what `load_whole` gave."""
        plan = None
        if not self.watch and self.weak is None and self.writers is None:
            plan = self._plan(access, base, offset, lanes)
        if plan is None:
            self.store(access, base, offset, _taken_apart(items, access), lanes, None)
            return
        if self._storing:
            values = _taken_apart(items, access)
            for tell in self._storing:
                tell(plan.event, values)
        view, index = self.whole(plan)
        self.changes += 1
        view[index] = items[-1] if isinstance(index, int) else items

    def _write(self, view: NDArray[Any], index: Any, value: Any) -> None:
        if self.watch:
            before = np.array(view[index])
            view[index] = value
            after = view[index]
            self.changes += bool(
                np.any((before != after) & ((before == before) | (after == after)))
            )
        else:
            self.changes += 1
            view[index] = value

    def elements(
        self, access: Access, base: Any, offset: int, lanes: Lanes
    ) -> tuple[NDArray[Any], Any, MemoryEvent]:
        """(a view of the memory, the index of each lane's element in it, the event): for atomics.

        The lanes must aim at one region: see `apart`.
        """
        plan = self._plan(access, base, offset, lanes)
        assert plan is not None, "lanes that aim at several regions"
        index = plan.index
        if isinstance(index, slice):
            index = np.arange(index.start, index.stop, index.step)
        if self.weak is not None:
            self.changes += self.weak.act_at_once(plan.event)
        return plan.views[0], index, plan.event

    def tell(self, hear: list[Any]) -> list[Any]:
        """From now on tell only these of accesses; returns whom it has told so far."""
        before, self._hear = self._hear, hear
        return before

    def _plan(self, access: Access, base: Any, offset: int, lanes: Lanes) -> Plan | None:
        """What to do, checked and told; None if the lanes aim at several regions."""
        plan = self.planned(access, base, offset, lanes)
        if plan is not None:
            for hear in self._hear:
                hear(plan.event)
        return plan

    def _load_apart(self, access: Access, base: Any, offset: int, lanes: Lanes) -> Values:
        full = tuple(np.zeros(lanes.count, access.element) for _ in range(access.count))
        for mask in self.apart(access, base, offset, lanes):
            part = self.load(access, base[mask], offset, lanes.select(mask), None)
            for values, target in zip(part, full, strict=True):
                target[mask] = values
        return full


def joined(values: Values, access: Access, count: int) -> NDArray[Any]:
    """An array [count] or a scalar for each element -> [count] items."""
    whole = np.stack([np.broadcast_to(value, (count,)) for value in values], axis=-1)
    return whole.view(item(access)).reshape(-1)


def _taken_apart(items: NDArray[Any], access: Access) -> Values:
    """[count] items -> [count] of each element."""
    return tuple(items.view(access.element).reshape(-1, access.count).T)
