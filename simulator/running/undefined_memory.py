"""The memory of one wave, as far as it may hold undefined values.

Shared and local memory have a *shadow*, a bit for each of theirs: one that nobody has given a
value. Global memory has none: an element of a fresh buffer that still holds the bits its owner put
there is one that nobody has written.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulator.instructions.definedness import is_defined, settled, shadow_type
from simulator.observing.events import Access, Copy, MemoryEvent, Observer, Space
from simulator.running.buffers import Buffer
from simulator.running.lanes import Lanes
from simulator.running.plans import place_of
from simulator.running.undefined_words import Readings
from simulator.running.wave import Wave

if TYPE_CHECKING:
    from simulator.running.execution import Execution
    from simulator.translating.definedness import Followed

Shadow = Any  # [count], or a scalar
Shadows = tuple[Shadow, ...]  # one for each element of a lane's access
_EVERY_BIT = 0xFF


class ShadowMemory(Observer):
    """What memory holds that is undefined.

    run      of the wave whose code asks
    reading  by instruction: the last load that found elements which nobody has written
    """

    run: "Execution"

    def __init__(self, followed: "Followed") -> None:
        self.followed = followed
        self.reading: dict[int, Readings] = {}
        self._copy: Copy | None = None

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave
        self.shared: Buffer | None = None  # made when the first undefined value is stored there
        self._local: Buffer | None = None

    # ---- what memory holds

    def load(self, access: Access, base: Any, offset: int, lanes: Lanes, guard: Any) -> Shadows:
        """The shadows of what lanes load; zero for those that a guard leaves out."""
        dtype = shadow_type(access.element)
        defined: Shadows = (dtype.type(0),) * access.count
        if access.space is Space.SHARED and self.shared is None:
            return defined
        found: Shadows | None = None
        for place, some in self._parts(access, base, offset, lanes, guard):
            where = base if place is None or base.ndim == 0 else base[place]
            plan = self.run.memory.planned(access, where, offset, some)
            assert plan is not None, "lanes that aim at one region"
            part = self._held(plan.event, dtype)
            if place is None:
                return part
            if all(is_defined(shadow) for shadow in part):
                continue
            if found is None:
                found = tuple(np.zeros(lanes.count, dtype) for _ in part)
            for whole, shadow in zip(found, part, strict=True):
                whole[place] = shadow
        return defined if found is None else found

    def _held(self, event: MemoryEvent, dtype: np.dtype[Any]) -> Shadows:
        space = event.access.space
        if space is Space.GLOBAL:
            return self._unwritten(event, dtype)
        buffer = self._of_space(space)
        if buffer is None:
            return (dtype.type(0),) * event.access.count
        views, index = _views(buffer, event)
        held = tuple(settled(view[index].copy()) for view in views)
        return held

    def _unwritten(self, event: MemoryEvent, dtype: np.dtype[Any]) -> Shadows:
        """Of global memory: elements that hold what only fresh memory holds."""
        access, buffer = event.access, event.buffer
        if buffer is None or buffer.unwritten is None:
            return (dtype.type(0),) * access.count
        weak = self.run.memory.weak
        values = None if weak is None else weak.load(event)
        if values is None:
            views, index = _views(buffer, event, access.element)
            values = tuple(view[index] for view in views)
        found = []
        for k, value in enumerate(values):
            shadow = _still_fresh(buffer, event, k, value, dtype)
            if not is_defined(shadow):
                self.reading[access.instruction.index] = Readings(event, shadow, k)
            found.append(shadow)
        return tuple(found)

    def mark(
        self, access: Access, base: Any, offset: int, shadows: Shadows, lanes: Lanes, guard: Any
    ) -> None:
        """Lanes have stored values with these shadows: in shared or local memory, remember that."""
        for event, parts in self.events(access, base, offset, shadows, lanes, guard):
            space = event.access.space
            if space is Space.SHARED and self.shared is None:
                if not any(part.any() for part in parts):
                    continue
                self.shared = Buffer("undefined", np.zeros(len(self.wave.shared), np.uint8))
            buffer = self._of_space(space)
            if buffer is not None:
                views, index = _views(buffer, event)
                one = isinstance(index, int)
                for view, part in zip(views, parts, strict=True):
                    view[index] = part[-1] if one and part.ndim else part

    def storing(self, event: MemoryEvent, values: tuple[Any, ...]) -> None:
        """What is stored is defined, until `mark` says that it is not; or a copy has arrived."""
        buffer = self._of_space(event.access.space, making=False)
        shadows = self._copied(event, values) if event.access.copies else None
        if shadows is not None and buffer is None:
            buffer = self.shared = Buffer("undefined", np.zeros(len(self.wave.shared), np.uint8))
        if buffer is not None:
            views, index = _views(buffer, event)
            for k, view in enumerate(views):
                view[index] = 0 if shadows is None else shadows[k]

    # ---- copies

    def copy_waited_for(self, copy: Copy, lanes: Lanes) -> None:
        self._copy = copy

    def _copied(self, event: MemoryEvent, values: tuple[Any, ...]) -> Shadows | None:
        """The shadows of what a cp.async brings; None: all of it is defined."""
        copy, followed = self._copy, self.followed
        if copy is None:
            return None
        dtype = shadow_type(event.access.element)
        shadows = [np.zeros(event.lanes.count, dtype) for _ in values]
        for source in copy.sources:
            pattern = source.buffer.unwritten if source.buffer is not None else None
            if pattern is None or pattern.itemsize > dtype.itemsize:
                continue
            for k, value in enumerate(values):
                shadows[k] |= _same_bits(np.asarray(value), pattern, dtype)
                if shadows[k].any():
                    found = Readings(source, np.bool_(True), 0)
                    self.reading[event.access.instruction.index] = found
        if copy.reaching is not None and followed.leaves_out(event.access.instruction):
            place = np.searchsorted(copy.destination.lanes.indices(), event.lanes.indices())
            for shadow in shadows:
                shadow[~copy.reaching[place]] = np.iinfo(dtype).max
        return tuple(shadows) if any(shadow.any() for shadow in shadows) else None

    # ---- lanes and spaces

    def _of_space(self, space: Space, making: bool = True) -> Buffer | None:
        if space is Space.SHARED:
            return self.shared
        if space is Space.LOCAL and self.followed.local:
            return self.of_local()
        return None

    def of_local(self) -> Buffer:
        """Local memory is undefined from the start; a call may have made it larger."""
        wave, before = self.wave, self._local
        if before is None or len(before.data) != len(wave.local):
            grown = np.full((wave.size, wave.local_stride), _EVERY_BIT, np.uint8)
            if before is not None:
                kept = before.data.reshape(wave.size, -1)
                grown[:, : kept.shape[1]] = kept
            self._local = Buffer("undefined", grown.reshape(-1))
        assert self._local is not None
        return self._local

    def _parts(
        self, access: Access, base: Any, offset: int, lanes: Lanes, guard: Any
    ) -> list[tuple[Any, Lanes]]:
        """Lanes that a guard lets through, those that aim at one region together.

        Each with their places in the whole set; None: they are all of it.
        """
        place: Any = None
        if guard is not None and not guard.all():
            if guard.ndim == 0 or not guard.any():
                return []
            place = np.flatnonzero(guard)
            lanes = self.run.memory.cache.selections.get(guard, lanes).lanes
        where = base if place is None or base.ndim == 0 else base[place]
        masks = self.run.memory.apart(access, where, offset, lanes)
        if not masks:
            return [(place, lanes)]
        everyone = np.arange(lanes.count) if place is None else place
        return [(everyone[mask], lanes.select(mask)) for mask in masks]

    def events(
        self, access: Access, base: Any, offset: int, shadows: Shadows, lanes: Lanes, guard: Any
    ) -> list[tuple[MemoryEvent, Shadows]]:
        """The accesses to each region, with the shadows of those lanes."""
        found = []
        for place, some in self._parts(access, base, offset, lanes, guard):
            where = base if place is None or base.ndim == 0 else base[place]
            plan = self.run.memory.planned(access, where, offset, some)
            assert plan is not None, "lanes that aim at one region"
            parts = shadows
            if place is not None:
                parts = tuple(s if s.ndim == 0 else s[place] for s in shadows)
            found.append((plan.event, parts))
        return found


def _views(
    buffer: Buffer, event: MemoryEvent, element: np.dtype[Any] | None = None
) -> tuple[list[NDArray[Any]], Any]:
    """(views of a buffer, an index into them) for the places of an access to memory like it."""
    access = event.access
    shift, index = place_of(access, event.addresses, event.offset, event.addresses.stretches)
    dtype = element or shadow_type(access.element)
    size = dtype.itemsize
    return [buffer.view(dtype, shift + k * size) for k in range(access.count)], index


def _still_fresh(
    buffer: Buffer, event: MemoryEvent, number: int, value: Any, dtype: np.dtype[Any]
) -> Shadow:
    """The shadow of one element of each lane's access to fresh memory."""
    pattern = buffer.unwritten
    assert pattern is not None
    if dtype.itemsize >= pattern.itemsize:
        return settled(_same_bits(value, pattern, dtype))
    # A part of what was written whole: the bytes around it tell.
    words = buffer.view(pattern.dtype)
    first = event.addresses.offsets() + event.offset + number * dtype.itemsize
    index = first // pattern.itemsize
    fresh = words.take(np.minimum(index, len(words) - 1)) == pattern
    return settled(fresh.astype(dtype) * dtype.type(np.iinfo(dtype).max))


def _same_bits(value: Any, pattern: Any, dtype: np.dtype[Any]) -> Shadow:
    """All ones where a value, or a part of it as wide as the pattern, has the pattern's bits."""
    parts = np.ascontiguousarray(value).reshape(-1).view(pattern.dtype)
    ones = pattern.dtype.type(np.iinfo(pattern.dtype).max)
    shadow = ((parts == pattern) * ones).view(dtype)
    return shadow if value.ndim else shadow[0]
