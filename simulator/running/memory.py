"""Loads and stores of a wave: global buffers, shared memory, local memory.

What the hardware would trap on is raised here, because NumPy could not go on either: an address
outside its buffer, a misaligned one. What hardware lets slip is left to observers.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Access, MemoryEvent, Observer, Space, listeners
from simulator.running.addresses import AddressCache, Addresses
from simulator.running.buffers import (
    LOCAL_WINDOW,
    REGION_BITS,
    SHARED_WINDOW,
    AddressMap,
    Buffer,
    keep_freed_pages,
)
from simulator.running.lanes import Lanes
from simulator.running.plans import Plan, place_of
from simulator.running.stretches import Stretches
from simulator.running.wave import Wave
from simulator.running.weak_stores import WeakStores
from simulator.running.wording import misaligned, out_of_bounds
from simulator.running.writers import Writers

Values = tuple[Any, ...]
_ZERO = np.uint8(0)
_PLANS = 256  # of one array of addresses: an unrolled loop has as many


class Memory:
    """All memory that the lanes of one wave can reach.

    changes  counts stores that may have changed a value: who waits in a loop looks at it
    watch    count only stores that do change one; costs a look at the old values
    weak     hides stores from other blocks, if that is asked for
    writers  remembers who wrote each word, if a loop may wait for it
    """

    def __init__(self, wave: Wave, addresses: AddressMap, observers: list[Observer]) -> None:
        keep_freed_pages()
        self.wave = wave
        self.map = addresses
        self.cache = AddressCache()
        self.changes = 0
        self.watch = False
        self.weak: WeakStores | None = None
        self.writers: Writers | None = None
        self._hear = listeners(observers, "memory_accessed")
        self._storing = listeners(observers, "storing")
        self._shared = Stretches(
            Buffer("shared", wave.shared), wave.slot, wave.shared_stride, wave.shared_bytes
        )
        self._local = _local_memory(wave)
        self._in_space: dict[tuple[Access, Space], Access] = {}

    def reach_local(self, end: int) -> None:
        """A call has local variables of its own: each lane's local memory has `end` bytes now."""
        if end > self.wave.local_bytes:
            self.wave.reach_local(end)
            self._local = _local_memory(self.wave)
            self.cache.clear()  # plans hold views of the old one

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

    # ---- from addresses to elements

    def _plan(self, access: Access, base: Any, offset: int, lanes: Lanes) -> Plan | None:
        """What to do, checked and told; None if the lanes aim at several regions."""
        plan = self.planned(access, base, offset, lanes)
        if plan is not None:
            for hear in self._hear:
                hear(plan.event)
        return plan

    def planned(self, access: Access, base: Any, offset: int, lanes: Lanes) -> Plan | None:
        """The same, and nobody is told: a copy tells its accesses later."""
        own = access.space is Space.SHARED or access.space is Space.LOCAL
        found = self.cache.find(base, lanes, access.space if own else Space.GLOBAL)
        key = (access, offset)
        plan: Plan | None = found.plans.get(key)
        if plan is None:
            known = found.addresses
            if (
                not own
                and (known.low + offset) >> REGION_BITS != (known.high + offset) >> REGION_BITS
            ):
                return None
            if access.space is Space.GENERIC:
                access, known = self._specific(access, known, offset)
            plan = self._made(access, known, offset)
            if len(found.plans) < _PLANS:
                found.plans[key] = plan
        return plan

    def _made(self, access: Access, known: Addresses, offset: int) -> Plan:
        """A plan for lanes that aim at one region: checked, not told yet."""
        owned = self._owned(access.space)
        if owned is None:
            buffer, origin = self._buffer(access, known, offset)
        else:
            buffer, origin = owned.buffer, 0
            if known.low + offset < 0 or known.high + offset + access.bytes > owned.limit:
                raise out_of_bounds(self.wave, access, known, offset, None, owned.limit)
        known.count_from(origin, owned)
        self._check_alignment(access, known, offset, None if owned else (buffer, origin))
        shift, index = place_of(access, known, offset, owned)
        size = access.element.itemsize
        views = tuple([buffer.view(access.element, shift + j * size) for j in range(access.count)])
        return Plan(MemoryEvent(access, known, offset, known.lanes, buffer), views, index)

    def apart(
        self, access: Access, base: Any, offset: int, lanes: Lanes
    ) -> list[NDArray[np.bool_]]:
        """A mask [count] for each region that the lanes aim at; none if they all aim at one.

        A region holds one buffer, or all of shared or of local memory.
        """
        if base.ndim == 0 or self._owned(access.space) is not None:
            return []
        known = self.cache.find(base, lanes, Space.GLOBAL).addresses
        if (known.low + offset) >> REGION_BITS == (known.high + offset) >> REGION_BITS:
            return []
        region = (known.signed + offset) >> REGION_BITS
        return [region == r for r in sorted(set(region.tolist()))]

    def _owned(self, space: Space) -> Stretches | None:
        """Memory in which each block or each thread has its own stretch."""
        if space is Space.SHARED:
            return self._shared
        return self._local if space is Space.LOCAL else None

    def _specific(self, access: Access, known: Addresses, offset: int) -> tuple[Access, Addresses]:
        """The space that generic addresses lie in, and what is known of the addresses there."""
        region = (known.low + offset) >> REGION_BITS
        for window, space in ((LOCAL_WINDOW, Space.LOCAL), (SHARED_WINDOW, Space.SHARED)):
            if region == window >> REGION_BITS:
                inside = known.memo.get("inside")  # kept, so that it is found by its identity
                if inside is None:
                    inside = known.memo["inside"] = known.base - known.base.dtype.type(window)
                known = self.cache.find(inside, known.lanes, space).addresses
                return self._access_in(access, space), known
        return self._access_in(access, Space.GLOBAL), known

    def _access_in(self, access: Access, space: Space) -> Access:
        found = self._in_space.get((access, space))
        if found is None:
            found = self._in_space[access, space] = replace(access, space=space)
        return found

    def _buffer(self, access: Access, known: Addresses, offset: int) -> tuple[Buffer, int]:
        """The global buffer that is meant and its base, checked."""
        found = self.map.find(known.low + offset)
        if (
            found is None
            or known.low + offset < found[1] + found[0].origin
            or known.high + offset + access.bytes > found[1] + found[0].bytes
        ):
            raise out_of_bounds(self.wave, access, known, offset, found, 0)
        return found

    def _check_alignment(
        self, access: Access, known: Addresses, offset: int, found: tuple[Buffer, int] | None
    ) -> None:
        below = access.bytes - 1
        if (known.bits | offset) & below:
            wrong = ((known.base.reshape(-1).astype(np.int64) + offset) & below) != 0
            if wrong.any():
                raise misaligned(self.wave, access, known, offset, found, int(np.argmax(wrong)))

    def _load_apart(self, access: Access, base: Any, offset: int, lanes: Lanes) -> Values:
        full = tuple(np.zeros(lanes.count, access.element) for _ in range(access.count))
        for mask in self.apart(access, base, offset, lanes):
            part = self.load(access, base[mask], offset, lanes.select(mask), None)
            for values, target in zip(part, full, strict=True):
                target[mask] = values
        return full


def _local_memory(wave: Wave) -> Stretches:
    return Stretches(Buffer("local", wave.local), wave.lane, wave.local_stride, wave.local_bytes)
