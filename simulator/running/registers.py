"""The register file of a wave: one array a register, or one scalar where all lanes agree.

Lanes that have diverged work on compact arrays. What they wrote is held as it is, with its lane
set, and spread over the full array only when another set asks for it: so a set that stays together
over many basic blocks (the threads of a block that is no multiple of 32, a long divergent loop)
pays for that once.
"""

from functools import cache
from typing import Any

import numpy as np

from simulator.running.addresses import AddressCache
from simulator.running.lanes import Lanes

_Held = tuple[Lanes, Any, bool]
SHADOW = " undefined"  # behind a register's name: which of its bits nobody has given a value
UNDECIDED = " undecided"  # behind a branch's number: who has taken it on an undefined value
# What a register holds that nobody has written: a NaN, or a number that no program means.
_NANS: dict[np.dtype[Any], Any] = {
    np.dtype(np.float16): np.uint16(0x7ECD),
    np.dtype(np.float32): np.uint32(0x7FCDCDCD),
    np.dtype(np.float64): np.uint64(0x7FFDCDCDCDCDCDCD),
}


class Registers:
    """Each register by its name in PTX: values for all lanes, or for the set that wrote it last.

    _base     of the function's local variables, in bytes of each lane's local memory
    _full     an array [lanes of the wave], or a scalar
    _compact  what one set of lanes holds: the set, its values [count], whether it wrote them
    _apart    the same for each group of lanes that run apart, by the register and the group
    _owned    names of full arrays that nobody else refers to
    """

    def __init__(self, whole: int, cache: AddressCache, local_base: int = 0) -> None:
        self._whole = whole
        self._base = local_base
        self._cache = cache
        self._full: dict[str, Any] = {}
        self._compact: dict[str, _Held] = {}
        self._apart: dict[str, dict[int, _Held]] = {}
        self._owned: set[str] = set()

    def read(self, name: str, lanes: Lanes, dtype: np.dtype[Any]) -> Any:
        """The register's values [count], or a scalar; garbage of one that was never written."""
        if lanes.group or self._apart:
            compact = self._of_group(name, lanes)
        else:
            compact = self._compact.get(name)
        if compact is not None:
            if compact[0] is lanes:
                return compact[1]
            self._spread(name, lanes.group)
        value = self._full.get(name)
        if value is None:
            return _unwritten(name, dtype)
        if lanes.index is None:
            self._owned.discard(name)  # the block may keep the array: write to a copy from now on
            return value
        if value.ndim == 0:
            return value
        gathered = value[lanes.index]
        self._hold(name, (lanes, gathered, False))
        return gathered

    def local(self, offset: int) -> Any:
        """The address in local memory of a byte of the function's own variables."""
        return np.uint64(self._base + offset)

    def is_uniform(self, name: str) -> bool:
        """Whether no lane's value differs, as far as the register file knows; a number is so."""
        value = self._full.get(name)
        varies = name in self._compact or bool(self._apart.get(name))
        return not varies and (value is None or value.ndim == 0)

    def write(self, name: str, value: Any, lanes: Lanes) -> None:
        if lanes.index is None:
            self._compact.pop(name, None)
            self._apart.pop(name, None)
            self._owned.discard(name)
            self._full[name] = value
            return
        if lanes.group or self._apart:
            compact = self._of_group(name, lanes)
        else:
            compact = self._compact.get(name)
        if compact is not None and compact[0] is not lanes:
            self._spread(name, lanes.group)
        self._hold(name, (lanes, value, True))

    def drop(self, names: tuple[str, ...], lanes: Lanes) -> None:
        """These registers are dead for `lanes`; if that is every lane, free them."""
        if lanes.index is None:
            for name in names:
                self._full.pop(name, None)
                self._compact.pop(name, None)
                self._apart.pop(name, None)
        elif lanes.group:
            for name in names:
                groups = self._apart.get(name, {})
                if lanes.group in groups and groups[lanes.group][0] is lanes:
                    del groups[lanes.group]
        else:
            for name in names:
                compact = self._compact.get(name)
                if compact is not None and compact[0] is lanes:
                    del self._compact[name]

    def _of_group(self, name: str, lanes: Lanes) -> _Held | None:
        """What a group holds, or a set across groups; of those two, only one holds anything."""
        if not lanes.group:
            for group in list(self._apart.get(name, ())):
                self._spread(name, group)
            return self._compact.get(name)
        if name in self._compact:
            self._spread(name, 0)
        return self._apart.setdefault(name, {}).get(lanes.group)

    def _hold(self, name: str, held: _Held) -> None:
        if group := held[0].group:
            self._apart[name][group] = held
        else:
            self._compact[name] = held

    def _spread(self, name: str, group: int) -> None:
        """Write what one set of lanes holds into the full array."""
        lanes, values, written = self._apart[name].pop(group) if group else self._compact.pop(name)
        if not written:
            return
        full = self._full.get(name)
        if full is None or full.ndim == 0:
            array = np.empty(self._whole, values.dtype)
            array[:] = _unwritten(name, values.dtype) if full is None else full
            full = self._full[name] = array
        elif name not in self._owned:
            full = self._full[name] = full.copy()
        else:
            self._cache.forget(full)
        self._owned.add(name)
        full[lanes.index] = values


def _unwritten(name: str, dtype: np.dtype[Any]) -> Any:
    """What a register holds that nobody has written: a scalar."""
    if dtype.kind == "b":
        return np.bool_(not name.endswith(UNDECIDED))
    return dtype.type(np.iinfo(dtype).max) if name.endswith(SHADOW) else _garbage(dtype)


@cache
def _garbage(dtype: np.dtype[Any]) -> Any:
    if dtype in _NANS:
        return _NANS[dtype].view(dtype)
    return np.frombuffer(b"\xcd" * dtype.itemsize, dtype)[0]
