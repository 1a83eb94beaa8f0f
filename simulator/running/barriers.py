"""Barriers of a CUDA block: who has arrived, who is released, who waits for ever.

A barrier is known by its number and, where it names no thread count, by its place in the code:
`__syncthreads()` in two arms of an `if` is two barriers. Threads that have returned do not block
one (compute capability 7.0 and later).
"""

from collections.abc import Callable

import numpy as np

from simulator.faults import FaultKind, KernelFault
from simulator.reading.ptx import Instruction
from simulator.running.lanes import Lanes, merge
from simulator.running.wave import Wave
from simulator.translating.program import Program

_Key = tuple[str, str, int]  # barrier, thread count or "", basic block or -1


def reduces(instruction: Instruction) -> bool:
    """`bar.red`: who passes learns of how many threads of the block a predicate holds."""
    return "red" in instruction.parts


class Barriers:
    def __init__(
        self, program: Program, wave: Wave, hear: list[Callable[[Instruction, int], None]]
    ) -> None:
        self.program = program
        self.wave = wave
        self.waiting: dict[_Key, list[tuple[int, Lanes]]] = {}
        self._hear = hear

    def arrive(self, number: int, lanes: Lanes) -> list[tuple[int, Lanes]]:
        """Lanes reach the barrier of basic block `number`; returns who may go on, and where."""
        instruction = self._instruction(number)
        if lanes.index is None and not self.waiting:
            self._tell(instruction, len(self.wave.blocks))
            return [(number, lanes)]
        names = instruction.operands[1:-1] if reduces(instruction) else instruction.operands
        barrier = names[0] if names else "0"
        count = names[1] if len(names) > 1 else ""
        key = (barrier, count, number if not count else -1)
        self.waiting.setdefault(key, []).append((number, lanes))
        return self._release(key)

    def recheck(self) -> list[tuple[int, Lanes]]:
        """Some threads returned: others may be waiting for nobody now."""
        released: list[tuple[int, Lanes]] = []
        for key in list(self.waiting):
            released += self._release(key)
        return released

    def _instruction(self, number: int) -> Instruction:
        return self.program.entry.instructions[self.program.blocks[number].first]

    def _release(self, key: _Key) -> list[tuple[int, Lanes]]:
        waiting = self.waiting[key]
        live = self.wave.live
        arrived = np.zeros(len(live), np.int64)
        for _, lanes in waiting:
            arrived += np.bincount(self.wave.slot[lanes.indices()], minlength=len(live))
        expected = live if not key[1] else np.minimum(int(key[1]), live)
        complete = (arrived >= expected) & (arrived > 0)
        if not complete.any():
            return []
        self._tell(self._instruction(waiting[0][0]), int(np.count_nonzero(complete)))
        released: dict[int, list[Lanes]] = {}
        rest: list[tuple[int, Lanes]] = []
        for number, lanes in waiting:
            mask = complete[self.wave.slot[lanes.indices()]]
            if mask.all():
                released.setdefault(number, []).append(lanes)
            elif not mask.any():
                rest.append((number, lanes))
            else:
                free, held = lanes.split(mask)
                released.setdefault(number, []).append(free)
                rest.append((number, held))
        if rest:
            self.waiting[key] = rest
        else:
            del self.waiting[key]
        return [(number, merge(sets)) for number, sets in released.items()]

    def _tell(self, instruction: Instruction, blocks: int) -> None:
        for hear in self._hear:
            hear(instruction, blocks)

    def agree(self) -> bool:
        """Whether no block has threads that wait at two barriers."""
        barriers = np.zeros(len(self.wave.live), np.int64)
        for waiting in self.waiting.values():
            slots = np.concatenate([self.wave.slot[lanes.indices()] for _, lanes in waiting])
            barriers[np.unique(slots)] += 1
        return bool((barriers <= 1).all())

    def stuck(self) -> KernelFault:
        """Nobody can run and somebody waits here."""
        sites: dict[int, list[Lanes]] = {}
        for waiting in self.waiting.values():
            for number, lanes in waiting:
                sites.setdefault(number, []).append(lanes)
        first = min(sites)
        lanes = merge(sites[first])
        lane = int(lanes.indices()[0])
        place = self.wave.place(lane)
        slot = int(self.wave.slot[lane])
        here = [
            (n, int(np.count_nonzero(self.wave.slot[merge(sets).indices()] == slot)))
            for n, sets in sorted(sites.items())
        ]
        parts = [
            f"{count} threads wait at line {self.program.line_of(n)}" for n, count in here if count
        ]
        elsewhere = int(self.wave.live[slot]) - sum(count for _, count in here)
        if elsewhere:
            parts.append(f"{elsewhere} never come: they wait or loop elsewhere")
        block = place.block
        return KernelFault(
            FaultKind.DIVERGENT_BARRIER,
            f"in block {block[0] if block[1:] == (0, 0) else block}, {' and '.join(parts)}",
            line=self.program.line_of(first),
            expected="Every thread of a block reaches the same __syncthreads().",
            advice="Move the barrier out of the if or the loop that only some threads enter.",
            place=place,
        )
