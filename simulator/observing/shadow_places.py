"""Where the lanes of an access touch memory, as indices of granules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import MemoryEvent

Index = slice | NDArray[np.intp]


def granules(event: MemoryEvent, shift: int) -> tuple[int, Index]:
    """(what is to be added, the first granule of 1 << shift bytes of each lane).

    Granules are no larger than the access's elements. In memory where each block has its own
    stretch, they count from the beginning of all stretches. Do not write into the index.
    """
    known, offset, size = event.addresses, event.offset, event.access.bytes
    if known.stretches is None:
        first = known.low - known.origin + offset
        if known.uniform:
            return 0, np.full(event.lanes.count, first >> shift, np.intp)
        if known.stride == size:
            begin, step = first >> shift, size >> shift
            return 0, slice(begin, begin + event.lanes.count * step, step)
    if offset >= 0 and known.low >= known.origin and not known.bits & ((1 << shift) - 1):
        return offset >> shift, known.place(shift)
    absolute = known.offsets() + offset
    if known.stretches is not None:
        absolute = absolute + known.stretches.starts(event.lanes, 0)
    return 0, absolute >> shift


def read(array: NDArray[Any], moved: int, index: Index) -> NDArray[Any]:
    """[count] what an array holds there; maybe a view of it."""
    view = array[moved:] if moved else array
    return view[index] if isinstance(index, slice) else view.take(index, mode="wrap")


def write(array: NDArray[Any], moved: int, index: Index, values: Any) -> None:
    (array[moved:] if moved else array)[index] = values


def part(moved: int, index: Index, positions: NDArray[np.intp]) -> NDArray[np.intp]:
    """[positions] the granules of some of the lanes."""
    found: NDArray[np.intp]
    if isinstance(index, slice):
        found = positions * index.step + (moved + index.start)
    else:
        found = index[positions] + moved
    return found
