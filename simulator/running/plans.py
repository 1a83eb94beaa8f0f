"""One access at some addresses, made ready to be done again and again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Access, MemoryEvent
from simulator.running.addresses import Addresses
from simulator.running.stretches import Stretches


@dataclass(slots=True)
class Plan:
    """One access at some addresses, ready to be done again at the same ones.

    views  of the memory, one for each element of a lane's access
    index  into them: an array [count], a slice, or one number for all lanes
    whole  (a view, the index into it) that takes a lane's elements as one item; None: not made yet
    """

    event: MemoryEvent
    views: tuple[NDArray[Any], ...]
    index: Any
    whole: tuple[NDArray[Any], Any] | None = None


def item(access: Access) -> np.dtype[Any]:
    """All elements of a lane's access as one."""
    return np.dtype((np.void, access.bytes))


def place_of(
    access: Access, known: Addresses, offset: int, owned: Stretches | None, whole: bool = False
) -> tuple[int, Any]:
    """(byte shift of the view, index in it of each lane's first element).

    whole: all elements of a lane's access are one.

    One address for all lanes gives one index, except where each block or thread has its own
    stretch of the memory. Neighbouring lanes at neighbouring addresses give a slice.
    """
    size, count = (access.bytes, 1) if whole else (access.element.itemsize, access.count)
    scale = size.bit_length() - 1
    first = known.low - known.origin + offset
    if owned is None:
        if known.uniform:
            return 0, first >> scale
        if known.stride == size * count:
            begin, step = first >> scale, count
            return 0, slice(begin, begin + known.lanes.count * step, step)
    elif known.uniform:
        return first, owned.starts(known.lanes, scale)
    if offset < 0 or known.low < known.origin or known.bits & (size - 1):
        return first, known.place_from_low(scale)  # the offset alone would move the view too far
    return offset, known.place(scale)
