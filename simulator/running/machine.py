"""Runs one wave: always the lowest basic block that has lanes ready (`schedule.py`: or not quite).

Lanes part at a branch and meet again where their sets name the same basic block in the same frame.
Barriers hold lanes until their CUDA block has arrived; warp instructions hold lanes until their
warp has. A lane that loops without changing anything is parked until memory changes: if everybody
who is left is parked or held, the kernel can never end, and that is said.
"""

import time
from typing import Any

import numpy as np

from simulator.faults import KernelFault
from simulator.observing.events import Observer, listeners
from simulator.reading.ptx import Instruction
from simulator.running.barriers import Barriers, reduces
from simulator.running.between_frames import JoinedRegisters, part_of
from simulator.running.execution import Execution
from simulator.running.frames import Frame, Frames, Point
from simulator.running.lanes import WARP, Lanes, merge
from simulator.running.loops import LoopWatch
from simulator.running.rendezvous import meet_from_several_places
from simulator.running.schedule import Schedule
from simulator.running.standstill import deadlock, let_stores_go, too_long, waits_for_warp
from simulator.translating.control_flow import End, Meeting
from simulator.translating.program import Program

_LOOK_AT_THE_CLOCK = 64  # basic blocks between two looks
_Party = tuple[Point, Lanes]  # lanes that have come along one path


