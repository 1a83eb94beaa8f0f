"""How often a warp waits for a global load that is still under way.

A load's registers are pending until an instruction reads one of them; that instruction waits, and
memory's answer takes so long that whatever else was under way has come too when the wait is over.
So loads issued side by side cost one wait, a chain of loads one for each, and a load issued a turn
ahead is under way across the turn. A move passes the register on and waits for nothing: to the
hardware it is a new name.

A copy (cp.async) is under way likewise, until a wait for its group: wait_group N waits if more than
N groups have been committed behind one that is still under way, and once that has come, so have
the others.

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
from simulator.reading.lines import CallPath, frames_of
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
    COPY = auto()
    COMMIT = auto()
    WAIT = auto()


_COPYING = frozenset((_Kind.COPY, _Kind.COMMIT, _Kind.WAIT))
_KIND_OF = {"commit_group": _Kind.COMMIT, "wait_group": _Kind.WAIT, "wait_all": _Kind.WAIT}
_COPIES = "cp.async"  # followed by the number of commits since, among the pending registers
_ALL = -1  # wait_all: also for what was not committed


Paths = tuple[CallPath, ...]


class _Step(NamedTuple):
    """What one instruction means for the pending registers."""

    kind: _Kind
    path: CallPath
    read: Registers
    written: Registers
    left: int = _ALL  # groups that a wait lets go on


@dataclass(slots=True)
class _State:
    """Registers pending at the start of a basic block, and where each block leads from there."""

    number: int
    pending: Registers
    next: dict[int, tuple["_State", Paths]] = field(default_factory=dict)


class WaitTable:
    """Of one program: what each basic block does to each set of pending registers."""

    def __init__(self, entry: Entry, program: Program) -> None:
        steps = [_step(entry, instruction) for instruction in program.instructions]
        ever = _ever_pending(steps)
        self._steps = []  # by basic block: the instructions that matter
        for block in program.basic_blocks:
            some = steps[block.first : block.end]
            self._steps.append(
                [s for s in some if (s.read | s.written) & ever or s.kind in _COPYING]
            )
        # More commits than any wait lets go on are as good as one more.
        self._oldest = 2 + max((s.left for s in steps if s.kind is _Kind.WAIT), default=0)
        self.matters = [bool(steps) for steps in self._steps]
        self.start = _State(0, frozenset())
        self.by_number = [self.start]
        self._by_pending = {self.start.pending: self.start}

    def after(self, state: _State, number: int) -> tuple[_State, Paths]:
        """(the state behind basic block `number`, the lines at which it waits)."""
        found = state.next.get(number)
        if found is None:
            pending, waits = _run(self._steps[number], state.pending, self._oldest)
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
    loads = parts[0] in ("ld", "ldu") or parts[:2] == ("wmma", "load")
    if loads and not _NEAR & set(parts):
        kind = _Kind.LOAD
    elif parts[:2] == ("cp", "async"):
        kind = _KIND_OF.get(parts[2], _Kind.COPY)
    elif is_move(instruction):
        kind = _Kind.MOVE
    function = entry.scope_of(instruction).name  # each has registers of its own
    read, written = ({f"{function} {name}" for name in names} for names in (read, written))
    left = int(instruction.operands[0], 0) if "wait_group" in parts else _ALL
    return _Step(kind, frames_of(instruction.line), frozenset(read), frozenset(written), left)


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


def _run(steps: list[_Step], pending: Registers, oldest: int) -> tuple[Registers, Paths]:
    """(the registers pending afterwards, the lines at which a wait came).

    A pending register that is written stays pending: it may be another lane of the warp that
    writes it, on the other side of a branch.
    """
    waits = []
    for step in steps:
        needed = step.kind is not _Kind.MOVE and bool(step.read & pending)
        if step.kind is _Kind.WAIT:
            needed = any(_commits(name) > step.left for name in pending)
        if needed:
            waits.append(step.path)
            pending = frozenset()
        if step.kind is _Kind.LOAD or (step.kind is _Kind.MOVE and step.read & pending):
            pending |= step.written
        elif step.kind is _Kind.COPY:
            pending |= {f"{_COPIES} 0"}
        elif step.kind is _Kind.COMMIT:
            ages = {name: _commits(name) for name in pending}
            pending = frozenset(
                f"{_COPIES} {min(age + 1, oldest)}" if age > _ALL else name
                for name, age in ages.items()
            )
    return pending, tuple(waits)


def _commits(name: str) -> int:
    """How many groups were committed since copies under way were started; of a register, _ALL."""
    word, _, count = name.partition(" ")
    return int(count) if word == _COPIES else _ALL


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
        self.by_path: dict[CallPath, int] = {}

    def wave_started(self, wave: Wave) -> None:
        self._warps = wave.size // WARP
        self._state = self._table.start
        self._numbers: NDArray[np.int64] | None = None

    def basic_block_ran(self, number: int, lanes: Lanes) -> None:
        if not self._matters[number]:
            return
        if self._numbers is None:
            after, paths = self._table.after(self._state, number)
            self._count(paths, lanes.warps)
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
            after, paths = self._table.after(self._table.by_number[int(before[0])], number)
            self._count(paths, len(warps))
            if len(warps) == self._warps:
                self._state, self._numbers = after, None
            else:
                self._numbers[warps] = after.number
            return
        counts = np.bincount(before)
        behind = np.zeros(len(counts), np.int64)  # by number of the state before
        for state in np.flatnonzero(counts):
            after, paths = self._table.after(self._table.by_number[int(state)], number)
            self._count(paths, int(counts[state]))
            behind[state] = after.number
        self._numbers[warps] = behind[before]

    def _count(self, paths: Paths, warps: int) -> None:
        for path in paths:
            self.by_path[path] = self.by_path.get(path, 0) + warps
