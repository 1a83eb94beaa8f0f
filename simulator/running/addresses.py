"""What is known of the addresses of one access: range, alignment, offsets, rows of a warp.

Programs use one register of addresses again and again, with constant offsets (an unrolled loop)
or unchanged (a loop-invariant pointer). So facts belong to the register array and are found
again by its identity; the constant offset is applied afterwards.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Space
from simulator.running.lanes import WARP, Lanes

_KEPT = 24  # each entry keeps its arrays alive: about 0.8 KB a lane at 24


class Addresses:
    """Addresses [count] of some lanes, or one address for all of them.

    Read as signed: a register may hold an address before its memory, which the instruction's
    constant offset moves back inside.
    """

    __slots__ = (
        "base", "signed", "lanes", "low", "high", "bits", "origin", "memo", "_offsets", "_index"
    )  # fmt: skip

    def __init__(self, base: Any, lanes: Lanes) -> None:
        self.base = base
        self.lanes = lanes
        self.signed = base.view(f"i{base.dtype.itemsize}")
        if base.ndim == 0:
            self.low = self.high = self.bits = int(self.signed)
        else:
            self.low = int(self.signed.min())
            self.high = int(self.signed.max())
            self.bits = int(np.bitwise_or.reduce(base))
        self.origin = 0  # what offsets are counted from
        self.memo: dict[Any, Any] = {}  # for observers: what they worked out about these addresses
        self._offsets: NDArray[np.int64] | None = None
        self._index: dict[int, NDArray[np.intp]] = {}

    @property
    def uniform(self) -> bool:
        return bool(self.base.ndim == 0)

    def count_from(self, origin: int) -> None:
        """Count offsets from here: the base of the buffer that the addresses lie in."""
        if origin != self.origin:
            self.origin = origin
            self._offsets = None
            self._index.clear()

    def offsets(self) -> NDArray[np.int64]:
        """Bytes from the origin, [count], without the constant offset."""
        if self._offsets is None:
            wide = self.signed.astype(np.int64, copy=False)
            if wide.ndim == 0:
                wide = np.full(self.lanes.count, wide)
            self._offsets = wide - np.int64(self.origin) if self.origin else wide
        return self._offsets

    def index(self, shift: int) -> NDArray[np.intp]:
        """offsets() >> shift, for looking up elements of 1 << shift bytes."""
        found = self._index.get(shift)
        if found is None:
            found = self._index[shift] = self.offsets() >> np.int64(shift)
        return found

    def rows(self, size: int = WARP) -> NDArray[np.int64]:
        """offsets() with a row for each warp: [warps, 32], or for each half or quarter of one."""
        key = ("rows", size)
        found: NDArray[np.int64] | None = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self.lanes.rows(self.offsets(), size)
        return found

    def step(self, size: int = WARP) -> int | None:
        """The stride in bytes between neighbouring lanes, if it is the same in every row."""
        key = ("step", size)
        if key not in self.memo:
            rows = self.rows(size)
            difference = rows[:, 1:] - rows[:, :-1]
            first = difference[0, 0]
            self.memo[key] = int(first) if (difference == first).all() else None
        found: int | None = self.memo[key]
        return found


class AddressCache:
    """Addresses found again by the identity of their register array and lane set."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Space], Addresses] = {}

    def get(self, base: Any, lanes: Lanes, space: Space) -> Addresses:
        if base.ndim == 0:
            return Addresses(base, lanes)
        key = (id(base), space)
        found = self._known.get(key)
        if found is not None and found.base is base and found.lanes is lanes:
            return found
        if len(self._known) >= _KEPT:
            self._known.clear()
        made = self._known[key] = Addresses(base, lanes)
        return made

    def forget(self, base: Any) -> None:
        """The array is about to change in place."""
        for space in Space:
            self._known.pop((id(base), space), None)

    def clear(self) -> None:
        self._known.clear()
