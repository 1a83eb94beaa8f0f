"""The observer that counts: requests and bytes, instructions, branches, barriers, waits."""

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from simulator.observing import copy_counters, memory_counters
from simulator.observing.address_rows import all_in_row
from simulator.observing.counters import Counters, Traffic, total
from simulator.observing.events import Copy, Kind, MemoryEvent, Observer, Space
from simulator.observing.footprint import Footprint
from simulator.observing.hottest import UpdateCounts
from simulator.observing.instruction_classes import Share, shares
from simulator.observing.load_waits import LoadWaits, wait_table
from simulator.observing.overlap import Overlap
from simulator.reading.lines import CallPath, Line, frames_of
from simulator.reading.ptx import Entry, Instruction
from simulator.running.buffers import Buffer
from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import Wave
from simulator.translating.program import Program

SHARED_MEMORY = "shared memory"  # among the buffers; no parameter can have this name


class Counting(Observer):
    """Counts by instruction or basic block; lines and kernels are sums of them."""

    def __init__(self, entry: Entry, program: Program) -> None:
        self.program = program
        self.kernel = Counters()  # what belongs to no instruction: blocks, warps, threads
        self._by_instruction: dict[int, Counters] = {}
        # [basic blocks] warps and threads that ran it
        self._warps, self._threads = np.zeros((2, len(program.basic_blocks)), np.int64)
        self._exits = branches_to_the_end(program)
        self._waits = LoadWaits(wait_table(entry, program))
        self._overlap = Overlap()
        self._footprints: dict[Buffer, Footprint] = {}
        self._updates: dict[Buffer, UpdateCounts] = {}
        self._shared_updates: UpdateCounts | None = None  # of the wave
        self._hottest_shared = 0  # of the waves before

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave
        self.kernel.blocks += len(wave.blocks)
        self.kernel.threads += len(wave.blocks) * wave.threads
        self.kernel.warps += wave.size // WARP
        self._waits.wave_started(wave)
        self._overlap.wave_started(wave)
        self._finish_shared()

    def basic_block_ran(self, number: int, lanes: Lanes) -> None:
        self._warps[number] += lanes.warps
        self._threads[number] += lanes.count
        self._waits.basic_block_ran(number, lanes)

    def branched(self, instruction: Instruction, taken: NDArray[np.bool_], lanes: Lanes) -> None:
        if instruction.index in self._exits:
            return
        if lanes.complete(WARP):
            groups = taken.reshape(-1, WARP)
            both = ~(all_in_row(groups) | all_in_row(~groups))
        else:
            starts = lanes.starts()
            some = np.logical_or.reduceat(taken, starts)
            both = some & ~np.logical_and.reduceat(taken, starts)
        self._of(instruction).divergent_branches += int(np.count_nonzero(both))

    def copy_started(self, copy: Copy) -> None:
        copy_counters.count(copy, self._of(copy.reading.access.instruction))
        self._overlap.copy_started(copy)

    def copy_waited_for(self, copy: Copy, lanes: Lanes) -> None:
        self._overlap.copy_waited_for(lanes)

    def warp_met(self, instruction: Instruction, mask: Any, lanes: Lanes) -> None:
        overlapped = self._overlap.products(instruction, lanes)
        if overlapped:
            self._of(instruction).overlapped_mma += overlapped

    def memory_accessed(self, event: MemoryEvent) -> None:
        memory_counters.count(event, self._of(event.access.instruction))
        space, atomic = event.access.space, event.access.kind is Kind.ATOMIC
        if space is Space.GLOBAL and event.buffer is not None:
            footprint = self._footprints.get(event.buffer)
            if footprint is None:
                footprint = self._footprints[event.buffer] = Footprint(event.buffer.bytes)
            footprint.touch(event)
            if atomic:
                updates = self._updates.get(event.buffer)
                if updates is None:
                    updates = self._updates[event.buffer] = UpdateCounts(event.buffer.bytes)
                updates.touch(event)
        elif space is Space.SHARED and atomic:
            if self._shared_updates is None:
                self._shared_updates = UpdateCounts(len(self.wave.shared))
            self._shared_updates.touch_shared(event, self.wave)

    def _finish_shared(self) -> None:
        """The wave's blocks and their shared memory are gone."""
        if self._shared_updates is not None:
            self._hottest_shared = max(self._hottest_shared, self._shared_updates.hottest())
            self._shared_updates = None

    def _of(self, instruction: Instruction) -> Counters:
        found = self._by_instruction.get(instruction.index)
        if found is None:
            found = self._by_instruction[instruction.index] = Counters()
        return found

    # ---- results

    def by_path(self) -> dict[CallPath, Counters]:
        """Source line and the calls that led there -> the counters of what came that way."""
        paths = {frames_of(i.line): Counters() for i in self.program.instructions}
        for number in np.flatnonzero(self._warps).tolist():
            warps, threads = int(self._warps[number]), int(self._threads[number])
            for share in _shares(self.program, number):
                often = threads if share.by_lane else warps
                paths[share.path].add(share.counter, share.amount * often)
        accessed: dict[CallPath, list[Counters]] = {}
        for index, counters in self._by_instruction.items():
            path = frames_of(self.program.instructions[index].line)
            accessed.setdefault(path, []).append(counters)
        for path, parts in accessed.items():
            paths[path] = total((paths[path], *parts))
        for path, waits in self._waits.by_path.items():
            paths[path].load_waits += waits
        return paths

    def traffic(self) -> dict[str, Traffic]:
        """By the buffer's name; buffers of one name add up."""
        found: dict[str, Traffic] = {}
        for buffer, footprint in self._footprints.items():
            updates = self._updates.get(buffer)
            seen = footprint.traffic(updates.hottest() if updates is not None else 0)
            found[buffer.name] = found.get(buffer.name, Traffic()) + seen
        self._finish_shared()
        if self._hottest_shared:
            found[SHARED_MEMORY] = Traffic(hottest_updates=self._hottest_shared)
        return found


def by_line(paths: Mapping[CallPath, Counters]) -> dict[int, Counters]:
    """Source line -> the counters of its own instructions, in the order of the lines."""
    found: dict[int, list[Counters]] = {}
    for path, counters in paths.items():
        found.setdefault(int(Line.of(path)), []).append(counters)
    return {line: total(found[line]) for line in sorted(found)}


def branches_to_the_end(program: Program) -> frozenset[int]:
    """The indices of branches that only let lanes return early, as `if (i < n)` around a kernel.

    The assembler makes each an exit with a predicate: no branch, and so never a divergent one. A
    branch of a loop stays one, though it may lead to the end.
    """
    blocks = program.basic_blocks
    in_loops = {member for block in blocks if block.loop for member in block.loop.members}
    ends = {n for n in range(len(blocks)) if program.instructions_of(n)[0].parts[0] == "ret"}
    return frozenset(
        block.end - 1
        for number, block in enumerate(blocks)
        if number not in in_loops and ends & set(block.successors)
    )


_SHARES: WeakKeyDictionary[Program, dict[int, list[Share]]] = WeakKeyDictionary()


def _shares(program: Program, number: int) -> list[Share]:
    """What one run of a basic block adds; worked out once, and only for one that has run."""
    known = _SHARES.setdefault(program, {})
    if number not in known:
        known[number] = list(shares(program.instructions_of(number), program.left_out))
    return known[number]
