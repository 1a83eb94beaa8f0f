"""Two threads that hold one element of a tile: what one of them stores cannot harm the other.

A compiler of tiles, as Triton's, spreads a tile over the threads of a block, and a small tile
several times: all who hold an element load it, one of them stores it back. The others have read
what it has read, and what they make of it is left out.
"""

import numpy as np
from numpy.typing import NDArray

from simulator.observing.race_ways import READS, UPDATES
from simulator.observing.shadow import Shadow, Suspects
from simulator.observing.shadow_log import Touch
from simulator.observing.shadow_places import granules, part
from simulator.reading.ptx import Instruction

_THREAD_BITS = 32


def of_one_element(
    touch: Touch, suspects: Suspects, shadow: Shadow, loads: dict[int, Instruction], padded: int
) -> NDArray[np.bool_]:
    """[count] whether the one who writes has loaded the element as often as the other.

    loads   the instructions of the earlier accesses, by their moments
    padded  threads of a block, up to whole warps
    """
    threads, places = touch.threads[suspects.positions], suspects.granules
    same_block = threads // padded == suspects.threads // padded
    found: NDArray[np.bool_] = same_block & (suspects.threads >= 0)
    if touch.way in READS:
        instruction = touch.event.access.instruction
        some = np.flatnonzero(found)
        by_reader = 1 + _often(shadow, instruction, places[some], threads[some])
        writers, until = suspects.threads[some], suspects.moments[some]
        found[some] = _often(shadow, instruction, places[some], writers, until) >= by_reader
        return found
    if suspects.conflict.earlier not in READS or touch.way in UPDATES:
        return np.zeros(len(threads), bool)
    for moment, instruction in loads.items():
        some = np.flatnonzero(found & (suspects.moments == moment))
        load = shadow.log.at(moment)
        if load is not None:  # mostly the two have loaded it together
            together = _loaded(load, shadow.shift, _keys(places[some], threads[some]))
            some = some[~together]
        if len(some):
            by_reader = _often(shadow, instruction, places[some], suspects.threads[some])
            by_writer = _often(shadow, instruction, places[some], threads[some])
            found[some] = by_writer >= by_reader
    return found


def _often(
    shadow: Shadow,
    instruction: Instruction,
    places: NDArray[np.int64],
    threads: NDArray[np.int64],
    before: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """[count] how often a thread has loaded a granule by an instruction, before a moment."""
    wanted, counts = _keys(places, threads), np.zeros(len(places), np.int64)
    for touch in shadow.log.by(instruction):
        early = True if before is None else touch.moment < before
        counts += _loaded(touch, shadow.shift, wanted) & early
    return counts


def _loaded(touch: Touch, shift: int, wanted: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """[count] whether a load is one of these granules by these threads, as keys."""
    moved, index = granules(touch.event, shift)
    first = part(moved, index, np.arange(touch.event.lanes.count))
    found = np.zeros(len(wanted), bool)
    for k in range(touch.event.access.bytes >> shift):
        found |= np.isin(wanted, _keys(first + k, touch.threads))
    return found


def _keys(places: NDArray[np.int64], threads: NDArray[np.int64]) -> NDArray[np.uint64]:
    return places.astype(np.uint64) << np.uint64(_THREAD_BITS) | threads.astype(np.uint64)
