"""Loops that wait, and loops that never end.

A lane that comes back to a loop's header with the same registers and unchanged memory will do the
same for ever: it is parked until memory changes. If nobody else is left to change it, the loop is
endless, and that is proven, not guessed. A loop whose registers do change is only stopped by the
time limit.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.faults import FaultKind, KernelFault
from simulator.running.execution import Execution
from simulator.running.lanes import Lanes
from simulator.translating.control_flow import may_wait, reads_clock
from simulator.translating.program import Program

_WAITING_LOOP = 8  # visits before a loop that may wait is looked at, each time
_ANY_LOOP = 256  # visits before any other is, and between two looks
_OTHERS_TURN = 4096  # visits after which a loop lets the others run first


@dataclass(slots=True)
class _Snapshot:
    lanes: Lanes
    values: list[Any]  # of the live registers
    changes: int  # of memory


class LoopWatch:
    def __init__(self, program: Program, run: Execution) -> None:
        self.program = program
        self.run = run
        self.parked: list[tuple[int, Lanes, int]] = []  # basic block, lanes, changes of memory
        self._visits: dict[int, int] = {}
        self._snapshots: dict[int, _Snapshot] = {}
        self._resting: list[tuple[int, Lanes]] = []
        blocks = program.blocks
        self._waits = {
            n: may_wait(program.entry, blocks, b) for n, b in enumerate(blocks) if b.is_loop_header
        }
        self._timed = {n for n in self._waits if reads_clock(program.entry, blocks, blocks[n])}

    def wake(self, ready: dict[int, list[Lanes]]) -> None:
        """Let parked lanes run again if memory has changed since they were parked."""
        if self.parked:
            now = self.run.memory.changes
            still = [p for p in self.parked if p[2] == now]
            for number, lanes, changes in self.parked:
                if changes != now:
                    ready.setdefault(number, []).append(lanes)
            self.parked = still
        if self._resting and not ready:
            for number, lanes in self._resting:
                ready.setdefault(number, []).append(lanes)
            self._resting = []

    def visit(self, number: int, lanes: Lanes, others: bool) -> Lanes | None:
        """Lanes reach the header of a loop; returns those that go on now."""
        visits = self._visits[number] = self._visits.get(number, 0) + 1
        if others and visits % _OTHERS_TURN == 0:
            self._resting.append((number, lanes))
            return None
        if number in self._timed:
            return lanes
        if visits < (_WAITING_LOOP if self._waits[number] else _ANY_LOOP):
            return lanes
        self.run.memory.watch = True
        if not self._waits[number] and visits % _ANY_LOOP > 1:
            return lanes
        return self._look(number, lanes)

    def _look(self, number: int, lanes: Lanes) -> Lanes | None:
        """Park the lanes that come back unchanged."""
        registers = sorted(self.program.blocks[number].live_in)
        values = [self.run.registers.read(r, lanes, _ANY) for r in registers]
        changes = self.run.memory.changes
        before = self._snapshots.get(number)
        self._snapshots[number] = _Snapshot(lanes, values, changes)
        if before is None or before.changes != changes:
            return lanes
        same = self._unchanged(before, lanes, values)
        if not same.any():
            return lanes
        del self._snapshots[number]
        parked, rest = lanes.split(same)
        self.parked.append((number, lanes if same.all() else parked, changes))
        return None if same.all() else rest

    @staticmethod
    def _unchanged(before: _Snapshot, lanes: Lanes, values: list[Any]) -> Any:
        """[count] whether a lane has the same registers as in the snapshot."""
        old = before.lanes.indices()
        new = lanes.indices()
        place = np.minimum(np.searchsorted(old, new), len(old) - 1)
        same = old[place] == new
        for was, now in zip(before.values, values, strict=True):
            if was.dtype != now.dtype:
                return np.zeros(lanes.count, bool)
            then = was if was.ndim == 0 else was[place]
            equal = (then == now) | ((then != then) & (now != now))
            if equal.ndim == 0 and not equal:
                return np.zeros(lanes.count, bool)
            same = same & equal
        return same

    def stuck(self) -> KernelFault:
        """Everybody who is left is parked."""
        number, lanes, _ = self.parked[0]
        place = self.run.wave.place(int(lanes.indices()[0]))
        count = sum(p[1].count for p in self.parked)
        line = self._line(number)
        if self._waits[number]:
            return KernelFault(
                FaultKind.DEADLOCK,
                f"{count} threads, {place} among them, wait in a loop for memory to change, "
                "and nobody is left to change it",
                line=line,
                expected="Whoever is waited for runs and writes the value.",
                advice="Ask who should write it, and whether that thread can have started yet.",
                place=place,
            )
        return KernelFault(
            FaultKind.ENDLESS_LOOP,
            f"{place} loops for ever: nothing changes from one turn to the next "
            f"({count} thread{'s' * (count > 1)} in all)",
            line=line,
            expected="Something in the loop's condition moves in every turn.",
            advice="Look at the loop's step: which variable should change here, and does it?",
            place=place,
        )

    def out_of_time(self, number: int, lanes: Lanes, seconds: float) -> KernelFault:
        place = self.run.wave.place(int(lanes.indices()[0]))
        headers = [n for n, b in enumerate(self.program.blocks) if number in b.loop]
        header = max(headers, key=lambda n: self._visits.get(n, 0), default=None)
        turns = self._visits.get(header, 0) if header is not None else 0
        return KernelFault(
            FaultKind.ENDLESS_LOOP,
            f"{place} still runs after {seconds:.0f} s; its loop has turned {turns:,} times",
            line=self._line(header if header is not None else number),
            expected="The kernel ends.",
            advice="Check the loop's bound and step, or give the simulator a smaller problem.",
            place=place,
        )

    def _line(self, number: int) -> int | None:
        """The first line of a loop that the compiler names."""
        block = self.program.blocks[number]
        instructions = self.program.entry.instructions
        lines = [
            i.line
            for n in (block.loop or [number])
            for i in instructions[self.program.blocks[n].first : self.program.blocks[n].end]
            if i.line
        ]
        return min(lines) if lines else None


_ANY = np.dtype(np.uint32)  # only a register that was never written is made, as zero
