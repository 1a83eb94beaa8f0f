"""Barriers of a CUDA block: who has arrived, who is released, who waits for ever.

A barrier is known by its number. `bar.sync` and whatever else is `.aligned` asks all threads to
execute the same instruction, so there its place in the code belongs to it, where it names no thread
count: `__syncthreads()` in two arms of an `if` is two barriers. `barrier.sync` without `.aligned`
(cooperative groups) may be met from several places. `bar.arrive` counts its threads and lets them
go on; those at `bar.sync` wait for them too. Threads that have returned do not block a barrier
(compute capability 7.0 and later); that is noted.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import (
    DIVERGENT_ADVICE,
    DIVERGENT_EXPECTED,
    FaultKind,
    KernelFault,
    short,
)
from simulator.observing.events import Observer, listeners
from simulator.reading.ptx import Instruction
from simulator.reading.variables import integer
from simulator.running.frames import Point
from simulator.running.lanes import WARP, Lanes, merge
from simulator.running.registers import Registers
from simulator.running.wave import Wave
from simulator.translating.program import Program

_Key = tuple[int, int, Point]  # barrier, thread count or 0, place in the code or ()
_WORD = np.dtype(np.uint32)


def reduces(instruction: Instruction) -> bool:
    """`bar.red`: who passes learns of how many threads of the block a predicate holds."""
    return "red" in instruction.parts


def _goes_on(instruction: Instruction) -> bool:
    """`bar.arrive`: who comes is counted and does not wait."""
    return "arrive" in instruction.parts


def _names_place(instruction: Instruction) -> bool:
    """Whether all threads of the block must execute this very instruction."""
    return instruction.parts[0] == "bar" or "aligned" in instruction.parts


class Barriers:
    """The barriers of all blocks of a wave.

    waiting  who has arrived at each: points and lanes
    ahead    who has arrived at each and gone on
    notes    what is worth knowing and no fault, by line
    """

    def __init__(self, program: Program, wave: Wave, observers: list[Observer]) -> None:
        self.program = program
        self.wave = wave
        self._arrived = listeners(observers, "barrier_arrived")
        self._passed = listeners(observers, "barrier_passed")
        self.waiting: dict[_Key, list[tuple[Point, Lanes]]] = {}
        self.ahead: dict[_Key, list[Lanes]] = {}
        self.notes: dict[int | None, str] = {}

    def arrive(self, point: Point, registers: Registers, lanes: Lanes) -> list[tuple[Point, Lanes]]:
        """Lanes reach the barrier at a point; returns who may go on, and where."""
        instruction = self._instruction(point)
        operands = instruction.operands[1:-1] if reduces(instruction) else instruction.operands
        alone = lanes.index is None and not self.waiting and len(operands) < 2
        if alone and all(registers.is_uniform(operand) for operand in operands):
            if self._passed:
                barrier = int(_value(operands[0], registers, lanes)) if operands else 0
                for tell in self._passed:
                    tell(barrier, lanes, None, [])
            return [(point, lanes)]
        released: list[tuple[Point, Lanes]] = []
        for barrier, count, some in _named(operands, registers, lanes):
            placed = not count and _names_place(instruction)
            key = (barrier, count, point if placed else ())
            for party in self._one_by_one(key, some):
                if _goes_on(instruction):
                    for tell in self._arrived:
                        tell(barrier, party)
                    self.ahead.setdefault(key, []).append(party)
                    released.append((point, party))
                else:
                    self.waiting.setdefault(key, []).append((point, party))
                released += self._release(key)
        return released

    def _one_by_one(self, key: _Key, lanes: Lanes) -> list[Lanes]:
        """Parts of the lanes that come one after another.

        A barrier that counts its threads lets them go as soon as so many are there. If more come
        at once, they come warp by warp.
        """
        there = [some for _, some in self.waiting.get(key, [])] + self.ahead.get(key, [])
        if not key[1] or (self._by_block([*there, lanes]) <= key[1]).all():
            return [lanes]
        warps = lanes.warp_numbers()
        blocks = warps // (self.wave.padded // WARP)
        turn = np.arange(len(warps)) - np.searchsorted(blocks, blocks)
        of_lanes = np.repeat(turn, np.diff([*lanes.starts().tolist(), lanes.count]))
        return [lanes.select(of_lanes == k) for k in range(int(turn.max()) + 1)]

    def recheck(self) -> list[tuple[Point, Lanes]]:
        """Some threads returned: others may be waiting for nobody now."""
        released: list[tuple[Point, Lanes]] = []
        for key in list(self.waiting):
            released += self._release(key)
        return released

    def _instruction(self, point: Point) -> Instruction:
        return self.program.instructions[self.program.basic_blocks[point[-1]].first]

    def _release(self, key: _Key) -> list[tuple[Point, Lanes]]:
        waiting, ahead = self.waiting.pop(key, []), self.ahead.pop(key, [])
        live = self.wave.live
        arrived = self._by_block([lanes for _, lanes in waiting] + ahead)
        # Who has gone on and returned since has come all the same.
        able = live + self._by_block([lanes.select(~self._alive(lanes)) for lanes in ahead])
        expected = able if not key[1] else np.minimum(key[1], able)
        if key[1] > self.wave.padded:
            expected = np.full_like(able, key[1])  # more threads than a block has
        complete = (arrived >= expected) & (arrived > 0)
        if self._passed and waiting and complete.any():
            try:
                self._tell(key, complete, [lanes for _, lanes in waiting], ahead)
            except KernelFault:
                self._keep(key, waiting)  # whoever tells of the fault asks who was here
                raise
        left = [lanes.select(~complete[self.wave.slots_of(lanes)]) for lanes in ahead]
        if left := [lanes for lanes in left if lanes.count]:
            self.ahead[key] = left
        if not complete.any():
            self._keep(key, waiting)
            return []
        if waiting and not key[1]:
            self._note_returned(waiting[0][0], complete & (live < self.wave.threads))
        released: dict[Point, list[Lanes]] = {}
        rest: list[tuple[Point, Lanes]] = []
        for point, lanes in waiting:
            mask = complete[self.wave.slots_of(lanes)]
            if mask.all():
                released.setdefault(point, []).append(lanes)
            elif not mask.any():
                rest.append((point, lanes))
            else:
                free, held = lanes.split(mask)
                released.setdefault(point, []).append(free)
                rest.append((point, held))
        self._keep(key, rest)
        return [(point, merge(sets)) for point, sets in released.items()]

    def _tell(
        self, key: _Key, complete: NDArray[np.bool_], waiting: list[Lanes], ahead: list[Lanes]
    ) -> None:
        """Tell who has met in the blocks [blocks] that are complete."""
        # A barrier that counts its threads has counted none that had returned.
        everybody = self.wave.threads if key[1] else self.wave.live
        whole = complete & (self._by_block(waiting) >= everybody)
        met = merge(waiting)
        if not complete.all():
            met = met.select(complete[self.wave.slots_of(met)])
            ahead = [lanes.select(complete[self.wave.slots_of(lanes)]) for lanes in ahead]
        for tell in self._passed:
            tell(key[0], met, whole, ahead)

    def _keep(self, key: _Key, waiting: list[tuple[Point, Lanes]]) -> None:
        if waiting:
            self.waiting[key] = waiting

    def _by_block(self, sets: list[Lanes]) -> NDArray[np.int64]:
        """[blocks] how many lanes of each."""
        counts = np.zeros(len(self.wave.live), np.int64)
        for lanes in sets:
            counts += np.bincount(self.wave.slots_of(lanes), minlength=len(counts))
        return counts

    def _alive(self, lanes: Lanes) -> NDArray[np.bool_]:
        return self.wave.alive[lanes.indices()]

    def _note_returned(self, point: Point, left: NDArray[np.bool_]) -> None:
        """Threads that had returned were not waited for; left [blocks] where there were any."""
        line = self.program.line_of(point[-1])
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
        sites: dict[Point, list[Lanes]] = {}
        for waiting in self.waiting.values():
            for point, lanes in waiting:
                sites.setdefault(point, []).append(lanes)
        first = min(sites)
        lanes = merge(sites[first])
        lane = int(lanes.indices()[0])
        place = self.wave.place(lane)
        slot = int(self.wave.slot[lane])
        here = [
            (p, int(np.count_nonzero(self.wave.slot[merge(sets).indices()] == slot)))
            for p, sets in sorted(sites.items())
        ]
        parts = [
            f"{count} threads wait at line {self.program.line_of(p[-1])}{self._through(p)}"
            for p, count in here
            if count
        ]
        elsewhere = int(self.wave.live[slot]) - sum(count for _, count in here)
        if elsewhere:
            parts.append(f"{elsewhere} never come: they wait or loop elsewhere")
        return KernelFault(
            FaultKind.DIVERGENT_BARRIER,
            f"in block {short(place.block)}, {' and '.join(parts)}",
            line=self.program.line_of(first[-1]),
            expected=DIVERGENT_EXPECTED,
            advice=DIVERGENT_ADVICE,
            place=place,
        )

    def _through(self, point: Point) -> str:
        """From which call lanes have come to a barrier in a function."""
        if len(point) == 1:
            return ""
        return f" (called from line {self.program.instructions_of(point[-3])[-1].line})"


def _named(
    operands: tuple[str, ...], registers: Registers, lanes: Lanes
) -> list[tuple[int, int, Lanes]]:
    """The barrier and the thread count that lanes name, a register's value lane by lane."""
    values = [_value(operand, registers, lanes) for operand in operands] + [0, 0]
    barrier, count = values[:2]
    if np.ndim(barrier) == 0 and np.ndim(count) == 0:
        return [(int(barrier), int(count), lanes)]
    pairs = np.broadcast_arrays(barrier, count)
    return [
        (int(b), int(c), lanes.select((pairs[0] == b) & (pairs[1] == c)))
        for b, c in sorted(set(zip(*(p.tolist() for p in pairs), strict=True)))
    ]


def _value(operand: str, registers: Registers, lanes: Lanes) -> Any:
    if operand[0].isdigit():
        return integer(operand)
    return registers.read(operand, lanes, _WORD)
