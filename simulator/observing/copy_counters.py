"""What one cp.async costs: sectors of global memory, and passes through the banks on both sides.

A copy through the L1 cache (.ca) moves each sector that its lanes touch once. Its words are read
from the banks that hold the cache and written to those of shared memory, lane by lane: lanes wait
for those that want a bank of theirs at either end, also where they have one source. A copy around
L1 (.cg) has no passes: L2 sends sectors, and one that is sent fills 32 aligned bytes of shared
memory from one line of 128.

Lanes that copy fewer bytes than their size count with all of it; those that copy none only write.
Nsight Compute counts the same on an H200: tests/simulator/test_agreement.py.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.address_rows import Rows, count_in_row, rows_of
from simulator.observing.counters import Counters
from simulator.observing.events import Copy, MemoryEvent
from simulator.observing.memory_counters import sectors
from simulator.observing.requests import (
    BANKS,
    LINE,
    SECTOR,
    WORD,
    copied_passes,
    first_of_its_kind,
    lanes_served_together,
    present,
)
from simulator.running.addresses import Addresses
from simulator.running.lanes import WARP

_BANK_LINE = WORD * BANKS
_SECTORS = 1 << 14  # more than a block's shared memory has


def count(copy: Copy, counters: Counters) -> None:
    """Add a copy to the counters of its instruction, when it starts."""
    reading = _those_that_copy(copy)
    through_l1 = "ca" in copy.reading.access.instruction.parts
    if reading is not None:
        moved, useful, ideal = sectors(reading)
        counters.async_copy_requests += reading.lanes.warps
        counters.async_copy_sectors += moved if through_l1 else _sent(copy, reading)
        counters.async_copy_bytes += useful
        counters.async_copy_ideal_sectors += ideal
    if through_l1:
        passes = _passes(copy)
        best = copy.reading.lanes.groups(lanes_served_together(copy.reading.access.bytes))
        counters.async_copy_wavefronts += passes
        counters.async_copy_conflicts += passes - best


def _those_that_copy(copy: Copy) -> MemoryEvent | None:
    """What the lanes read that read anything; None: nobody does."""
    event = copy.reading
    if copy.reaching is None:
        return event
    if not copy.reaching.any():
        return None
    lanes = event.lanes.select(copy.reaching)
    addresses = Addresses(_part(event.addresses.base, copy.reaching), lanes)
    return MemoryEvent(event.access, addresses, event.offset, lanes, None)


def _sent(copy: Copy, reading: MemoryEvent) -> int:
    """Sectors that L2 sends to shared memory for lanes around L1."""
    to = copy.destination
    if copy.reaching is None:
        pair = _alike(reading, to, WARP)
        if pair is not None:
            lines, pieces, often = pair
            return int((_different(lines // LINE, pieces // SECTOR) * often).sum())
    sources = reading.addresses.offsets() + reading.offset
    targets = to.addresses.offsets() + to.offset
    if copy.reaching is not None:
        targets = targets[copy.reaching]
    lines, pieces = (reading.lanes.rows(values) for values in (sources, targets))
    return int(_different(lines // LINE, pieces // SECTOR).sum())


def _different(lines: NDArray[Any], pieces: NDArray[Any]) -> NDArray[np.int64]:
    """[rows, 32] lines and pieces of shared memory -> [rows] how many different pairs there are."""
    pairs = np.sort(lines.astype(np.int64) * _SECTORS + pieces, axis=1)
    return count_in_row(first_of_its_kind(pairs))


def _passes(copy: Copy) -> int:
    """Passes of a copy through L1, of all its requests."""
    source, to = copy.reading, copy.destination
    width, lanes = source.access.bytes, source.lanes
    together = lanes_served_together(width)
    if copy.reaching is None and lanes.complete(together):
        pair = _alike(source, to, together)
        if pair is not None:
            first, second, often = pair
            return int((copied_passes(first, second, width) * often).sum())
    reads = None if copy.reaching is None else lanes.rows(copy.reaching, together)
    first = lanes.rows(source.addresses.offsets() + source.offset, together)
    second = lanes.rows(to.addresses.offsets() + to.offset, together)
    here = present(lanes, together)
    return int(copied_passes(first, second, width, here, reads).sum())


def _alike(
    source: MemoryEvent, to: MemoryEvent, together: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]] | None:
    """(rows of the sources, rows of the destinations, how often each pair occurs).

    None where rows have different shapes: mostly all are shifted copies of one, and then few kinds
    of pairs are left.
    """
    first: Rows = rows_of(source.addresses, source.lanes, together)
    second: Rows = rows_of(to.addresses, to.lanes, together)
    if not (first.alike and second.alike):
        return None
    begins = (first.start + source.offset) % _BANK_LINE * _BANK_LINE
    begins += (second.start + to.offset) % _BANK_LINE
    kinds, often = np.unique(begins, return_counts=True)
    sources = first.shape + (kinds // _BANK_LINE)[:, None]
    targets = second.shape + (kinds % _BANK_LINE)[:, None]
    return sources, targets, often


def _part(values: Any, mask: NDArray[np.bool_]) -> Any:
    return values if values.ndim == 0 else values[mask]
