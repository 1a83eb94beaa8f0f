"""The observer that counts: requests and bytes, instructions, branches, barriers."""

import numpy as np
from numpy.typing import NDArray

from simulator.observing.counters import Counters, Traffic
from simulator.observing.events import Kind, MemoryEvent, Observer, Space
from simulator.observing.footprint import Footprint
from simulator.observing.requests import distinct, sectors, useful_bytes, wavefronts
from simulator.reading.ptx import Instruction
from simulator.running.buffers import Buffer
from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import Wave
from simulator.translating.control_flow import meets_block
from simulator.translating.program import Program

_DIRECTION = {Kind.LOAD: "load", Kind.STORE: "store"}


class Counting(Observer):
    """Counts by instruction; lines and kernels are sums of instructions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.kernel = Counters()  # what belongs to no instruction: blocks, warps, threads
        self._by_instruction: dict[int, Counters] = {}
        # [basic blocks] warps and threads that ran it
        self._warps, self._threads = np.zeros((2, len(program.basic_blocks)), np.int64)
        self._footprints: dict[Buffer, Footprint] = {}

    def wave_started(self, wave: Wave) -> None:
        self.kernel.blocks += len(wave.blocks)
        self.kernel.threads += len(wave.blocks) * wave.threads
        self.kernel.warps += wave.size // WARP

    def basic_block_ran(self, number: int, lanes: Lanes) -> None:
        self._warps[number] += lanes.warps
        self._threads[number] += lanes.count

    def branched(self, instruction: Instruction, taken: NDArray[np.bool_], lanes: Lanes) -> None:
        if lanes.index is None:
            groups = taken.reshape(-1, WARP)
            both = groups.any(axis=1) & ~groups.all(axis=1)
        else:
            starts = np.flatnonzero(np.diff(lanes.index >> 5, prepend=-1))
            some = np.logical_or.reduceat(taken, starts)
            both = some & ~np.logical_and.reduceat(taken, starts)
        self._of(instruction).divergent_branches += int(np.count_nonzero(both))

    def memory_accessed(self, event: MemoryEvent) -> None:
        access = event.access
        counters = self._of(access.instruction)
        if access.kind is Kind.ATOMIC:
            counters.atomics += event.lanes.warps
        elif access.space is Space.GLOBAL:
            self._global(event, counters, f"global_{_DIRECTION[access.kind]}")
        elif access.space is Space.SHARED:
            self._shared(event, counters, f"shared_{_DIRECTION[access.kind]}")
        elif access.space is Space.LOCAL:
            self._local(event, counters, f"local_{_DIRECTION[access.kind]}")
        if access.space is Space.GLOBAL and event.buffer is not None:
            print_ = self._footprints.get(event.buffer)
            if print_ is None:
                print_ = self._footprints[event.buffer] = Footprint(event.buffer.bytes)
            print_.touch(event)

    def _global(self, event: MemoryEvent, counters: Counters, name: str) -> None:
        addresses, size = event.addresses, event.access.bytes
        requests = event.lanes.warps
        if addresses.uniform:
            moved, useful, ideal = requests, requests * size, requests
        else:
            key = ("sectors", event.offset % 32, size)
            known = addresses.memo.get(key)
            if known is None:
                rows = addresses.rows()
                if event.offset % 32:
                    rows = rows + event.offset % 32
                step = addresses.step()
                useful, ideal = useful_bytes(rows, size, step)
                if event.lanes.index is not None and event.lanes.count != rows.size:
                    useful, ideal = useful_bytes(rows, size, None)
                known = addresses.memo[key] = (sectors(rows, step), useful, ideal)
            moved, useful, ideal = known
        counters.add(f"{name}_requests", requests)
        counters.add(f"{name}_sectors", moved)
        counters.add(f"{name}_bytes", useful)
        counters.add(f"{name}_ideal_sectors", ideal)

    def _shared(self, event: MemoryEvent, counters: Counters, name: str) -> None:
        addresses, width = event.addresses, max(4, event.access.bytes)
        requests = event.lanes.warps
        group = WARP * 4 // width  # lanes served together: 32, 16 or 8
        if addresses.uniform:
            passes = best = event.lanes.groups(group)
        else:
            key = ("banks", event.offset % 4, width)
            known = addresses.memo.get(key)
            if known is None:
                rows = addresses.rows(group)
                if event.offset % 4:
                    rows = rows + event.offset % 4
                known = wavefronts(rows, addresses.step(group), width), len(rows)
                addresses.memo[key] = known
            passes, best = known
        counters.add(f"{name}_requests", requests)
        counters.add(f"{name}_wavefronts", passes)
        counters.add(f"{name}_conflicts", passes - best)

    @staticmethod
    def _local(event: MemoryEvent, counters: Counters, name: str) -> None:
        """Local memory is interleaved word by word: the same word of 8 lanes fills a sector."""
        lanes, words = event.lanes, max(1, event.access.bytes // 4)
        if event.addresses.uniform:
            moved = lanes.groups(8)
        else:
            rows = (event.addresses.rows(8) + event.offset) >> 2
            moved = int(distinct(rows).sum())
        counters.add(f"{name}_requests", lanes.warps)
        counters.add(f"{name}_sectors", moved * words)

    def _of(self, instruction: Instruction) -> Counters:
        found = self._by_instruction.get(instruction.index)
        if found is None:
            found = self._by_instruction[instruction.index] = Counters()
        return found

    # ---- results

    def by_line(self) -> dict[int, Counters]:
        """Source line -> its counters, in the order of the lines."""
        lines: dict[int, Counters] = {}
        instructions = self.program.instructions
        for number, block in enumerate(self.program.basic_blocks):
            warps, threads = int(self._warps[number]), int(self._threads[number])
            for instruction in instructions[block.first : block.end]:
                counters = lines.setdefault(instruction.line, Counters())
                own = self._by_instruction.get(instruction.index)
                if own is not None:
                    lines[instruction.line] = counters = counters + own
                counters.warp_instructions += warps
                counters.thread_instructions += threads
                parts = instruction.parts
                if parts[0] == "bra" and instruction.guard is not None:
                    counters.branches += warps
                if parts[0] == "shfl":
                    counters.shuffles += warps
                elif meets_block(instruction):
                    counters.barriers += warps
        return dict(sorted(lines.items()))

    def total(self) -> Counters:
        total = self.kernel
        for counters in self.by_line().values():
            total = total + counters
        return total

    def traffic(self) -> dict[str, Traffic]:
        """By the buffer's name; buffers of one name add up."""
        found: dict[str, Traffic] = {}
        for buffer, footprint in self._footprints.items():
            found[buffer.name] = found.get(buffer.name, Traffic()) + footprint.traffic()
        return found
