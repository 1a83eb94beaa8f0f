"""From the addresses of lanes to a plan: which elements of which memory, checked.

What the hardware would trap on is raised here, because NumPy could not go on either: an address
outside its buffer, a misaligned one.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Access, MemoryEvent, Space
from simulator.running.addresses import AddressCache, Addresses
from simulator.running.buffers import (
    LOCAL_WINDOW,
    REGION_BITS,
    SHARED_WINDOW,
    AddressMap,
    Buffer,
)
from simulator.running.lanes import Lanes
from simulator.running.plans import Plan, item, place_of
from simulator.running.stretches import Stretches
from simulator.running.wave import Wave
from simulator.running.wording import misaligned, out_of_bounds

_WORD = 4  # bytes
_PLANS = 256  # of one array of addresses: an unrolled loop has as many


class Planner:
    """Finds the elements that lanes aim at.

    words_around  the instructions that look at the word around an element: `words_around.py`
    """

    def __init__(self, wave: Wave, addresses: AddressMap) -> None:
        self.wave = wave
        self.map = addresses
        self.cache = AddressCache()
        self.words_around: frozenset[int] = frozenset()
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

    def planned(self, access: Access, base: Any, offset: int, lanes: Lanes) -> Plan | None:
        """What to do, checked; None if the lanes aim at several regions. Nobody is told."""
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
        size = access.element.itemsize
        shift, index = place_of(access, known, offset, owned)
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
        if found is None:
            raise out_of_bounds(self.wave, access, known, offset, None, 0)
        buffer, base = found
        begin, end = base + buffer.origin, base + buffer.bytes - buffer.padding
        low, high = known.low + offset, known.high + offset + access.bytes
        if low < begin or high > end:
            around = access.instruction.index in self.words_around
            if not around or low < begin - begin % _WORD or high > base + buffer.bytes:
                raise out_of_bounds(self.wave, access, known, offset, found, 0, around)
        return found

    def _check_alignment(
        self, access: Access, known: Addresses, offset: int, found: tuple[Buffer, int] | None
    ) -> None:
        below = access.bytes - 1
        if (known.bits | offset) & below:
            wrong = ((known.base.reshape(-1).astype(np.int64) + offset) & below) != 0
            if wrong.any():
                raise misaligned(self.wave, access, known, offset, found, int(np.argmax(wrong)))

    def whole(self, plan: Plan) -> tuple[NDArray[Any], Any]:
        """(a view, the index into it) that takes all elements of a lane as one item."""
        if plan.whole is None:
            event = plan.event
            access, known, buffer = event.access, event.addresses, event.buffer
            assert buffer is not None
            owned = self._owned(access.space)
            shift, index = place_of(access, known, event.offset, owned, whole=True)
            plan.whole = buffer.view(item(access), shift), index
        return plan.whole


def _local_memory(wave: Wave) -> Stretches:
    return Stretches(Buffer("local", wave.local), wave.lane, wave.local_stride, wave.local_bytes)
