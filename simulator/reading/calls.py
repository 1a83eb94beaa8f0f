"""Calls of the module's own functions: the function's body takes the place of the call.

The compiler inlines nearly everything itself; what is left are slow paths (`pow`, `sin` of a
double) and `__noinline__`. Parameters become registers. A function that calls itself, and a call
through a pointer, stay calls, which the simulator then names as unknown.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from simulator.instructions.rows import UnknownInstruction
from simulator.reading.operands import address, elements
from simulator.reading.ptx import Guard, Instruction
from simulator.types import DTYPES

if TYPE_CHECKING:
    from simulator.reading.body import Body

_NAME = re.compile(r"(?<![\w$@%])(%?[A-Za-z_$][\w$]*)(?:@(\d+))?")
_ADDRESS_OPERAND = {"ld.param": 1, "st.param": 0}
_fresh = count(1_000_000)  # numbers of scopes: no two calls share a register


@dataclass(frozen=True, slots=True)
class _Call:
    function: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]


def _call(instruction: Instruction) -> _Call:
    """`call.uni (retval0), name, (param0, param1)`; either bracket may be missing."""
    names = [k for k, o in enumerate(instruction.operands) if not o.startswith("(")]
    place = names[0] if names else 0

    def inside(operands: Iterable[str]) -> tuple[str, ...]:
        return tuple(filter(None, "".join(operands).strip("()").split(",")))

    operands = instruction.operands
    return _Call(operands[place], inside(operands[place + 1 :]), inside(operands[:place]))


def expand(body: "Body", functions: dict[str, "Body"], active: tuple[str, ...] = ()) -> None:
    """Put the bodies of called functions in the place of their calls, in `body` itself."""
    called = {_call(i).function for i in body.instructions if i.parts[0] == "call"}
    for name in called & set(functions) - set(active):
        expand(functions[name], functions, (*active, name))
        body.own.update(functions[name].own)
        body.names |= functions[name].names
    inlined = {name: functions[name] for name in called & set(functions) - set(active)}
    if inlined:
        _Expansion(body, inlined).run()


class _Expansion:
    def __init__(self, body: "Body", functions: dict[str, "Body"]) -> None:
        self.body = body
        self.functions = functions
        self.made: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.since = 0  # where what is passed to the next call begins
        self.results: dict[str, int] = {}  # what the last call returned -> the scope of it

    def run(self) -> None:
        before = self.body.instructions
        place = {}
        for instruction in before:
            place[instruction.index] = len(self.made)
            parts = instruction.parts
            if parts[0] == "call":
                self._call(instruction)
                self.since = len(self.made)
            elif parts[:2] == ("ld", "param") and self._base(instruction, 1) in self.results:
                scope = self.results[self._base(instruction, 1)]
                self._add(*self._moves(instruction, 1, scope, written=False))
            else:
                self._add(instruction)
        place[len(before)] = len(self.made)
        self.labels.update({name: place[index] for name, index in self.body.labels.items()})
        self.body.instructions = [replace(i, index=k) for k, i in enumerate(self.made)]
        self.body.labels = self.labels

    def _add(self, *instructions: Instruction) -> None:
        self.made += instructions

    @staticmethod
    def _base(instruction: Instruction, operand: int) -> str:
        return address(instruction.operands[operand]).base

    def _call(self, instruction: Instruction) -> None:
        call = _call(instruction)
        self.results = {}
        function = self.functions.get(call.function)
        if function is None:
            self._add(instruction)
            return
        scope = next(_fresh)
        passed, self.made = self.made[self.since :], self.made[: self.since]
        for one in passed:
            if one.parts[:2] == ("st", "param") and self._base(one, 0) in call.arguments:
                self._add(*self._moves(one, 0, scope, written=True))
            else:
                self._add(one)
        after = f"after@{scope}"
        if instruction.guard is not None:
            skip = Guard(instruction.guard.register, not instruction.guard.negated)
            self._add(replace(instruction, opcode="bra", operands=(after,), guard=skip))
        # The caller's names for what goes in and comes out.
        names = dict(zip((p.name for p in function.parameters), call.arguments, strict=True))
        names.update(zip((p.name for p in function.returns), call.results, strict=True))
        self._insert(function, scope, names, after)
        self.labels[after] = len(self.made)
        self.results = dict.fromkeys(call.results, scope)

    def _insert(self, function: "Body", scope: int, names: dict[str, str], after: str) -> None:
        scopes: dict[str | None, int] = {}  # of the function -> of this call

        def renamed(text: str) -> str:
            def one(found: re.Match[str]) -> str:
                known = found[0] in function.labels or function.register_type(found[0])
                if not known:
                    return found[0]
                if found[2] not in scopes:
                    scopes[found[2]] = next(_fresh)
                name = f"{found[1]}@{scopes[found[2]]}"
                type_ = function.register_type(found[0])
                if type_:
                    self.body.registers[name] = type_
                return name

            return _NAME.sub(one, text)

        place = {}
        for instruction in function.instructions:
            place[instruction.index] = len(self.made)
            guard = instruction.guard
            copy = replace(
                instruction,
                operands=tuple(renamed(o) for o in instruction.operands),
                guard=guard and Guard(renamed(guard.register), guard.negated),
            )
            parts = copy.parts
            memory = _ADDRESS_OPERAND.get(".".join(parts[:2]))
            if parts[0] == "ret":
                self._add(replace(copy, opcode="bra", operands=(after,)))
            elif memory is not None and self._base(copy, memory) in names:
                self._add(*self._moves(copy, memory, scope, memory == 0, names))
            else:
                self._add(copy)
        place[len(function.instructions)] = len(self.made)
        self.labels.update({renamed(n): place[k] for n, k in function.labels.items()})

    def _moves(
        self,
        instruction: Instruction,
        operand: int,
        scope: int,
        written: bool,
        names: dict[str, str] | None = None,
    ) -> list[Instruction]:
        """A load or store of a parameter as moves from or to its registers."""
        where = address(instruction.operands[operand])
        name = where.base if names is None else names[where.base]
        size = DTYPES[instruction.parts[-1]].itemsize
        moves = []
        for k, element in enumerate(elements(instruction.operands[1 - operand])):
            register = f"{name}_{where.offset + k * size}@{scope}"
            if written:
                self.body.registers[register] = f"b{8 * size}"
            elif self.body.registers.get(register) != f"b{8 * size}":
                raise UnknownInstruction(f"{instruction.opcode} of a part of {name}")
            pair = (register, element) if written else (element, register)
            opcode = f"mov.b{8 * size}"
            moves.append(replace(instruction, opcode=opcode, operands=pair))
        return moves
