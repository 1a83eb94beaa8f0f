"""Runs one wave: always the lowest basic block that has lanes ready.

Lanes part at a branch and meet again where their sets name the same basic block. Barriers hold
lanes until their CUDA block has arrived; warp instructions hold lanes until their warp has. A
lane that loops without changing anything is parked until memory changes: if everybody who is left
is parked or held, the kernel can never end, and that is said.
"""

import time
from typing import Any

import numpy as np

from simulator.observing.events import Observer, listeners
from simulator.running.barriers import Barriers, reduces
from simulator.running.execution import Execution
from simulator.running.lanes import Lanes, merge
from simulator.running.loops import LoopWatch
from simulator.translating.control_flow import meets_block, meets_warp
from simulator.translating.program import Program

_LOOK_AT_THE_CLOCK = 64  # basic blocks between two looks


class Machine:
    """One wave on its way from the first basic block to the last return.

    ready      lanes that may run now, by basic block
    gathering  lanes that wait for the others of their warp, by basic block
    """

    def __init__(
        self, program: Program, run: Execution, observers: list[Observer], seconds: float
    ) -> None:
        self.program = program
        self.run = run
        self.wave = run.wave
        self.ready: dict[int, list[Lanes]] = {0: [run.wave.start]}
        self.barriers = Barriers(program, run.wave, run.registers)
        self.loops = LoopWatch(program, run)
        self.gathering: dict[int, list[Lanes]] = {}
        self._forced: set[int] = set()  # basic blocks whose lanes go on without their warp
        self.deadline = time.monotonic() + seconds
        self.seconds = seconds
        self._basic_block_ran = listeners(observers, "basic_block_ran")
        self._branched = listeners(observers, "branched")

    def finish(self) -> None:
        """Run until every thread has returned. Raises KernelFault."""
        steps = 0
        while True:
            self.loops.wake(self.ready)
            if not self.ready and not self._unblock():
                return
            number = min(self.ready)
            lanes = merge(self.ready.pop(number))
            if not lanes.count:
                continue
            self._step(number, lanes)
            steps += 1
            if steps % _LOOK_AT_THE_CLOCK == 0 and time.monotonic() > self.deadline:
                raise self.loops.out_of_time(number, lanes, self.seconds)

    def _step(self, number: int, lanes: Lanes) -> None:
        block = self.program.basic_blocks[number]
        first = self.program.instructions[block.first]
        if block.loop is not None:
            staying = self.loops.visit(number, lanes, bool(self.ready))
            if staying is None:
                return
            lanes = staying
        if meets_block(first):
            for tell in self._basic_block_ran:
                tell(number, lanes)
            released = self.barriers.arrive(number, lanes)
            self._continue(released)
            return
        if meets_warp(first) and number not in self._forced:
            here = self._gather_warps(number, lanes)
            if here is None:
                return
            lanes = here
        self._forced.discard(number)
        for tell in self._basic_block_ran:
            tell(number, lanes)
        leaves = self.program.functions[number](self.run.registers, lanes, self.run)
        last = self.program.instructions[block.end - 1]
        if last.parts[0] in ("ret", "exit"):
            self._return(number, lanes, leaves)
        elif last.parts[0] == "bra" and last.guard is not None:
            self._branch(number, lanes, leaves)
        elif block.successors:
            self._go(block.successors[0], lanes)
        else:
            self._leave(lanes)

    def _go(self, number: int, lanes: Lanes) -> None:
        self.ready.setdefault(number, []).append(lanes)

    def _continue(self, released: list[tuple[int, Lanes]]) -> None:
        for number, lanes in released:
            block = self.program.basic_blocks[number]
            if reduces(self.program.instructions[block.first]):
                self.program.functions[number](self.run.registers, lanes, self.run)
            self._go(self.program.basic_blocks[number].successors[0], lanes)

    def _leave(self, lanes: Lanes) -> None:
        self.wave.leave(lanes)
        self._continue(self.barriers.recheck())

    def _return(self, number: int, lanes: Lanes, leaves: Any) -> None:
        successors = self.program.basic_blocks[number].successors
        if leaves is None:
            self._leave(lanes)
        elif leaves.ndim == 0:
            if leaves:
                self._leave(lanes)
            else:
                self._go(successors[0], lanes)
        else:
            gone, rest = lanes.split(leaves)
            if gone.count:
                self._leave(gone)
            if rest.count:
                self._go(successors[0], rest)

    def _branch(self, number: int, lanes: Lanes, taken: Any) -> None:
        block = self.program.basic_blocks[number]
        target, through = block.successors[0], block.successors[-1]
        if taken.ndim:
            last = self.program.instructions[block.end - 1]
            for tell in self._branched:
                tell(last, taken, lanes)
            count = int(np.count_nonzero(taken))
            if 0 < count < lanes.count:
                there, here = lanes.split(taken)
                self._go(target, there)
                self._go(through, here)
                return
            taken = taken[0]
        self._go(target if taken else through, lanes)

    def _gather_warps(self, number: int, lanes: Lanes) -> Lanes | None:
        """The lanes whose whole warp is here; the others are held."""
        if lanes.index is None:
            return lanes
        if number in self.gathering:
            lanes = merge([lanes, *self.gathering.pop(number)])
            if lanes.index is None:
                return lanes
        warp = lanes.indices() >> 5
        arrived = np.bincount(warp, minlength=self.wave.size >> 5)
        complete = (arrived == self.wave.live_in_warp())[warp]
        if complete.all():
            return lanes
        here, waiting = lanes.split(complete)
        self.gathering[number] = [waiting]
        return here if here.count else None

    def _unblock(self) -> bool:
        """Nobody is ready: let held lanes go on without their warp, or say who waits for what."""
        if self.gathering:
            number = min(self.gathering)
            self.ready[number] = self.gathering.pop(number)
            self._forced = {number}
            return True
        # Who waits at one barrier waits for those in a loop: what those wait for is the cause.
        if self.barriers.waiting and not (self.loops.parked and self.barriers.agree()):
            raise self.barriers.stuck()
        if self.loops.parked:
            raise self.loops.stuck()
        return False
