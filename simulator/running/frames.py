"""Calls in progress: a frame for each path of call sites, shared by all lanes that came along it.

A frame has the registers of one function, with a place for each lane of the wave: so lanes that
took the same path can share them, whether they run together or not. Recursion makes the path
longer. Local variables of a frame lie behind those of its caller, at one place for all its lanes.

A *point* says where lanes are: (call, function, call, function, …, basic block), each the number
of a basic block. In the order of tuples, lanes inside a function run before those that are past
its call, so all meet again behind it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.reading.ptx import Passed
from simulator.running.between_frames import handed_over
from simulator.running.execution import Execution
from simulator.running.lanes import Lanes
from simulator.running.registers import Registers
from simulator.running.wrong_calls import bad_arguments, bad_pointer, overflow
from simulator.translating.program import Callee, Program

Point = tuple[int, ...]
DEEPEST = 1024  # calls; the 1 KB of stack that a GPU gives by default holds 64 at the very most


class Frame:
    """One function, entered along one path of call sites.

    path       call, function, …: what its points begin with
    caller     the frame of the last of those calls; None: this is the entry
    local_end  bytes of local memory, of each lane, that this frame and its callers have
    inside     lanes that have entered and not left, for its caller or for good
    """

    __slots__ = ("path", "registers", "caller", "callee", "local_end", "inside")

    def __init__(
        self,
        path: Point,
        registers: Registers,
        caller: "Frame | None",
        callee: Callee | None,
        local_end: int,
    ) -> None:
        self.path = path
        self.registers = registers
        self.caller = caller
        self.callee = callee
        self.local_end = local_end
        self.inside = 0


class Frames:
    """The frames that lanes of a wave are in."""

    def __init__(self, program: Program, run: Execution) -> None:
        self.program = program
        self.run = run
        root = Frame((), run.registers, None, None, run.wave.local_bytes)
        self._open: dict[Point, Frame] = {(): root}

    def at(self, point: Point) -> Frame:
        return self._open[point[:-1]]

    def enter(
        self, caller: Frame, number: int, callee: Callee, values: tuple[Any, ...], lanes: Lanes
    ) -> Frame:
        """Lanes go from the call that ends basic block `number` into a function."""
        path = (*caller.path, number, callee.first)
        frame = self._open.get(path)
        if frame is None:
            frame = self._opened(path, caller, callee, lanes)
        frame.inside += lanes.count
        site = self.program.basic_blocks[number].call
        assert site is not None
        _write(frame, site.arguments, values, callee.parameters, lanes)
        return frame

    def hand_back(self, frame: Frame, values: tuple[Any, ...], lanes: Lanes) -> Frame:
        """Lanes return from a function to its caller's frame, with what it gives them."""
        site = self.program.basic_blocks[frame.path[-2]].call
        assert frame.caller is not None and frame.callee is not None and site is not None
        _write(frame.caller, frame.callee.returns, values, site.results, lanes)
        self._leave(frame, lanes)
        return frame.caller

    def exit(self, frame: Frame, lanes: Lanes) -> list[Frame]:
        """Threads end inside of a frame; returns the frames that they have left with it."""
        left = []
        while frame.caller is not None:
            self._leave(frame, lanes)
            left.append(frame)
            frame = frame.caller
        return left

    def _leave(self, frame: Frame, lanes: Lanes) -> None:
        frame.inside -= lanes.count
        if not frame.inside:
            del self._open[frame.path]

    def _opened(self, path: Point, caller: Frame, callee: Callee, lanes: Lanes) -> Frame:
        run, depth = self.run, len(caller.path) // 2
        end = caller.local_end + callee.local_bytes
        full = end > self.program.most_local_bytes
        if depth == DEEPEST or full:
            call = self.program.instructions_of(path[-2])[-1]
            raise overflow(run.wave, call, lanes, callee.name, depth, end if full else 0)
        run.memory.reach_local(end)
        registers = Registers(run.wave.size, run.memory.cache, caller.local_end)
        frame = self._open[path] = Frame(path, registers, caller, callee, end)
        return frame

    def targets(
        self, number: int, target: Any, lanes: Lanes
    ) -> list[tuple[Callee, NDArray[np.bool_] | None]]:
        """The functions that lanes call at the end of a basic block, by their addresses.

        Each with the mask [count] of the lanes that call it; None: all of them.
        """
        found: list[tuple[Callee, NDArray[np.bool_] | None]] = []
        addresses = [int(target)] if target.ndim == 0 else np.unique(target).tolist()
        for address in addresses:
            mask = None if len(addresses) == 1 else target == address
            callee = self._checked(number, address, lanes if mask is None else lanes.select(mask))
            found.append((callee, mask))
        return found

    def _checked(self, number: int, address: int, lanes: Lanes) -> Callee:
        wave, block = self.run.wave, self.program.basic_blocks[number]
        instruction = self.program.instructions[block.end - 1]
        callee = self.program.callees.get(address)
        if callee is None:
            raise bad_pointer(wave, instruction, lanes, address)
        assert block.call is not None
        given, taken = ([p.bytes for p in v] for v in (block.call.arguments, callee.parameters))
        if given != taken:
            raise bad_arguments(wave, instruction, lanes, callee.name, given, taken)
        return callee


def _write(
    frame: Frame,
    sources: tuple[Passed, ...],
    values: tuple[Any, ...],
    targets: tuple[Passed, ...],
    lanes: Lanes,
) -> None:
    """Write what is passed into the registers of a frame; `values` are the sources' pieces."""
    place = 0
    for source, target in zip(sources, targets, strict=False):
        end = place + len(source.pieces)
        for register, value in handed_over(source, values[place:end], target):
            frame.registers.write(register, value, lanes)
        place = end
