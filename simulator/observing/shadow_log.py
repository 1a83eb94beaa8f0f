"""The last accesses to a memory, as they were told: who exactly has touched a granule?

A shadow keeps one thread for each granule and way, and of the others only when the last of them
came. Where that is not enough, the accesses themselves are looked through.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import MemoryEvent
from simulator.observing.race_ways import Way
from simulator.observing.shadow_places import granules, part
from simulator.reading.ptx import Instruction
from simulator.running.addresses import Addresses

_KEPT_LANES = 1 << 17  # each keeps some 24 bytes alive
_KEPT = 1 << 14


@dataclass(frozen=True, slots=True)
class Touch:
    """One access by some lanes, at a moment.

    threads  [count] their numbers in the grid
    values   what they store, for each element of an access [count] or a scalar, if it is known
    """

    way: Way
    event: MemoryEvent
    moment: int
    threads: NDArray[np.int64]
    values: tuple[Any, ...] | None

    def of(self, mask: NDArray[np.bool_]) -> "Touch":
        """The same by those lanes only for which mask [count] holds."""
        event = self.event
        known = event.addresses
        lanes = event.lanes.select(mask)
        base = known.base if known.uniform else known.base[mask]
        some = Addresses(base, lanes, known.space)
        some.count_from(known.origin, known.stretches)
        values = self.values and tuple(v if v.ndim == 0 else v[mask] for v in self.values)
        part = replace(event, addresses=some, lanes=lanes)
        return replace(self, event=part, threads=self.threads[mask], values=values)


@dataclass(frozen=True, slots=True)
class Parties:
    """Accesses that were found: [count] the granule, the thread, the moment of each."""

    granules: NDArray[np.int64]
    threads: NDArray[np.int64]
    moments: NDArray[np.int64]


class ShadowLog:
    """The last touches of one memory; complete: none of them has been dropped yet."""

    def __init__(self) -> None:
        self._touches: deque[Touch] = deque()
        self._by_moment: dict[int, Touch] = {}
        self._lanes = 0
        self.complete = True

    def add(self, touch: Touch, for_good: bool = False) -> None:
        """Keep a touch, and drop the oldest ones where they are too many; for_good: none."""
        self._touches.append(touch)
        self._by_moment[touch.moment] = touch
        self._lanes += touch.event.lanes.count
        while not for_good and (self._lanes > _KEPT_LANES or len(self._touches) > _KEPT):
            oldest = self._touches.popleft()
            del self._by_moment[oldest.moment]
            self._lanes -= oldest.event.lanes.count
            self.complete = False

    def at(self, moment: int) -> Touch | None:
        """The touch of a moment, if it has not been dropped."""
        return self._by_moment.get(moment)

    def by(self, instruction: Instruction) -> Iterator[Touch]:
        """The touches of one instruction that have not been dropped."""
        return (t for t in self._touches if t.event.access.instruction is instruction)

    def who(self, wanted: NDArray[np.int64], way: Way, shift: int, until: int) -> Parties:
        """Who has accessed any of these granules so, up to a moment; wanted: rising, each once."""
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], int]] = []
        for touch in self._touches:
            if touch.way is not way or touch.moment > until:
                continue
            moved, index = granules(touch.event, shift)
            first = part(moved, index, np.arange(touch.event.lanes.count))
            for k in range(touch.event.access.bytes >> shift):
                places = first + k
                hit = np.minimum(np.searchsorted(wanted, places), len(wanted) - 1)
                here = np.flatnonzero(wanted[hit] == places)
                if len(here):
                    found.append((places[here], touch.threads[here], touch.moment))
        if not found:
            nothing = np.zeros(0, np.int64)
            return Parties(nothing, nothing, nothing)
        return Parties(
            np.concatenate([places for places, _, _ in found]),
            np.concatenate([threads for _, threads, _ in found]),
            np.repeat([moment for _, _, moment in found], [len(places) for places, _, _ in found]),
        )
