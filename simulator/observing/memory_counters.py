"""What one memory instruction adds to its counters: requests, sectors, wavefronts, turns.

What the addresses cost is remembered with them (`Addresses.memo`), so the same addresses again,
in a loop or at another constant offset, cost a look-up.
"""

from functools import cache, partial

import numpy as np

from simulator.observing.address_rows import Question, rows_of, summed
from simulator.observing.counters import Counters
from simulator.observing.events import Access, Kind, MemoryEvent, Space
from simulator.observing.requests import (
    BANKS,
    LANES_OF_A_SECTOR,
    SECTOR,
    WORD,
    lanes_served_together,
    local_sectors,
    most_equal,
    most_on_a_bank,
    present,
    sectors_and_bytes,
    wavefronts,
    wide_loads,
)
from simulator.reading.ptx import Instruction
from simulator.running.lanes import WARP

_NAMES = {
    (space, kind): f"{space.name.lower()}_{kind.name.lower()}"
    for space in (Space.GLOBAL, Space.SHARED, Space.LOCAL)
    for kind in Kind
}


@cache
def _about_sectors(size: int) -> Question:
    return partial(sectors_and_bytes, size=size)


@cache
def _about_banks(width: int) -> Question:
    return partial(wavefronts, width=width)


@cache
def _about_wide_loads(width: int) -> Question:
    return partial(wide_loads, width=width)


def count(event: MemoryEvent, counters: Counters) -> None:
    """Add a memory instruction, executed by some lanes, to the counters of that instruction."""
    access = event.access
    if access.copies:  # counted when it started
        return
    name = _NAMES.get((access.space, access.kind))
    if name is None:  # constant memory
        return
    if access.kind is Kind.ATOMIC:
        _atomic(event, counters, name)
    elif access.space is Space.GLOBAL:
        _global(event, counters, name)
    elif access.space is Space.SHARED:
        _shared(event, counters, name)
    else:
        _local(event, counters, name)


def _global(event: MemoryEvent, counters: Counters, name: str) -> None:
    moved, useful, ideal = sectors(event)
    counters.add(f"{name}_requests", event.lanes.warps)
    counters.add(f"{name}_sectors", moved)
    counters.add(f"{name}_bytes", useful)
    counters.add(f"{name}_ideal_sectors", ideal)


def sectors(event: MemoryEvent) -> tuple[int, ...]:
    """(sectors, useful bytes, ideal sectors) of all its requests."""
    addresses, size, requests = event.addresses, event.access.bytes, event.lanes.warps
    if addresses.uniform:
        return requests, requests * size, requests
    key = ("sectors", event.offset % SECTOR, size)
    known: tuple[int, ...] | None = addresses.memo.get(key)
    if known is None:
        rows = rows_of(addresses, event.lanes)
        known = summed(rows, event.offset, SECTOR, _about_sectors(size))
        addresses.memo[key] = known
    return known


def _shared(event: MemoryEvent, counters: Counters, name: str) -> None:
    access = event.access
    if access.kind is Kind.LOAD and access.bytes > WORD and not _loads_tiles(access):
        passes, best = _of_wide_loads(event)
    else:
        passes, best = _wavefronts(event)
    counters.add(f"{name}_requests", event.lanes.warps)
    counters.add(f"{name}_wavefronts", passes)
    counters.add(f"{name}_conflicts", passes - best)


def _loads_tiles(access: Access) -> bool:
    """By rows of 16 bytes, 8 rows together always, whoever shares one: ldmatrix, and wmma by it."""
    parts = access.instruction.parts
    return parts[0] == "ldmatrix" or (parts[0] == "wmma" and access.element == np.uint32)


def _wavefronts(event: MemoryEvent) -> tuple[int, int]:
    """(passes through the banks, passes at best) of all its requests."""
    addresses, width = event.addresses, event.access.bytes
    together = lanes_served_together(width)
    best = event.lanes.groups(together)
    if addresses.uniform:
        return best, best
    key = ("wavefronts", event.offset % WORD, width)
    known = addresses.memo.get(key)
    if known is None:
        rows = rows_of(addresses, event.lanes, together)
        known = summed(rows, event.offset % WORD, WORD * BANKS, _about_banks(width))
        addresses.memo[key] = known
    return known[0], best


