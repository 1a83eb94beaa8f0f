"""Kernels that the simulator has read and translated, in memory and on disk.

Reading the PTX of a large kernel and writing its NumPy takes longer than running it. So what was
made is kept beside the PTX: by the text, by all sources of the simulator and by whatever else it
was made from. A file that is damaged, or half of one, is made anew.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from harness.launching import ptx_cache

if TYPE_CHECKING:
    from simulator import Entry, Module


@dataclass(slots=True, eq=False)
class _Kept:
    """programs: how many of the module are on disk; -1: not even the module."""

    key: str
    programs: int


_modules: dict[str, "Module"] = {}
_kept: "WeakKeyDictionary[Entry, tuple[Module, _Kept]]" = WeakKeyDictionary()


def module(make: Callable[[], "Module"], *parts: str | bytes) -> "Module":
    """The simulator's reading of some PTX. parts: all that `make` makes it from."""
    from simulator.storing import decode, fingerprint, programs_of

    key = ptx_cache.key_of("module", fingerprint(), *parts)
    found = _modules.get(key)
    if found is None:
        data = ptx_cache.load(key)
        found = None if data is None else decode(data)
        kept = _Kept(key, -1 if found is None else programs_of(found))
        if found is None:
            found = make()
        _modules[key] = found
        for entry in found.entries.values():
            _kept[entry] = (found, kept)
    return found


def keep(entry: "Entry") -> None:
    """An entry was launched: if that has made something new of its module, keep it."""
    known = _kept.get(entry)
    if known is None:
        return
    from simulator.storing import encode, programs_of

    found, kept = known
    programs = programs_of(found)
    if programs > kept.programs:
        ptx_cache.store(kept.key, encode(found))
        kept.programs = programs
