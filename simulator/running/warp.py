"""What the lanes of a warp tell each other: shuffle, vote, match, reduce.

Arrays are [count], the lanes of a set in rising order. Rendezvous is the machine's business: here
every lane that will take part is present. Formulas: PTX ISA, "shfl.sync", "vote.sync".
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import POISON

Values = NDArray[Any]
EVERY_LANE = 0xFFFF_FFFF
_KEPT = 8  # sources of a set of lanes, 10 bytes a lane each
POISON_WORD = np.uint32(POISON * 0x0101_0101)  # what a lane that is not here gives


def _everyone(values: Any, lanes: Lanes, fill: Any) -> NDArray[Any]:
    """Values as [warps of the wave, 32]; lanes that are not here hold `fill`."""
    if lanes.index is None:
        return np.broadcast_to(values, (lanes.count,)).reshape(-1, WARP)
    full = np.full(lanes.whole, fill, values.dtype)
    full[lanes.index] = values
    return full.reshape(-1, WARP)


def _here(per_warp: NDArray[Any], lanes: Lanes) -> Values:
    """One value a warp [warps of the wave] to one a lane [count]."""
    if lanes.index is None:
        return np.repeat(per_warp, WARP)
    chosen: Values = per_warp[lanes.index >> 5]
    return chosen


def present(lanes: Lanes) -> NDArray[np.uint32]:
    """[warps of the wave] the mask of lanes that are here."""
    found: NDArray[np.uint32] | None = lanes.memo.get("present")
    if found is None:
        rows = _everyone(np.ones(lanes.count, bool), lanes, False)
        found = lanes.memo["present"] = as_masks(rows)
    return found


def as_masks(rows: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """[warps, 32] -> [warps] one bit for each lane."""
    return np.packbits(rows, axis=1, bitorder="little").view(np.uint32).reshape(-1)


@dataclass(frozen=True, slots=True)
class Sources:
    """Which lane of its warp each lane reads, and whether the one it asks for is in range.

    lane   [count] 0 .. 31
    place  [count] the lane's index in the wave
    among  [count] its place in the set, if that holds whole warps; else None
    valid  [count]
    gone   [count] whether the lane that is read is not here; None: all are
    """

    lane: Values
    place: NDArray[np.intp]
    among: NDArray[np.intp] | None
    valid: NDArray[np.bool_]
    gone: NDArray[np.bool_] | None


def sources(mode: str, b: Any, c: Any, lanes: Lanes) -> Sources:
    """Programs shuffle by the same few distances again and again: those are kept with the lanes."""
    if b.ndim or c.ndim:
        return _sources(mode, b, c, lanes)
    if lanes.index is None:
        return _of_all(mode, int(b), int(c), lanes.whole)
    kept: dict[tuple[str, int, int], Sources] = lanes.memo.setdefault("sources", {})
    key = (mode, int(b), int(c))
    found = kept.get(key)
    if found is None:
        if len(kept) == _KEPT:
            kept.clear()
        found = kept[key] = _sources(mode, b, c, lanes)
    return found


@lru_cache(maxsize=_KEPT)
def _of_all(mode: str, b: int, c: int, whole: int) -> Sources:
    """Of all lanes of a wave: those of the next launch shuffle likewise."""
    return _sources(mode, np.uint32(b), np.uint32(c), Lanes(None, whole))


def _sources(mode: str, b: Any, c: Any, lanes: Lanes) -> Sources:
    everyone = lanes.indices()
    lane = everyone & 31
    b = b.astype(np.int64) & 31
    clamp = c.astype(np.int64) & 31
    segment = (c.astype(np.int64) >> 8) & 31
    last = (lane & segment) | (clamp & ~segment)
    first = lane & segment
    if mode == "up":
        source = lane - b
        valid = source >= last
    else:
        source = {"down": lane + b, "bfly": lane ^ b, "idx": first | (b & ~segment)}[mode]
        valid = source <= last
    source = np.where(valid, source, lane)
    place = (everyone & ~31) + source
    among, gone = None, None
    if lanes.index is None:
        among = place
    elif lanes.complete(WARP):  # neighbours of a warp are neighbours in the set
        among = (np.arange(lanes.count) & ~31) + source
    else:
        here = np.zeros(lanes.whole, bool)
        here[lanes.index] = True
        gone = ~here[place]
        if not gone.any():
            gone = None
    return Sources(source.astype(np.uint8), place, among, valid, gone)


def shuffle(
    value: Any,
    source: Sources,
    unnamed: Values | None,
    lanes: Lanes,
    absent: np.uint32 = POISON_WORD,
) -> Values:
    """The value of the lane that each lane reads; `absent` from one it has not named, or gone."""
    if value.ndim == 0:
        value = np.full(lanes.count, value)
    place = source.among
    if place is None:
        full = np.full(lanes.whole, absent, value.dtype)
        full[lanes.index] = value
        value, place = full, source.place
    taken: Values = value.take(place, mode="wrap")
    return taken if unnamed is None else np.where(unnamed, value.dtype.type(absent), taken)


def vote(mode: str, predicate: Any, mask: Any, lanes: Lanes) -> Any:
    """ballot: uint32; all, any, uni: bool. Among the lanes that each lane's mask names."""
    if predicate.ndim == 0:
        predicate = np.full(lanes.count, predicate)
    yes = _bits(predicate, lanes) & mask
    if mode == "ballot":
        return yes
    holds, everywhere = yes != 0, (_bits(~predicate, lanes) & mask) == 0
    return {"any": holds, "all": everywhere, "uni": everywhere | ~holds}[mode]


