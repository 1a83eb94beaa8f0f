"""From bodies to entries: which functions are put in the place of their calls, and which stay.

A function stays one if it calls itself, directly or through others, or if its address is taken.
An entry has those with it that it can reach: by a call that names them, or, where it calls through
a pointer, all of which the module knows an address.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from simulator.reading.body import Body
from simulator.reading.calls import expand
from simulator.reading.operands import call_operands
from simulator.reading.pieces import passed_values
from simulator.reading.ptx import Entry, Function, Instruction, Outside
from simulator.reading.variables import layout

# Of a thread's local memory, beyond one call of each function: 16 times the stack that CUDA gives
# a thread unless cudaDeviceSetLimit says otherwise.
RECURSION_BYTES = 1 << 14


def link(entries: Iterable[Body], functions: Mapping[str, Body], outside: Outside) -> list[Entry]:
    """The entries of a module, each with the functions that it calls."""
    recursive = _recursive(functions)
    inlined = {name: body for name, body in functions.items() if name not in recursive}
    bodies = list(entries)
    taken = _addresses_taken([*bodies, *functions.values()], functions, outside)
    for body in (*functions.values(), *bodies):
        expand(body, inlined)
    return [_entry(body, _staying(body, functions, taken), recursive, outside) for body in bodies]


def _calls(body: Body) -> list[str]:
    """The targets of its calls: functions, and registers that hold an address."""
    return [call_operands(i).target for i in body.instructions if i.parts[0] == "call"]


def _recursive(functions: Mapping[str, Body]) -> set[str]:
    """The functions that reach themselves through calls that name their target."""
    calls = {name: set(_calls(body)) & set(functions) for name, body in functions.items()}
    found = set()
    for name in functions:
        reached: set[str] = set()
        ahead = [name]
        while ahead:
            new = calls[ahead.pop()] - reached
            reached |= new
            ahead += new
        if name in reached:
            found.add(name)
    return found


def _addresses_taken(
    bodies: Iterable[Body], functions: Mapping[str, Body], outside: Outside
) -> list[str]:
    """The functions whose address the code or an initial value names, in the module's order."""
    named = {p.name for variable in outside.variables.values() for p in variable.pointers}
    for body in bodies:
        if body.names.isdisjoint(functions):
            continue
        for instruction in body.instructions:
            if instruction.parts[0] != "call":
                named |= set(re.findall(r"[\w$]+", " ".join(instruction.operands)))
    return [name for name in functions if name in named]


def _staying(body: Body, functions: Mapping[str, Body], taken: list[str]) -> list[Body]:
    """The functions that calls of `body` reach as calls, in the module's order."""
    found: set[str] = set()
    ahead = [body]
    while ahead:
        one = ahead.pop()
        for target in _calls(one):
            reached = taken if one.register_type(target) is not None else [target]
            new = [name for name in reached if name in functions and name not in found]
            found.update(new)
            ahead += [functions[name] for name in new]
    return [functions[name] for name in functions if name in found]


def _entry(body: Body, functions: list[Body], recursive: set[str], outside: Outside) -> Entry:
    parts = [body, *functions]
    names = set().union(*(part.names for part in parts))
    used = [v for n, v in body.outside.items() if v.space == "shared" and n in names]
    used += {v.name: v for part in parts for v in part.own.values() if v.space == "shared"}.values()
    shared, static = layout([v for v in used if not v.extern])
    for one in used:
        if one.extern:
            shared[one.name] = -(-static // 16) * 16
    code = _function(body, 0)
    made: list[Function] = []
    first = len(code.instructions)
    for part in functions:
        made.append(_function(part, first))
        first += len(made[-1].instructions)
    deeper = RECURSION_BYTES if _may_recurse(functions, recursive) else 0
    return Entry(
        code.name,
        code.parameters,
        code.returns,
        code.registers,
        code.instructions,
        code.labels,
        code.passed,
        code.local,
        code.local_bytes,
        shared,
        static,
        outside,
        _mentioned(names, outside),
        body.maximum_threads,
        tuple(made),
        code.local_bytes + sum(function.local_bytes for function in made) + deeper,
    )


def _may_recurse(functions: list[Body], recursive: set[str]) -> bool:
    """Whether a call chain can have one of the functions, some with local variables, twice."""
    through_pointer = any(f.register_type(t) is not None for f in functions for t in _calls(f))
    again = through_pointer or any(f.name in recursive for f in functions)
    return again and any(v.space == "local" for f in functions for v in f.own.values())


def _function(body: Body, first: int) -> Function:
    """A body's code; `first` is the index of its first instruction in the program."""
    passed = passed_values(body.passed, body.instructions)
    pieces = {p.register: f"b{8 * p.size}" for value in passed.values() for p in value.pieces}
    local, local_bytes = layout([v for v in body.own.values() if v.space == "local"])
    return Function(
        body.name,
        body.parameters,
        body.returns,
        body.registers | pieces,
        _numbered(body.instructions, first),
        body.labels,
        passed,
        local,
        -(-local_bytes // 16) * 16,
    )


def _numbered(instructions: list[Instruction], first: int) -> tuple[Instruction, ...]:
    if not first:
        return tuple(instructions)
    return tuple(replace(i, index=first + k) for k, i in enumerate(instructions))


def _mentioned(names: set[str], outside: Outside) -> tuple[str, ...]:
    """The .global and .const arrays that are named, and those that they point to."""
    found: list[str] = []
    ahead = [name for name in outside.variables if name in names]
    while ahead:
        name = ahead.pop()
        if name in outside.variables and name not in found:
            found.append(name)
            ahead += [pointer.name for pointer in outside.variables[name].pointers]
    return tuple(found)
