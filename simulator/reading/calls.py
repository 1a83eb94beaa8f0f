"""Direct calls of the module's own functions: the function's body takes the place of the call.

The compiler inlines nearly everything itself; what is left are slow paths (`pow`, `sin` of a
double) and `__noinline__`. What the caller passes is what the function's body then reads: the
function's names for it become the caller's.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from simulator.reading.lines import Line
from simulator.reading.operands import CallOperands, call_operands
from simulator.reading.ptx import Guard, Instruction

if TYPE_CHECKING:
    from simulator.reading.body import Body

_NAME = re.compile(r"(?<![\w$@%])(%?[A-Za-z_$][\w$]*)(?:@(\d+))?")
_fresh = count(1_000_000)  # numbers of scopes: no two calls share a register


def expand(body: "Body", functions: Mapping[str, "Body"]) -> None:
    """Put the bodies of `functions`, none of which recurses, in the place of their calls."""
    calls = [call_operands(i) for i in body.instructions if i.parts[0] == "call"]
    inlined = {c.target: functions[c.target] for c in calls if _fits(body, c, functions)}
    for function in inlined.values():
        expand(function, functions)
        body.own.update(function.own)
        body.names |= function.names
    if inlined:
        _Expansion(body, inlined).run()


def _fits(body: "Body", call: CallOperands, functions: Mapping[str, "Body"]) -> bool:
    """Whether it is a call of one of the functions, with what that one takes and gives."""
    function = functions.get(call.target)
    if function is None or not body.passed.keys() >= {*call.arguments, *call.results}:
        return False
    return len(call.arguments) == len(function.parameters)


class _Expansion:
    def __init__(self, body: "Body", functions: dict[str, "Body"]) -> None:
        self.body = body
        self.functions = functions
        self.made: list[Instruction] = []
        self.labels: dict[str, int] = {}

    def run(self) -> None:
        before = self.body.instructions
        place = {}
        for instruction in before:
            place[instruction.index] = len(self.made)
            call = call_operands(instruction) if instruction.parts[0] == "call" else None
            if call is not None and _fits(self.body, call, self.functions):
                self._call(instruction, call)
            else:
                self.made.append(instruction)
        place[len(before)] = len(self.made)
        self.labels.update({name: place[index] for name, index in self.body.labels.items()})
        self.body.instructions = [replace(i, index=k) for k, i in enumerate(self.made)]
        self.body.labels = self.labels

    def _call(self, instruction: Instruction, call: CallOperands) -> None:
        function = self.functions[call.target]
        after = f"after@{next(_fresh)}"
        if instruction.guard is not None:
            skip = Guard(instruction.guard.register, not instruction.guard.negated)
            self.made.append(replace(instruction, opcode="bra", operands=(after,), guard=skip))
        # The caller's names for what goes in and comes out.
        names = dict(zip((p.name for p in function.parameters), call.arguments, strict=True))
        names.update(zip((p.name for p in function.returns), call.results, strict=False))
        self._insert(function, names, after, instruction.line)
        self.labels[after] = len(self.made)

    def _insert(self, function: "Body", names: dict[str, str], after: str, call: Line) -> None:
        scopes: dict[str | None, int] = {}  # of the function -> of this call

        def renamed(text: str) -> str:
            def one(found: re.Match[str]) -> str:
                if found[0] in names:
                    return names[found[0]]
                type_ = function.register_type(found[0])
                size = function.passed.get(found[0])
                if type_ is None and size is None and found[0] not in function.labels:
                    return found[0]
                if found[2] not in scopes:
                    scopes[found[2]] = next(_fresh)
                name = f"{found[1]}@{scopes[found[2]]}"
                if type_ is not None:
                    self.body.registers[name] = type_
                elif size is not None:
                    self.body.passed[name] = size
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
                line=instruction.line.inside(call),
            )
            if copy.parts[0] == "ret":
                copy = replace(copy, opcode="bra", operands=(after,))
            self.made.append(copy)
        place[len(function.instructions)] = len(self.made)
        self.labels.update({renamed(n): place[k] for n, k in function.labels.items()})