def _of_wide_loads(event: MemoryEvent) -> tuple[int, int]:
    addresses, lanes, width = event.addresses, event.lanes, event.access.bytes
    if addresses.uniform:
        together = lanes.groups(2 * lanes_served_together(width))
        return together, together
    key = ("wide loads", event.offset % WORD, width)
    known = addresses.memo.get(key)
    if known is None:
        rows, period = rows_of(addresses, lanes), WORD * BANKS
        if rows.full:
            known = summed(rows, event.offset % WORD, period, _about_wide_loads(width))
        else:
            answers = wide_loads(rows.at(event.offset, period), width, present(lanes, WARP))
            known = tuple(int(answer.sum()) for answer in answers)
        addresses.memo[key] = known
    passes, best = known
    return passes, best


def _local(event: MemoryEvent, counters: Counters, name: str) -> None:
    """Each word of an access is one of the lane's own; its neighbours' lie beside it."""
    addresses, lanes, size = event.addresses, event.lanes, event.access.bytes
    moved = lanes.groups(LANES_OF_A_SECTOR)
    if not addresses.uniform:
        key = ("local sectors", event.offset % WORD)
        known = addresses.memo.get(key)
        if known is None:
            rows = rows_of(addresses, lanes, LANES_OF_A_SECTOR)
            known = summed(rows, event.offset, WORD, local_sectors)
            addresses.memo[key] = known
        (moved,) = known
    words = max(1, size // WORD)
    counters.add(f"{name}_requests", lanes.warps * words)
    counters.add(f"{name}_sectors", moved * words)
    counters.add(f"{name}_bytes", lanes.count * size)


def _atomic(event: MemoryEvent, counters: Counters, name: str) -> None:
    requests = event.lanes.warps
    counters.atomics += requests
    counters.atomic_lanes += event.lanes.count
    counters.atomic_turns += _turns(event)
    counters.add(f"{name}_requests", requests)
    if event.access.space is Space.GLOBAL:
        counters.global_atomic_sectors += sectors(event)[0]
    else:
        counters.shared_atomic_turns += _shared_turns(event)


def _turns(event: MemoryEvent) -> int:
    """For each request the most lanes on one address, summed."""
    addresses, lanes = event.addresses, event.lanes
    if addresses.uniform:
        return lanes.count
    known = addresses.memo.get("turns")
    if known is None:
        rows = rows_of(addresses, lanes)
        if rows.full:
            known = summed(rows, 0, 1, most_equal)
        else:
            known = (int(most_equal(rows.at(0, 1), present(lanes, WARP))[0].sum()),)
        addresses.memo["turns"] = known
    return int(known[0])


def _shared_turns(event: MemoryEvent) -> int:
    """Turns of the banks, as an H200 takes them."""
    instruction = event.access.instruction
    if not event.access.wanted and _counts_up(instruction):
        return _wavefronts(event)[0]
    return _bank_turns(event) * (2 if "cas" in instruction.parts else 1)


def _counts_up(instruction: Instruction) -> bool:
    """Adding the constant 1 to an int: lanes at one address are counted at once."""
    parts = instruction.parts
    return (
        {"shared", "add"} <= set(parts)
        and parts[-1] in ("u32", "s32")
        and instruction.operands[-1] == "1"
    )


def _bank_turns(event: MemoryEvent) -> int:
    """For each request the most lanes on one bank, summed."""
    addresses, lanes = event.addresses, event.lanes
    if addresses.uniform:
        return lanes.count
    together = lanes_served_together(event.access.bytes)
    key = ("bank turns", event.offset % WORD, together)
    known = addresses.memo.get(key)
    if known is None:
        rows, period = rows_of(addresses, lanes, together), WORD * BANKS
        if rows.full:
            known = summed(rows, event.offset, period, most_on_a_bank)
        else:
            here = present(lanes, together)
            known = (int(most_on_a_bank(rows.at(event.offset, period), here)[0].sum()),)
        addresses.memo[key] = known
    return int(known[0])