class Machine:
    """One wave on its way from the first basic block to the last return.

    schedule   lanes that may run now
    gathering  lanes that wait for the others of their warp, by the point that they are at
    """

    def __init__(
        self,
        program: Program,
        run: Execution,
        observers: list[Observer],
        seconds: float,
        schedule: Schedule | None = None,
    ) -> None:
        self.program = program
        self.run = run
        self.wave = run.wave
        self.frames = Frames(program, run)
        self.schedule = schedule or Schedule(run.wave)
        self.barriers = Barriers(program, run.wave, observers)
        self.loops = LoopWatch(program, run, self.schedule)
        self._entering = self.loops.entering
        self._ends = program.bare_ends
        self.gathering: dict[Point, Lanes] = {}
        self._forced: int | None = None  # a basic block whose lanes go on without their warp
        self.deadline = time.monotonic() + seconds
        self.seconds = seconds
        self.basic_block_ran = listeners(observers, "basic_block_ran")
        self.branched = listeners(observers, "branched")

    def finish(self) -> None:
        """Run until every thread has returned. Raises KernelFault."""
        steps = 0
        while True:
            self.loops.wake()
            if not self.schedule and not self._unblock():
                return
            point, lanes = self.schedule.take()
            if not lanes.count:
                continue
            try:
                self.step(point, lanes)
            except KernelFault as fault:
                raise waits_for_warp(self, lanes, fault) or fault from None
            steps += 1
            if steps % _LOOK_AT_THE_CLOCK == 0 and time.monotonic() > self.deadline:
                raise too_long(self, point, lanes)

    def step(self, point: Point, lanes: Lanes, watch: bool = True) -> None:
        """Run one basic block; watch: look at whether its loop ends."""
        block = self.program.basic_blocks[point[-1]]
        frame = self.frames.at(point)
        if block.loop is not None and watch:
            staying = self.loops.visit(point, frame.registers, lanes)
            if staying is None:
                self._forced = None
                return
            lanes = staying
        if block.meeting is Meeting.BLOCK:
            for tell in self.basic_block_ran:
                tell(point[-1], lanes)
            self._pass(self.barriers.arrive(point, frame.registers, lanes))
            return
        if block.meeting is Meeting.WARP:
            parties = self._gathered(point, lanes)
            if len(parties) != 1:
                self._run_together(parties)
                return
            point, lanes = parties[0]
            frame = self.frames.at(point)
        left = self._run(point[-1], frame.registers, lanes)
        self._leave_block(frame, point[-1], lanes, left)

    def _run_together(self, parties: list[_Party]) -> None:
        """Run a basic block for lanes that have come to it along several paths, or for nobody."""
        if not parties:
            return
        number = parties[0][0][-1]
        joined = JoinedRegisters([(self.frames.at(p).registers, some) for p, some in parties])
        left = self._run(number, joined, joined.lanes)
        for (point, some), places in zip(parties, joined.places, strict=True):
            self._leave_block(self.frames.at(point), number, some, part_of(left, places))

    def run_party(self, point: Point, lanes: Lanes, run: Any) -> None:
        """Run the basic block at a point and send the lanes on. run: what its code calls."""
        frame, number = self.frames.at(point), point[-1]
        left = self.program.functions[number](frame.registers, lanes, run)
        for tell in self.basic_block_ran:
            tell(number, lanes)
        self._tell_branch(number, lanes, left)
        self._leave_block(frame, number, lanes, left)

    def _run(self, number: int, registers: Any, lanes: Lanes) -> Any:
        """Run the code of a basic block; what it gives says who leaves it where."""
        for tell in self.basic_block_ran:
            tell(number, lanes)
        left = self.program.functions[number](registers, lanes, self.run)
        self._tell_branch(number, lanes, left)
        return left

    def _tell_branch(self, number: int, lanes: Lanes, left: Any) -> None:
        block = self.program.basic_blocks[number]
        if self.branched and block.leaves is End.BRANCH and left.ndim:
            for tell in self.branched:
                tell(self._last(number), left, lanes)

    def _last(self, number: int) -> Instruction:
        return self.program.instructions[self.program.basic_blocks[number].end - 1]

    def _leave_block(self, frame: Frame, number: int, lanes: Lanes, left: Any) -> None:
        """Send lanes where the end of a basic block sends them."""
        leaves = self.program.basic_blocks[number].leaves
        if leaves is End.BRANCH:
            self._branch(frame, number, lanes, left)
        elif leaves is End.ON:
            self._on(frame, number, lanes)
        elif leaves is End.CALL:
            self._call(frame, number, lanes, left)
        elif leaves is End.RETURN:
            gone, values = self._guarded(frame, number, lanes, *left)
            self._return(frame, gone, values)
        else:
            gone, _ = self._guarded(frame, number, lanes, left, ())
            if left is not None:  # a guarded exit
                self.wave.left.append((gone, self._last(number).line))
            self._exit(frame, gone)

    def _go(self, frame: Frame, origin: int, number: int, lanes: Lanes) -> None:
        """Send lanes from a basic block to another one of the same function."""
        point = (*frame.path, number)
        if number in self._ends and self.program.basic_blocks[origin].leaves is End.BRANCH:
            self.wave.left.append((lanes, self._last(origin).line))
        if origin in self._entering and number in self._entering[origin]:
            met = self.program.basic_blocks[origin].meeting is not Meeting.NONE
            self.loops.entered(point, everyone=met)
        self.schedule.add(point, lanes)

    def _on(self, frame: Frame, number: int, lanes: Lanes) -> None:
        successors = self.program.basic_blocks[number].successors
        if successors:
            self._go(frame, number, successors[-1], lanes)
        elif frame.caller is not None:
            self._return(frame, lanes, ())
        else:
            self._exit(frame, lanes)

    def _guarded(
        self, frame: Frame, number: int, lanes: Lanes, guard: Any, values: tuple[Any, ...]
    ) -> tuple[Lanes, tuple[Any, ...]]:
        """The lanes that a guard lets do what ends a basic block; the others go on behind it."""
        if guard is None:
            return lanes, values
        mask = np.broadcast_to(guard, (lanes.count,))
        if mask.all():
            return lanes, values
        chosen, others = lanes.split(mask)
        self._on(frame, number, others if chosen.count else lanes)
        return chosen, part_of(values, mask)

    def _branch(self, frame: Frame, number: int, lanes: Lanes, taken: Any) -> None:
        block = self.program.basic_blocks[number]
        target, through = block.successors[0], block.successors[-1]
        if taken.ndim:
            count = int(np.count_nonzero(taken))
            if 0 < count < lanes.count:
                there, here = lanes.split(taken)
                self._go(frame, number, target, there)
                self._go(frame, number, through, here)
                return
            taken = taken[0]
        self._go(frame, number, target if taken else through, lanes)

    def _call(self, frame: Frame, number: int, lanes: Lanes, left: tuple[Any, ...]) -> None:
        guard, target, values = left
        lanes, (target, *values) = self._guarded(frame, number, lanes, guard, (target, *values))
        if not lanes.count:
            return
        for callee, mask in self.frames.targets(number, target, lanes):
            some = lanes if mask is None else lanes.select(mask)
            passed = tuple(values) if mask is None else part_of(tuple(values), mask)
            entered = self.frames.enter(frame, number, callee, passed, some)
            self.schedule.add((*entered.path, callee.first), some)

    def _return(self, frame: Frame, lanes: Lanes, values: tuple[Any, ...]) -> None:
        if lanes.count:
            caller = self.frames.hand_back(frame, values, lanes)
            self.loops.returned(frame)
            self._on(caller, frame.path[-2], lanes)

    def _exit(self, frame: Frame, lanes: Lanes) -> None:
        if not lanes.count:
            return
        for left in self.frames.exit(frame, lanes):
            self.loops.returned(left)
        self.wave.leave(lanes)
        self._pass(self.barriers.recheck())

    def _pass(self, released: list[_Party]) -> None:
        """Send on who a barrier has let go."""
        if released:
            self.schedule.released()
        weak = self.run.memory.weak
        for point, lanes in released:
            if weak is not None:
                weak.tell_block(lanes)
            frame, number = self.frames.at(point), point[-1]
            block = self.program.basic_blocks[number]
            if reduces(self.program.instructions[block.first]):
                self.program.functions[number](frame.registers, lanes, self.run)
            self._on(frame, number, lanes)

    def _gathered(self, point: Point, lanes: Lanes) -> list[_Party]:
        """The lanes whose whole warp is at this basic block, by their paths; others are held."""
        number = point[-1]
        if number == self._forced:
            self._forced = None
            return [(point, lanes), *self.schedule.take_at(number)]
        if point not in self.gathering and lanes.complete(WARP):
            return [(point, lanes)]
        if point in self.gathering:
            lanes = merge([lanes, self.gathering.pop(point)])
            if lanes.index is None:
                return [(point, lanes)]
        parties = [(point, lanes)]
        if len(point) > 1:
            parties += [(p, s) for p, s in self.gathering.items() if p[-1] == number]
        warps = self.wave.size >> 5
        arrived = [np.bincount(some.indices() >> 5, minlength=warps) for _, some in parties]
        whole = np.sum(arrived, axis=0) == self.wave.live_in_warp()
        here = []
        for at, some in parties:
            complete = whole[some.indices() >> 5]
            if complete.all():
                self.gathering.pop(at, None)
                here.append((at, some))
                continue
            gone, self.gathering[at] = some.split(complete)
            if gone.count:
                here.append((at, gone))
        return here

    def _unblock(self) -> bool:
        """Nobody is ready: let held lanes go on without their warp, or say who waits for what."""
        if self.gathering:
            if meet_from_several_places(self):
                return True
            self._forced = min(self.gathering)[-1]
            for point in [p for p in self.gathering if p[-1] == self._forced]:
                self.schedule.add(point, self.gathering.pop(point))
            return True
        # Who waits at one barrier waits for those in a loop: what those wait for is the cause.
        if self.barriers.waiting and not (self.loops.parked and self.barriers.agree()):
            raise self.barriers.stuck()
        if not self.loops.parked:
            return False
        if not let_stores_go(self):
            raise deadlock(self)
        return True
