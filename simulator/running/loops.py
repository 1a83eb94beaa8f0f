"""Loops that wait, and loops that never end.

A lane that comes back to a loop's header with the same registers and unchanged memory will do the
same for ever, if nothing but memory can tell it of the others: it is parked until memory changes.
Only the registers that decide what the loop does are compared (`translating/deciding.py`): a lane
that counts its turns while it waits, or waits longer in each, waits all the same. It need not come
back in one turn: what is compared is a state that is kept while the turns double (Brent's way to
find a cycle), so a step that wraps around is seen too.

In a loop that meets the warp (a vote, a shuffle) or the block (a barrier), lanes learn of each
other there too: so they are parked only when every live lane of their warp, or of their block, has
come back unchanged. If nobody else is left to change memory, the loop is endless, and that is
proven, not guessed. A loop that never comes back to a state is only stopped by the time limit.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.running.execution import CYCLES, Execution
from simulator.running.frames import Frame, Point
from simulator.running.lanes import WARP, Lanes
from simulator.running.registers import Registers
from simulator.running.schedule import Schedule
from simulator.translating.control_flow import Company, Loop
from simulator.translating.program import Program

_WAITING_LOOP = 8  # turns before a loop that may wait is looked at, each time
_ANY_LOOP = 256  # turns before any other is; then in an eighth of them
_TRIES = 4  # states kept in one such stretch of turns, if memory changes
_FASTEST = 13  # log2 of how much faster than at first
_OTHERS_TURN = 4096  # visits after which a loop lets the others run first
_WAITERS_TURN = 256  # the same, of a loop that waits for them


@dataclass(slots=True)
class _State:
    """What some lanes came to a header with."""

    turn: int
    lanes: Lanes
    values: list[Any]  # of the registers that decide
    changes: int  # of memory
    lasts: int  # turns


@dataclass(slots=True)
class _Watch:
    """The lanes of one group at one header.

    visits  since the launch began
    turns   since any lane entered the loop
    first   the register that told two states apart the last time
    """

    names: list[str]
    visits: int = 0
    turns: int = 0
    state: _State | None = None
    first: int = 0


@dataclass(slots=True)
class _Company:
    """Of a loop that meets its block: in which turn each lane came back, to which state."""

    came_back: NDArray[np.int64]  # [lanes]
    since: NDArray[np.int64]
    changes: int = -1


@dataclass(frozen=True, slots=True)
class Parked:
    """Lanes that only a change of memory can wake; changes: of memory, so far."""

    point: Point  # of the header
    lanes: Lanes
    changes: int


class LoopWatch:
    """Watches who comes back to the headers of loops, each in its frame.

    parked    lanes that wait for memory to change
    entering  by the basic block that lanes leave: the headers that they enter a loop at
    """

    def __init__(self, program: Program, run: Execution, schedule: Schedule) -> None:
        self.program = program
        self.run = run
        self.schedule = schedule
        self.parked: list[Parked] = []
        self.entering: dict[int, set[int]] = {}
        self._rests = 0
        self._resting: list[tuple[Point, Lanes]] = []
        self._watches: dict[Point, dict[int, _Watch]] = {}  # by point, by group of the schedule
        self._companies: dict[Point, _Company] = {}
        self._loops = {n: b.loop for n, b in enumerate(program.basic_blocks) if b.loop is not None}
        self._headers: dict[int, list[int]] = {}  # by the function that the loops are in
        for number, loop in self._loops.items():
            self._headers.setdefault(program.basic_blocks[number].function, []).append(number)
            for origin, block in enumerate(program.basic_blocks):
                if number in block.successors and origin not in loop.members:
                    self.entering.setdefault(origin, set()).add(number)

    def wake(self) -> None:
        """Let parked lanes run again if memory has changed since they were parked."""
        if self.parked:
            now = self.run.memory.changes
            still = [p for p in self.parked if p.changes == now]
            for party in self.parked:
                if party.changes != now:
                    self.schedule.add(party.point, party.lanes)
            self.parked = still
        if self._resting and not self.schedule:
            for point, lanes in self._resting:
                self.schedule.add(point, lanes)
            self._resting = []

    def entered(self, point: Point, everyone: bool) -> None:
        """Lanes come to a header from outside of its loop: what was seen there is no longer all.

        everyone  lanes of any group may be among them
        """
        for group, watch in self._watches.get(point, {}).items():
            if everyone or group == self.schedule.group:
                watch.turns, watch.state = 0, None

    def returned(self, frame: Frame) -> None:
        """Lanes have left a function. When they enter it again, its registers do not tell all."""
        for number in self._headers.get(frame.path[-1], ()):
            watches = self._watches.get((*frame.path, number))
            if watches is None:
                continue
            for watch in watches.values():
                watch.state = None
            if not frame.inside:
                del self._watches[*frame.path, number]

    def visit(self, point: Point, registers: Registers, lanes: Lanes) -> Lanes | None:
        """Lanes reach the header of a loop; returns those that go on now."""
        watches = self._watches.setdefault(point, {})
        watch = watches.get(self.schedule.group)
        if watch is None:
            watch = watches[self.schedule.group] = _Watch(self._names(point[-1]))
        watch.visits += 1
        watch.turns += 1
        loop = self._loops[point[-1]]
        if watch.visits % (_WAITERS_TURN if loop.asks else _OTHERS_TURN) == 0:
            staying = self._rest(point, lanes, loop)
            if staying is None:
                return None
            lanes = staying
        if loop.reads_clock:  # the longer it waits, the faster time passes: it is not modelled
            self.run.cycles = CYCLES << min(watch.turns >> 10, _FASTEST)
            return lanes
        if watch.turns < (_WAITING_LOOP if loop.asks else _ANY_LOOP):
            return lanes
        if loop.asks:
            return self._look(point, watch, registers, lanes, 1)
        top = 1 << watch.turns.bit_length() - 1
        if watch.turns - top > top >> 3:
            return lanes
        return self._look(point, watch, registers, lanes, top)

    def _names(self, number: int) -> list[str]:
        decides = self._loops[number].decides
        live = self.program.basic_blocks[number].live_in
        return sorted(live if decides is None else live & decides)

    def _rest(self, point: Point, lanes: Lanes, loop: Loop) -> Lanes | None:
        """Let the others run first; if there are none, let one lane of a loop that waits.

        Lanes that try and step back in lock step would stand in each other's way for ever.
        """
        if self._resting or self.schedule:
            self._resting.append((point, lanes))
            return None
        if lanes.count == 1 or not loop.asks or loop.company is not Company.NONE:
            return lanes
        turn = self._rests % lanes.count
        self._rests += 1
        alone, others = lanes.split(np.arange(lanes.count) == turn)
        self._resting.append((point, others))
        return alone

    def _look(
        self, point: Point, watch: _Watch, registers: Registers, lanes: Lanes, lasts: int
    ) -> Lanes | None:
        """Park the lanes that come back to a state; lasts: turns for which the first is kept."""
        memory = self.run.memory
        memory.watch = True
        state = watch.state
        if state is None or state.changes != memory.changes or state.lasts < lasts:
            if lasts > 1 and watch.turns - lasts >= _TRIES:
                watch.state = None  # memory changes in every turn, it seems
            else:
                watch.state = self._state(watch, registers, lanes, lasts)
            return lanes
        same = self._same(watch, state, registers, lanes)
        if same is not None:
            same = self._with_company(point, watch.turns, state, lanes, same)
        if same is not None and same.any():
            watch.state = None
            parked, rest = lanes.split(same)
            whole = not rest.count
            self.parked.append(Parked(point, lanes if whole else parked, memory.changes))
            return None if whole else rest
        if watch.turns - state.turn == state.lasts:
            watch.state = self._state(watch, registers, lanes, 2 * state.lasts)
        return lanes

    def _state(self, watch: _Watch, registers: Registers, lanes: Lanes, lasts: int) -> _State:
        values = [registers.read(name, lanes, _ANY) for name in watch.names]
        return _State(watch.turns, lanes, values, self.run.memory.changes, lasts)

    @staticmethod
    def _same(
        watch: _Watch, state: _State, registers: Registers, lanes: Lanes
    ) -> NDArray[np.bool_] | None:
        """[count] whether a lane has the same registers as in the state; None: no lane has."""
        same: Any = np.ones(lanes.count, bool)
        place: Any = None
        if lanes is not state.lanes:
            old, new = state.lanes.indices(), lanes.indices()
            place = np.minimum(np.searchsorted(old, new), len(old) - 1)
            same = old[place] == new
        for step in range(len(watch.names)):
            number = (watch.first + step) % len(watch.names)
            now, then = registers.read(watch.names[number], lanes, _ANY), state.values[number]
            if then.ndim and place is not None:
                then = then[place]
            if now.dtype == then.dtype:
                same = same & ((then == now) | ((then != then) & (now != now)))
            if now.dtype != then.dtype or not same.any():
                watch.first = number
                return None
        return same if same.any() else None

    def _with_company(
        self, point: Point, turn: int, state: _State, lanes: Lanes, same: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Of the lanes that came back [count], those whose company all did, in the same turn."""
        wave, met = self.run.wave, self._loops[point[-1]].company
        if met is Company.NONE:
            return same
        indices = lanes.indices()
        if met is Company.WARP:
            warp = indices // WARP
            here = np.bincount(warp[same], minlength=wave.size // WARP)
            whole: NDArray[np.bool_] = here == wave.live_in_warp()
            return whole[warp]
        # The warps of a block may be apart, and come in different sets.
        company = self._companies.get(point)
        if company is None or company.changes != state.changes:
            never = np.full(wave.size, -1)
            company = self._companies[point] = _Company(never, never.copy(), state.changes)
        company.came_back[indices] = np.where(same, turn, -1)
        company.since[indices] = state.turn
        agree = (company.came_back == turn) & (company.since == state.turn)
        whole = np.bincount(wave.slot[agree], minlength=len(wave.live)) == wave.live
        return whole[wave.slot[indices]]

    # ---- what a report asks

    def loop_at(self, point: Point) -> Loop:
        return self._loops[point[-1]]

    def line(self, number: int) -> int | None:
        """The first line of a loop, or of a basic block, that the compiler names."""
        loop = self._loops.get(number)
        lines = [
            instruction.line
            for member in (loop.members if loop else [number])
            for instruction in self.program.instructions_of(member)
            if instruction.line
        ]
        return min(lines) if lines else None

    def turning(self, point: Point) -> tuple[Point, int] | None:
        """(the header of the loop around a point that turns most, how often it was visited).

        In the innermost call with one.
        """
        for end in range(len(point), 0, -2):
            path, number = point[: end - 1], point[end - 1]
            around = [(*path, n) for n, loop in self._loops.items() if number in loop.members]
            if around:
                visits = {p: self._visits(p) for p in around}
                header = max(around, key=lambda p: visits[p])
                return header, visits[header]
        return None

    def _visits(self, point: Point) -> int:
        return max((w.visits for w in self._watches.get(point, {}).values()), default=0)


_ANY = np.dtype(np.uint32)  # only a register that was never written is made, as zero
