"""What is known of the addresses of one access: range, alignment, offsets, rows of a warp.

Programs use one register of addresses again and again, with constant offsets (an unrolled loop)
or unchanged (a loop-invariant pointer). So facts belong to the register array and are found
again by its identity; the constant offset is applied afterwards.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Space
from simulator.running.kept_matrices import KeptMatrices
from simulator.running.lanes import WARP, Lanes
from simulator.running.selection import SelectionCache
from simulator.running.stretches import Stretches

_KEPT = 12  # each keeps 30 to 50 bytes a lane alive
_SIGNED = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}


class Addresses:
    """Addresses [count] of some lanes, or one address for all of them.

    Read as signed: a register may hold an address before its memory, which the instruction's
    constant offset moves back inside.
    """

    __slots__ = (
        "base", "space", "signed", "lanes", "low", "high", "bits", "origin", "stretches", "memo",
        "_offsets", "_index", "_place", "_from_low", "_stride", "_stride_known",
    )  # fmt: skip

    def __init__(self, base: Any, lanes: Lanes, space: Space = Space.GLOBAL) -> None:
        self.base = base
        self.lanes = lanes
        self.space = space
        self.signed = base.view(_SIGNED[base.dtype.itemsize])
        if base.ndim == 0:
            self.low = self.high = self.bits = int(self.signed)
        else:
            self.low = int(self.signed.min())
            self.high = int(self.signed.max())
            self.bits = int(np.bitwise_or.reduce(self.signed))
        self.origin = 0  # what offsets are counted from
        self.stretches: Stretches | None = None  # each block's or thread's own, in such memory
        self.memo: dict[Any, Any] = {}  # for observers: what they worked out about these addresses
        self._offsets: NDArray[np.int64] | None = None
        self._index: dict[int, NDArray[np.intp]] = {}
        self._place: dict[int, NDArray[np.intp]] = {}
        self._from_low: dict[int, NDArray[np.intp]] = {}
        self._stride: int | None = None
        self._stride_known = False

    @property
    def uniform(self) -> bool:
        return bool(self.base.ndim == 0)

    @property
    def stride(self) -> int | None:
        """Bytes from each lane to the next, if it is the same through all lanes; else None."""
        if not self._stride_known:
            self._stride = self._measured_stride()
            self._stride_known = True
        return self._stride

    def _measured_stride(self) -> int | None:
        if self.uniform or self.lanes.count < 2:
            return None
        stride = int(self.signed[1]) - int(self.signed[0])
        last = self.lanes.count - 1
        if stride * last != int(self.signed[last]) - int(self.signed[0]):
            return None  # as nearly always where it is not the same
        same = self.signed[1:] - self.signed[:-1] == self.signed.dtype.type(stride)
        return stride if same.all() else None

    def count_from(self, origin: int, stretches: Stretches | None = None) -> None:
        """Count offsets from here: the base of the buffer that the addresses lie in."""
        if stretches is not self.stretches:  # calls can make local memory larger
            self.stretches = stretches
            self._place.clear()
            self._from_low.clear()
        if origin != self.origin:
            self.origin = origin
            self._offsets = None
            self._index.clear()
            self._from_low.clear()

    def offsets(self) -> NDArray[np.int64]:
        """Bytes from the origin, [count], without the constant offset."""
        if self.origin and self._offsets is not None:
            return self._offsets
        wide: NDArray[np.int64] = self.signed.astype(np.int64, copy=False)
        if wide.ndim == 0:
            wide = np.full(self.lanes.count, wide)
        if self.origin:
            wide = self._offsets = wide - np.int64(self.origin)
        return wide  # without an origin it is as cheap to make as to keep

    def index(self, shift: int) -> NDArray[np.intp]:
        """offsets() >> shift, for looking up elements of 1 << shift bytes."""
        found = self._index.get(shift)
        if found is None:
            found = self._index[shift] = self.offsets() >> np.int64(shift)
        return found

    def place(self, shift: int) -> NDArray[np.intp]:
        """index(), counted from the beginning of all stretches where the memory has such.

        Without the constant offset, and for addresses that are multiples of 1 << shift.
        """
        if self.stretches is None:
            return self.index(shift)
        found = self._place.get(shift)
        if found is None:
            found = self._place[shift] = self.offsets() >> np.int64(shift)
            found += self.stretches.starts(self.lanes, shift)
        return found

    def place_from_low(self, shift: int) -> NDArray[np.intp]:
        """`place`, counted from the lowest address: for addresses that are multiples of 1 << shift
        bytes apart, whatever they are themselves."""
        found = self._from_low.get(shift)
        if found is None:
            begin = np.int64(self.low - self.origin)
            found = self._from_low[shift] = (self.offsets() - begin) >> np.int64(shift)
            if self.stretches is not None:
                found += self.stretches.starts(self.lanes, shift)
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
        if self.lanes.index is None and self.stride is not None:
            return self.stride
        key = ("step", size)
        if key not in self.memo:
            rows = self.rows(size)
            difference = rows[:, 1:] - rows[:, :-1]
            first = difference[0, 0]
            self.memo[key] = int(first) if (difference == first).all() else None
        found: int | None = self.memo[key]
        return found


class Found:
    """What the cache keeps of some addresses.

    plans  whatever may be done with them again, by who keeps it; not in `addresses` themselves,
           since plans refer to those: a circle would keep large arrays alive
    """

    __slots__ = ("addresses", "plans")

    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses
        self.plans: dict[Any, Any] = {}


class AddressCache:
    """Addresses found again by the identity of their register array and lane set."""

    def __init__(self) -> None:
        self.selections = SelectionCache()
        self.matrices = KeptMatrices()
        self._known: dict[int, Found] = {}  # the last used is the last

    def find(self, base: Any, lanes: Lanes, space: Space) -> Found:
        if base.ndim == 0:
            return Found(Addresses(base, lanes, space))
        key = id(base)
        found = self._known.pop(key, None)
        if found is not None:
            known = found.addresses
            if known.base is base and known.lanes is lanes and known.space is space:
                self._known[key] = found
                return found
        if len(self._known) >= _KEPT:
            del self._known[next(iter(self._known))]
        made = self._known[key] = Found(Addresses(base, lanes, space))
        return made

    def forget(self, base: Any) -> None:
        """The array is about to change in place."""
        self._known.pop(id(base), None)
        self.selections.forget(base)
        self.matrices.forget(base)

    def clear(self) -> None:
        self._known.clear()
