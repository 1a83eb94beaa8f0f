"""Barriers of a CUDA block: who has arrived, who is released, who waits for ever.

A barrier is known by its number. `bar.sync` and whatever else is `.aligned` asks all threads to
execute the same instruction, so there its place in the code belongs to it, where it names no thread
count: `__syncthreads()` in two arms of an `if` is two barriers. `barrier.sync` without `.aligned`
(cooperative groups) may be met from several places. Threads that have returned do not block a
barrier (compute capability 7.0 and later); that is noted.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind, KernelFault, short
from simulator.reading.ptx import Instruction
from simulator.reading.variables import integer
from simulator.running.lanes import Lanes, merge
from simulator.running.registers import Registers
from simulator.running.wave import Wave
from simulator.translating.program import Program

_Key = tuple[int, int, int]  # barrier, thread count or 0, basic block or -1
_WORD = np.dtype(np.uint32)


def reduces(instruction: Instruction) -> bool:
    """`bar.red`: who passes learns of how many threads of the block a predicate holds."""
    return "red" in instruction.parts


def _names_place(instruction: Instruction) -> bool:
    """Whether all threads of the block must execute this very instruction."""
    return instruction.parts[0] == "bar" or "aligned" in instruction.parts


class Barriers:
    """The barriers of all blocks of a wave.

    waiting  who has arrived at each: basic blocks and lanes
    notes    what is worth knowing and no fault, by line
    """

    def __init__(self, program: Program, wave: Wave, registers: Registers) -> None:
        self.program = program
        self.wave = wave
        self.registers = registers
        self.waiting: dict[_Key, list[tuple[int, Lanes]]] = {}
        self.notes: dict[int | None, str] = {}

    def arrive(self, number: int, lanes: Lanes) -> list[tuple[int, Lanes]]:
        """Lanes reach the barrier of basic block `number`; returns who may go on, and where."""
        instruction = self._instruction(number)
        operands = instruction.operands[1:-1] if reduces(instruction) else instruction.operands
        alone = lanes.index is None and not self.waiting and len(operands) < 2
        if alone and all(self.registers.is_uniform(operand) for operand in operands):
            return [(number, lanes)]
        released: list[tuple[int, Lanes]] = []
        for barrier, count, some in self._named(operands, lanes):
            placed = not count and _names_place(instruction)
            key = (barrier, count, number if placed else -1)
            self.waiting.setdefault(key, []).append((number, some))
            released += self._release(key)
        return released

    def _named(self, operands: tuple[str, ...], lanes: Lanes) -> list[tuple[int, int, Lanes]]:
        """The barrier and the thread count that lanes name, a register's value lane by lane."""
        values = [self._value(operand, lanes) for operand in operands] + [0, 0]
        barrier, count = values[:2]
        if np.ndim(barrier) == 0 and np.ndim(count) == 0:
            return [(int(barrier), int(count), lanes)]
        pairs = np.broadcast_arrays(barrier, count)
        return [
            (int(b), int(c), lanes.select((pairs[0] == b) & (pairs[1] == c)))
            for b, c in sorted(set(zip(*(p.tolist() for p in pairs), strict=True)))
        ]

    def _value(self, operand: str, lanes: Lanes) -> Any:
        if operand[0].isdigit():
            return integer(operand)
        return self.registers.read(operand, lanes, _WORD)

    def recheck(self) -> list[tuple[int, Lanes]]:
        """Some threads returned: others may be waiting for nobody now."""
        released: list[tuple[int, Lanes]] = []
        for key in list(self.waiting):
            released += self._release(key)
        return released

    def _instruction(self, number: int) -> Instruction:
        return self.program.instructions[self.program.basic_blocks[number].first]

    def _release(self, key: _Key) -> list[tuple[int, Lanes]]:
        waiting = self.waiting[key]
        live = self.wave.live
        arrived = np.zeros(len(live), np.int64)
        for _, lanes in waiting:
            arrived += np.bincount(self.wave.slot[lanes.indices()], minlength=len(live))
        expected = live if not key[1] else np.minimum(key[1], live)
        complete = (arrived >= expected) & (arrived > 0)
        if not complete.any():
            return []
        if not key[1]:
            self._note_returned(waiting[0][0], complete & (live < self.wave.threads))
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

    def _note_returned(self, number: int, left: NDArray[np.bool_]) -> None:
        """Threads that had returned were not waited for; left [blocks] where there were any."""
        line = self.program.line_of(number)
        if line in self.notes or not left.any():
            return
        slot = int(np.argmax(left))
        gone = self.wave.threads - int(self.wave.live[slot])
        block = self.wave.block_at(slot)
        have, it = ("threads", "them") if gone > 1 else ("thread", "it")
        self.notes[line] = (
            f"{gone} {have} of block {short(block)} had returned before the barrier"
            f"{f' at line {line}' if line else ''}: it does not wait for {it}"
        )

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
        return KernelFault(
            FaultKind.DIVERGENT_BARRIER,
            f"in block {short(place.block)}, {' and '.join(parts)}",
            line=self.program.line_of(first),
            expected="Every thread of a block reaches the same __syncthreads().",
            advice="Move the barrier out of the if or the loop that only some threads enter.",
            place=place,
        )
