"""Loops that wait, and loops that never end.

A lane that comes back to a loop's header with the same registers and unchanged memory will do the
same for ever, if nothing but memory can tell it of the others: it is parked until memory changes.
In a loop that meets the warp (a vote, a shuffle) or the block (a barrier), lanes learn of each
other there too: so they are parked only when every live lane of their warp, or of their block, has
come back unchanged. If nobody else is left to change memory, the loop is endless, and that is
proven, not guessed. A loop whose registers do change is only stopped by the time limit.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.faults import FaultKind, KernelFault, short
from simulator.running.execution import Execution
from simulator.running.frames import Frame, Point
from simulator.running.lanes import WARP, Lanes
from simulator.running.registers import Registers
from simulator.running.wave import unravel
from simulator.translating.control_flow import Company
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
    """Watches who comes back to the headers of loops, each in its frame.

    parked  lanes that only a change of memory can wake: point of the header, lanes, changes so far
    """

    def __init__(self, program: Program, run: Execution) -> None:
        self.program = program
        self.run = run
        self.parked: list[tuple[Point, Lanes, int]] = []
        self._visits: dict[Point, int] = {}
        self._snapshots: dict[Point, _Snapshot] = {}
        self._resting: list[tuple[Point, Lanes]] = []
        self._loops = {n: b.loop for n, b in enumerate(program.basic_blocks) if b.loop is not None}
        self._headers: dict[int, list[int]] = {}  # by the function that the loops are in
        for number in self._loops:
            self._headers.setdefault(program.basic_blocks[number].function, []).append(number)

    def wake(self, ready: dict[Point, list[Lanes]]) -> None:
        """Let parked lanes run again if memory has changed since they were parked."""
        if self.parked:
            now = self.run.memory.changes
            still = [p for p in self.parked if p[2] == now]
            for point, lanes, changes in self.parked:
                if changes != now:
                    ready.setdefault(point, []).append(lanes)
            self.parked = still
        if self._resting and not ready:
            for point, lanes in self._resting:
                ready.setdefault(point, []).append(lanes)
            self._resting = []

    def returned(self, frame: Frame) -> None:
        """Lanes have left a function. When they enter it again, its registers do not tell all."""
        for number in self._headers.get(frame.path[-1], ()):
            point = (*frame.path, number)
            self._snapshots.pop(point, None)
            if not frame.inside:
                self._visits.pop(point, None)

    def visit(self, point: Point, registers: Registers, lanes: Lanes, others: bool) -> Lanes | None:
        """Lanes reach the header of a loop; returns those that go on now."""
        visits = self._visits[point] = self._visits.get(point, 0) + 1
        if others and visits % _OTHERS_TURN == 0:
            self._resting.append((point, lanes))
            return None
        loop = self._loops[point[-1]]
        if loop.reads_clock or visits < (_WAITING_LOOP if loop.may_wait else _ANY_LOOP):
            return lanes
        self.run.memory.watch = True
        if not loop.may_wait and visits % _ANY_LOOP > 1:
            return lanes
        return self._look(point, registers, lanes)

    def _look(self, point: Point, registers: Registers, lanes: Lanes) -> Lanes | None:
        """Park the lanes that come back unchanged."""
        names = sorted(self.program.basic_blocks[point[-1]].live_in)
        values = [registers.read(name, lanes, _ANY) for name in names]
        changes = self.run.memory.changes
        before = self._snapshots.get(point)
        self._snapshots[point] = _Snapshot(lanes, values, changes)
        if before is None or before.changes != changes:
            return lanes
        same = self._with_company(point[-1], lanes, self._unchanged(before, lanes, values))
        if not same.any():
            return lanes
        del self._snapshots[point]
        parked, rest = lanes.split(same)
        self.parked.append((point, lanes if same.all() else parked, changes))
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

    def _with_company(self, number: int, lanes: Lanes, same: Any) -> Any:
        """Of the lanes that came back unchanged [count], those whose company all did."""
        wave, met = self.run.wave, self._loops[number].company
        if met is Company.NONE or not same.any():
            return same
        indices = lanes.indices()
        if met is Company.WARP:
            group, live = indices // WARP, wave.live_in_warp()
        else:
            group, live = wave.slot[indices], wave.live
        unchanged = np.bincount(group[same], minlength=len(live))
        return (unchanged == live)[group]

    def stuck(self) -> KernelFault:
        """Everybody who is left is parked."""
        point, lanes, _ = self.parked[0]
        number = point[-1]
        place = self.run.wave.place(int(lanes.indices()[0]))
        count = sum(p[1].count for p in self.parked)
        line = self._line(number)
        if self._loops[number].may_wait:
            return KernelFault(
                FaultKind.DEADLOCK,
                f"{count} threads, {place} among them, wait in a loop for memory to change, "
                f"and nobody is left to change it{self._not_started()}",
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

    def _not_started(self) -> str:
        """Who cannot be waited for: the blocks that start when some of these have ended."""
        later, grid = self.run.wave.later, self.run.wave.grid
        if not len(later):
            return ""
        first, last = short(unravel(int(later.min()), grid)), short(unravel(int(later.max()), grid))
        if len(later) == 1:
            names = f"block {first} has"
        elif later.max() - later.min() == len(later) - 1:
            names = f"blocks {first} .. {last} have"
        else:
            names = f"{len(later)} blocks, {first} among them, have"
        together = len(self.run.wave.blocks)
        return f"; {names} not started: only {together} {'are' if together > 1 else 'is'} resident"

    def out_of_time(self, point: Point, lanes: Lanes, seconds: float) -> KernelFault:
        place = self.run.wave.place(int(lanes.indices()[0]))
        header = self._turning(point)
        turns = f"its loop has turned {self._visits.get(header, 0):,} times" if header else ""
        depth = len(point) // 2
        deep = f"{depth:,} call{'s' * (depth > 1)} deep" if depth else ""
        what = ", ".join(filter(None, (turns, deep))) or "in no loop"
        return KernelFault(
            FaultKind.ENDLESS_LOOP,
            f"{place} still runs after {seconds:.0f} s; {what}",
            line=self._line((header or point)[-1]),
            expected="The kernel ends.",
            advice="Check the loop's bound and step, or give the simulator a smaller problem.",
            place=place,
        )

    def _turning(self, point: Point) -> Point | None:
        """The header of the loop around a point that turns most, in the innermost call with one."""
        for end in range(len(point), 0, -2):
            path, number = point[: end - 1], point[end - 1]
            around = [(*path, n) for n, loop in self._loops.items() if number in loop.members]
            if around:
                return max(around, key=lambda p: self._visits.get(p, 0))
        return None

    def _line(self, number: int) -> int | None:
        """The first line of a loop that the compiler names."""
        loop = self._loops.get(number)
        lines = [
            instruction.line
            for member in (loop.members if loop else [number])
            for instruction in self.program.instructions_of(member)
            if instruction.line
        ]
        return min(lines) if lines else None


_ANY = np.dtype(np.uint32)  # only a register that was never written is made, as zero
