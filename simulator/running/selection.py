"""The lanes that a guard lets through, and what they hold of an array.

`@p ld` masks lanes one instruction at a time, and Triton masks most of its accesses so: one guard
stands before many of them. So what belongs to a guard is found again by its identity, and what
belongs to an array of addresses behind it keeps its identity too: facts about those addresses are
then found again as well (`addresses.py`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.running.lanes import Lanes

_KEPT = 8  # guards; each keeps some 8 bytes a lane alive, and as much for each of its parts
_PARTS = 4  # arrays of addresses behind one guard


class Selection:
    """Some of the lanes of a set.

    lanes  the lanes that the guard lets through
    place  [lanes.count] their places in arrays of the whole set
    """

    __slots__ = ("guard", "of", "lanes", "place", "_parts")

    def __init__(self, guard: NDArray[np.bool_], of: Lanes) -> None:
        self.guard = guard
        self.of = of
        self.place = np.flatnonzero(guard)
        index = self.place if of.index is None else of.index.take(self.place)
        self.lanes = Lanes(index, of.whole, of)
        self._parts: dict[int, tuple[Any, Any]] = {}

    def part(self, values: Any) -> Any:
        """What these lanes hold of values [of.count]; a scalar is the same for all."""
        return values if values.ndim == 0 else values.take(self.place)

    def addresses(self, base: Any) -> Any:
        """`part`, and the same array again for the same array."""
        if base.ndim == 0:
            return base
        found = self._parts.get(id(base))
        if found is None or found[0] is not base:
            if len(self._parts) == _PARTS:
                del self._parts[next(iter(self._parts))]
            found = self._parts[id(base)] = (base, base.take(self.place))
        return found[1]

    def forget(self, base: Any) -> None:
        self._parts.pop(id(base), None)

    def spread(self, values: Any, element: np.dtype[Any]) -> NDArray[Any]:
        """[of.count] values of these lanes; zero in the others."""
        full = np.zeros(self.of.count, element)
        full[self.place] = values
        return full


class SelectionCache:
    """Selections found again by the identity of guard and lanes."""

    def __init__(self) -> None:
        self._known: dict[int, Selection] = {}

    def get(self, guard: NDArray[np.bool_], lanes: Lanes) -> Selection:
        key = id(guard)
        found = self._known.get(key)
        if found is not None and found.guard is guard and found.of is lanes:
            return found
        self._known.pop(key, None)
        if len(self._known) == _KEPT:
            del self._known[next(iter(self._known))]
        made = self._known[key] = Selection(guard, lanes)
        return made

    def forget(self, base: Any) -> None:
        """The array is about to change in place."""
        self._known.pop(id(base), None)
        for selection in self._known.values():
            selection.forget(base)
