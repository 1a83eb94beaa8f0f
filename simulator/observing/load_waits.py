"""How often a warp waits for a global load that is still under way.

A load's registers are pending until an instruction reads one of them; that instruction waits, and
memory's answer takes so long that whatever else was under way has come too when the wait is over.
So loads issued side by side cost one wait, a chain of loads one for each, and a load issued a turn
ahead is under way across the turn. A move passes the register on and waits for nothing: to the
hardware it is a new name.

What a basic block does to the pending registers depends on the code alone. It is worked out once
for each block and each set of registers pending at its start; at run time a warp's state is one
number, and the whole wave's too, as long as its warps agree.
"""

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from simulator.observing.instruction_classes import is_move
from simulator.reading.operands import read_and_written
from simulator.reading.ptx import Entry, Instruction
from simulator.running.lanes import WARP, Lanes
from simulator.running.wave import Wave
from simulator.translating.program import Program

Registers = frozenset[str]
_NEAR = frozenset(("param", "shared", "local", "const"))  # these spaces answer at once


class _Kind(Enum):
    LOAD = auto()
    MOVE = auto()
    USE = auto()


class _Step(NamedTuple):
    """What one instruction means for the pending registers."""

    kind: _Kind
    line: int
    read: Registers
    written: Registers


@dataclass(slots=True)
class _State:
    """Registers pending at the start of a basic block, and where each block leads from there."""

    number: int
    pending: Registers
    next: dict[int, tuple["_State", tuple[int, ...]]] = field(default_factory=dict)


class WaitTable:
    """Of one program: what each basic block does to each set of pending registers."""

    def __init__(self, entry: Entry, program: Program) -> None:
        steps = [_step(entry, instruction) for instruction in program.instructions]
        ever = _ever_pending(steps)
        self._steps = []  # by basic block: the instructions that matter
        for block in program.basic_blocks:
            some = steps[block.first : block.end]
            self._steps.append([step for step in some if (step.read | step.written) & ever])
        self.matters = [bool(steps) for steps in self._steps]
        self.start = _State(0, frozenset())
        self.by_number = [self.start]
        self._by_pending = {self.start.pending: self.start}

    def after(self, state: _State, number: int) -> tuple[_State, tuple[int, ...]]:
        """(the state behind basic block `number`, the lines at which it waits)."""
        found = state.next.get(number)
        if found is None:
            pending, waits = _run(self._steps[number], state.pending)
            found = state.next[number] = self._state(pending), waits
        return found

    def _state(self, pending: Registers) -> _State:
        found = self._by_pending.get(pending)
        if found is None:
            found = self._by_pending[pending] = _State(len(self.by_number), pending)
            self.by_number.append(found)
        return found


def _step(entry: Entry, instruction: Instruction) -> _Step:
    read, written = read_and_written(entry, replace(instruction, guard=None))
    if instruction.guard is not None:  # the old value stays where it is: that is no use of it
        read.add(instruction.guard.register)
    parts = instruction.parts
    kind = _Kind.USE
    if parts[0] in ("ld", "ldu") and not _NEAR & set(parts):
        kind = _Kind.LOAD
    elif is_move(instruction):
        kind = _Kind.MOVE
    function = entry.scope_of(instruction).name  # each has registers of its own
    own = (frozenset(f"{function} {name}" for name in names) for names in (read, written))
    return _Step(kind, instruction.line, *own)


def _ever_pending(steps: list[_Step]) -> Registers:
    """The registers of loads, and those that moves pass them on to."""
    found: set[str] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for step in steps:
            if step.kind is _Kind.LOAD or (step.kind is _Kind.MOVE and step.read & found):
                found |= step.written
    return frozenset(found)


def _run(steps: list[_Step], pending: Registers) -> tuple[Registers, tuple[int, ...]]:
    """(the registers pending afterwards, the lines at which a wait came).

    A pending register that is written stays pending: it may be another lane of the warp that
    writes it, on the other side of a branch.
    """
    waits = []
    for step in steps:
        if step.kind is not _Kind.MOVE and step.read & pending:
            waits.append(step.line)
            pending = frozenset()
        if step.kind is _Kind.LOAD or (step.kind is _Kind.MOVE and step.read & pending):
            pending |= step.written
    return pending, tuple(waits)


_TABLES: WeakKeyDictionary[Program, WaitTable] = WeakKeyDictionary()


def wait_table(entry: Entry, program: Program) -> WaitTable:
    """The table of a program, made once."""
    if program not in _TABLES:
        _TABLES[program] = WaitTable(entry, program)
    return _TABLES[program]


class LoadWaits:
    """Follows the warps of one wave after another.

    _state    of all warps of the wave, as long as they agree
    _numbers  [warps of the wave] the number of each warp's state, where they do not
    """

    def __init__(self, table: WaitTable) -> None:
        self._table = table
        self._matters = table.matters
        self.by_line: dict[int, int] = {}

    def wave_started(self, wave: Wave) -> None:
        self._warps = wave.size // WARP
        self._state = self._table.start
        self._numbers: NDArray[np.int64] | None = None

    def basic_block_ran(self, number: int, lanes: Lanes) -> None:
        if not self._matters[number]:
            return
        if self._numbers is None:
            after, lines = self._table.after(self._state, number)
            self._count(lines, lanes.warps)
            if after is self._state:
                return
            if lanes.warps == self._warps:
                self._state = after
                return
            self._numbers = np.full(self._warps, self._state.number)
            self._numbers[lanes.warp_numbers()] = after.number
            return
        warps = lanes.warp_numbers()
        before = self._numbers[warps]
        if (before == before[0]).all():
            after, lines = self._table.after(self._table.by_number[int(before[0])], number)
            self._count(lines, len(warps))
            if len(warps) == self._warps:
                self._state, self._numbers = after, None
            else:
                self._numbers[warps] = after.number
            return
        counts = np.bincount(before)
        behind = np.zeros(len(counts), np.int64)  # by number of the state before
        for state in np.flatnonzero(counts):
            after, lines = self._table.after(self._table.by_number[int(state)], number)
            self._count(lines, int(counts[state]))
            behind[state] = after.number
        self._numbers[warps] = behind[before]

    def _count(self, lines: tuple[int, ...], warps: int) -> None:
        for line in lines:
            self.by_line[line] = self.by_line.get(line, 0) + warps