def _bits(predicate: NDArray[np.bool_], lanes: Lanes) -> Values:
    """[count] the lanes of the own warp for which a predicate holds, one bit each."""
    rows = _everyone(predicate, lanes, False)
    return _here(as_masks(rows), lanes)


def match(mode: str, value: Any, mask: Any, lanes: Lanes) -> tuple[Any, Any]:
    """(the mask of lanes with the same value, whether all lanes agree); `all` masks 0 if not."""
    if value.ndim == 0:
        value = np.full(lanes.count, value)
    rows = _everyone(value, lanes, 0)
    here = _everyone(np.ones(lanes.count, bool), lanes, False)
    equal = (rows[:, :, None] == rows[:, None, :]) & here[:, None, :]  # [warps, lane, other lane]
    everyone = np.packbits(equal, axis=2, bitorder="little").view(np.uint32).reshape(-1)
    same = (everyone if lanes.index is None else everyone[lanes.index]) & mask
    agree = same == (_here(present(lanes), lanes) & mask)
    if mode == "all":
        same = np.where(agree, same, np.uint32(0))
    return same, agree


_REDUCTIONS: dict[str, tuple[Callable[..., Any], Callable[[np.dtype[Any]], Any]]] = {
    "add": (np.add.reduce, lambda d: 0),
    "min": (np.minimum.reduce, lambda d: np.iinfo(d).max),
    "max": (np.maximum.reduce, lambda d: np.iinfo(d).min),
    "and": (np.bitwise_and.reduce, lambda d: np.iinfo(np.uint32).max),
    "or": (np.bitwise_or.reduce, lambda d: 0),
    "xor": (np.bitwise_xor.reduce, lambda d: 0),
}


def reduce(mode: str, value: Any, mask: Any, lanes: Lanes) -> Any:
    """redux.sync: the same 32-bit integer in every lane that a mask names."""
    if value.ndim == 0:
        value = np.full(lanes.count, value)
    combine, neutral = _REDUCTIONS[mode]
    rows = _everyone(value, lanes, neutral(value.dtype))
    here = _here(present(lanes), lanes)
    if ((here & mask) == here).all():
        return _here(combine(rows, axis=1, dtype=value.dtype), lanes)
    named = (np.broadcast_to(mask, here.shape)[:, None] >> np.arange(WARP, dtype=np.uint32)) & 1
    ours = np.where(named, rows[lanes.indices() >> 5], neutral(value.dtype))  # [count, lane]
    return combine(ours.astype(value.dtype), axis=1, dtype=value.dtype)
