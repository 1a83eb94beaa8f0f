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
from simulator.running.buffers import LOCAL_WINDOW, REGION_BITS, SHARED_WINDOW, AddressMap, Buffer
from simulator.running.lanes import Lanes
from simulator.running.wave import Wave
from simulator.running.wording import misaligned, out_of_bounds

Values = tuple[Any, ...]


class Memory:
    """All memory that the lanes of one wave can reach.

    changes  counts stores that may have changed a value: who waits in a loop looks at it
    watch    count only stores that do change one; costs a look at the old values
    """

    def __init__(self, wave: Wave, addresses: AddressMap, observers: list[Observer]) -> None:
        self.wave = wave
        self.map = addresses
        self.cache = AddressCache()
        self.changes = 0
        self.watch = False
        self._hear = listeners(observers, "memory_accessed")
        self._owned = {
            Space.SHARED: (
                Buffer("shared", wave.shared),
                wave.slot * wave.shared_stride,
                wave.shared_bytes,
            ),
            Space.LOCAL: (
                Buffer("local", wave.local),
                wave.lane * wave.local_bytes,
                wave.local_bytes,
            ),
        }

    def load(self, access: Access, base: Any, offset: int, lanes: Lanes, guard: Any) -> Values:
        """The elements of each lane's access: access.count arrays [count] or scalars.

        Lanes that the guard leaves out get zero.
        """
        if guard is not None:
            if guard.ndim == 0:
                if not guard:
                    return (np.zeros((), access.element)[()],) * access.count
            elif not guard.all():
                some = lanes.select(guard)
                full = tuple(np.zeros(lanes.count, access.element) for _ in range(access.count))
                if some.count:
                    part = base if base.ndim == 0 else base[guard]
                    loaded = self.load(access, part, offset, some, None)
                    for values, target in zip(loaded, full, strict=True):
                        target[guard] = values
                return full
        apart = self.apart(access, base, offset, lanes)
        if apart:
            return self._load_apart(access, base, offset, lanes, apart)
        access, known = self._resolve(access, base, offset, lanes)
        buffer, shift, index = self._elements(access, known, offset)
        size = access.element.itemsize
        if np.ndim(index) == 0:
            view = buffer.view(access.element)
            return tuple(view[index + j] for j in range(access.count))
        return tuple(
            buffer.view(access.element, shift + j * size).take(index) for j in range(access.count)
        )

    def store(
        self, access: Access, base: Any, offset: int, values: Values, lanes: Lanes, guard: Any
    ) -> None:
        """Write each lane's values; where lanes hit one address, the last lane wins."""
        if guard is not None:
            if guard.ndim == 0:
                if not guard:
                    return
            elif not guard.all():
                lanes = lanes.select(guard)
                if not lanes.count:
                    return
                base = base if base.ndim == 0 else base[guard]
                values = tuple(v if v.ndim == 0 else v[guard] for v in values)
        apart = self.apart(access, base, offset, lanes)
        for mask in apart:
            part = tuple(v if v.ndim == 0 else v[mask] for v in values)
            self.store(access, base[mask], offset, part, lanes.select(mask), None)
        if apart:
            return
        access, known = self._resolve(access, base, offset, lanes)
        buffer, shift, index = self._elements(access, known, offset)
        size = access.element.itemsize
        for j, value in enumerate(values):
            if np.ndim(index) == 0:
                last = value if value.ndim == 0 else value[-1]
                self._write(buffer.view(access.element), index + j, last)
            else:
                self._write(buffer.view(access.element, shift + j * size), index, value)

    def _write(self, view: NDArray[Any], index: Any, value: Any) -> None:
        if self.watch:
            before = view[index]
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
    ) -> tuple[NDArray[Any], Any, Space]:
        """(a view of the memory, the index of each lane's element in it, its space): for atomics.

        The lanes must aim at one region: see `apart`.
        """
        access, known = self._resolve(access, base, offset, lanes)
        buffer, shift, index = self._elements(access, known, offset)
        return buffer.view(access.element, shift), index, access.space

    # ---- from addresses to elements

    def _elements(self, access: Access, known: Addresses, offset: int) -> tuple[Buffer, int, Any]:
        """(buffer, byte shift of the view, index of each lane's first element): checked and told.

        One address for all lanes gives one index, except where each block or thread has its own
        stretch of the memory.
        """
        owned = self._owned.get(access.space)
        if owned is None:
            buffer, origin, starts = *self._buffer(access, known, offset), None
        else:
            buffer, starts, limit = owned
            origin = 0
            if known.low + offset < 0 or known.high + offset + access.bytes > limit:
                raise out_of_bounds(self.wave, access, known, offset, None, limit)
        known.count_from(origin)
        self._check_alignment(access, known, offset, None if owned else (buffer, origin))
        if self._hear:
            event = MemoryEvent(access, known, offset, known.lanes, buffer)
            for hear in self._hear:
                hear(event)
        size = access.element.itemsize
        scale = size.bit_length() - 1
        if known.uniform and starts is None:
            return buffer, 0, (known.low - origin + offset) >> scale
        if offset < 0 or known.low < origin or known.bits & (size - 1):
            # The view cannot be moved by the offset.
            absolute = known.offsets() + offset
            if starts is not None:
                absolute = absolute + _of(starts, known.lanes)
            return buffer, 0, absolute >> scale
        if starts is None:
            return buffer, offset, known.index(scale)
        key = ("absolute", scale)
        index = known.memo.get(key)
        if index is None:
            relative = known.low if known.uniform else known.offsets()
            index = known.memo[key] = (_of(starts, known.lanes) + relative) >> scale
        return buffer, offset, index

    def apart(
        self, access: Access, base: Any, offset: int, lanes: Lanes
    ) -> list[NDArray[np.bool_]]:
        """A mask [count] for each region that the lanes aim at; none if they all aim at one.

        A region holds one buffer, or all of shared or of local memory.
        """
        if access.space in self._owned or base.ndim == 0:
            return []
        known = self.cache.get(base, lanes, Space.GLOBAL)
        if (known.low + offset) >> REGION_BITS == (known.high + offset) >> REGION_BITS:
            return []
        region = (known.signed + offset) >> REGION_BITS
        return [region == r for r in sorted(set(region.tolist()))]

    def _resolve(
        self, access: Access, base: Any, offset: int, lanes: Lanes
    ) -> tuple[Access, Addresses]:
        """The space that a generic address lies in, and what is known of the addresses there."""
        if access.space is not Space.GENERIC:
            space = Space.GLOBAL if access.space not in self._owned else access.space
            return access, self.cache.get(base, lanes, space)
        known = self.cache.get(base, lanes, Space.GLOBAL)
        region = (known.low + offset) >> REGION_BITS
        for window, space in ((LOCAL_WINDOW, Space.LOCAL), (SHARED_WINDOW, Space.SHARED)):
            if region == window >> REGION_BITS:
                base = base - base.dtype.type(window)
                return _in_space(access, space), self.cache.get(base, lanes, space)
        return _in_space(access, Space.GLOBAL), known

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

    def _load_apart(
        self,
        access: Access,
        base: Any,
        offset: int,
        lanes: Lanes,
        masks: list[NDArray[np.bool_]],
    ) -> Values:
        full = tuple(np.zeros(lanes.count, access.element) for _ in range(access.count))
        for mask in masks:
            part = self.load(access, base[mask], offset, lanes.select(mask), None)
            for values, target in zip(part, full, strict=True):
                target[mask] = values
        return full


def _of(starts: NDArray[np.int64], lanes: Lanes) -> NDArray[np.int64]:
    return starts if lanes.index is None else starts[lanes.index]


def _in_space(access: Access, space: Space) -> Access:
    return replace(access, space=space)
