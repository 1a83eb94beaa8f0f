"""One access at some addresses, made ready to be done again and again."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from simulator.observing.events import Access, MemoryEvent
from simulator.running.addresses import Addresses
from simulator.running.stretches import Stretches


@dataclass(frozen=True, slots=True)
class Plan:
    """One access at some addresses, ready to be done again at the same ones.

    views  of the memory, one for each element of a lane's access
    index  into them: an array [count], a slice, or one number for all lanes
    """

    event: MemoryEvent
    views: tuple[NDArray[Any], ...]
    index: Any


def place_of(
    access: Access, known: Addresses, offset: int, owned: Stretches | None
) -> tuple[int, Any]:
    """(byte shift of the view, index in it of each lane's first element).

    One address for all lanes gives one index, except where each block or thread has its own
    stretch of the memory. Neighbouring lanes at neighbouring addresses give a slice.
    """
    size = access.element.itemsize
    scale = size.bit_length() - 1
    first = known.low - known.origin + offset
    if owned is None:
        if known.uniform:
            return 0, first >> scale
        if known.stride == access.bytes:
            begin, step = first >> scale, access.count
            return 0, slice(begin, begin + known.lanes.count * step, step)
    elif known.uniform:
        return first, owned.starts(known.lanes, scale)
    if offset < 0 or known.low < known.origin or known.bits & (size - 1):
        # The view cannot be moved by the offset.
        absolute = known.offsets() + offset
        if owned is not None:
            absolute = absolute + owned.starts(known.lanes, 0)
        return 0, absolute >> scale
    return offset, known.place(scale)
