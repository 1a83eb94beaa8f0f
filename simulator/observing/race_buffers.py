"""Which buffers a kernel can race on: found in its code, before it runs.

An address comes from a parameter or a variable by arithmetic. So each register has *origins*: the
parameters and variables that flow into it. A buffer that is only read, or only updated by atomics,
needs no shadow. An address that was itself loaded from memory may lead to any buffer.
"""

from collections.abc import Mapping
from functools import cache
from weakref import WeakKeyDictionary

from simulator.observing.events import Kind, Space
from simulator.observing.race_ways import CONFLICTS, Way, way
from simulator.reading.operands import address, read_and_written
from simulator.reading.ptx import Entry, Instruction
from simulator.running.buffers import AddressMap, Buffer
from simulator.translating.program import Program
from simulator.types import DTYPES

_POINTER_BYTES = 8
_Origin = tuple[str, int]  # a parameter, or a variable, and the byte in it
_ANYWHERE: _Origin = ("", 0)
_STORES = frozenset(("st", "atom", "red"))
_NO_ACCESS = frozenset(("prefetch", "prefetchu", "discard", "applypriority", "cvta"))
Ways = dict[_Origin, set[Way]]


def ways_by_origin(entry: Entry) -> Ways:
    """Each origin and the ways in which the kernel accesses global memory through it."""
    found = _FOUND.get(entry)
    if found is None:
        found = _FOUND[entry] = _ways(entry)
    return found


def ways_by_buffer(
    entry: Entry,
    parameters: Mapping[str, bytes],
    variables: Mapping[str, int],
    addresses: AddressMap,
) -> tuple[dict[int, set[Way]], set[Way]]:
    """(by the identity of a buffer, the ways in which it is accessed; those of any buffer)."""
    by_buffer: dict[int, set[Way]] = {}
    anywhere: set[Way] = set()
    for (name, offset), ways in ways_by_origin(entry).items():
        buffer: tuple[Buffer, int] | None = None
        if name in parameters:
            raw = parameters[name][offset : offset + _POINTER_BYTES]
            if len(raw) < _POINTER_BYTES:
                continue  # a number: it moves a pointer, and is none
            buffer = addresses.find(int.from_bytes(raw, "little"))
        elif name in variables:
            buffer = addresses.find(variables[name])
        elif (name, offset) == _ANYWHERE:
            anywhere |= ways
        if buffer is not None:
            by_buffer.setdefault(id(buffer[0]), set()).update(ways)
    return by_buffer, anywhere


@cache
def may_race(ways: frozenset[Way]) -> bool:
    return any(c.earlier in ways for later in ways for c in CONFLICTS[later])


def hands_on(program: Program) -> bool:
    """Whether a program releases or acquires anything: a fence, or an access that does."""
    found = _HANDS_ON.get(program)
    if found is None:
        found = _HANDS_ON[program] = any(
            i.parts[0] in ("membar", "fence") or _RELEASING & set(i.parts)
            for i in program.instructions
        )
    return found


_RELEASING = frozenset(("acquire", "release", "acq_rel"))
_HANDS_ON: "WeakKeyDictionary[Program, bool]" = WeakKeyDictionary()
_FOUND: "WeakKeyDictionary[Entry, Ways]" = WeakKeyDictionary()


def _ways(entry: Entry) -> Ways:
    code = list(entry.instructions)
    for function in entry.functions:
        code += function.instructions
    origins = _origins(entry, code)
    found: Ways = {}
    for instruction in code:
        for operand, how in _accesses(instruction):
            base = address(operand).base
            where = origins.get(_key(entry, instruction, base), set())
            if base in entry.outside.variables:
                where = {(base, 0)}
            for origin in where or {_ANYWHERE}:
                found.setdefault(origin, set()).add(how)
    return found


def _accesses(instruction: Instruction) -> list[tuple[str, Way]]:
    """(address operand, way) of each access that may be to global memory."""
    parts = instruction.parts
    if parts[0] in _NO_ACCESS or {"param", "const", "local"} & set(parts[1:3]):
        return []
    operands = [o for o in instruction.operands if o.startswith("[")]
    if parts[0] == "cp":
        return [(o, Way.READ) for o in operands[1:2]]
    if "shared" in parts or "shared::cta" in parts or not operands:
        return []
    kind = Kind.LOAD
    if parts[0] in _STORES or parts[:2] == ("wmma", "store"):
        kind = Kind.STORE if parts[0] not in ("atom", "red") else Kind.ATOMIC
    return [(operands[0], way(kind, Space.GLOBAL, parts))]


def _key(entry: Entry, instruction: Instruction, register: str) -> tuple[int, str]:
    """Functions that stay functions have registers of their own."""
    return (id(entry.scope_of(instruction)), register)


def _origins(entry: Entry, code: list[Instruction]) -> dict[tuple[int, str], set[_Origin]]:
    """Register -> its origins, wherever it is in the code."""
    origins: dict[tuple[int, str], set[_Origin]] = {}
    flows: list[tuple[list[tuple[int, str]], list[tuple[int, str]]]] = []
    for instruction in code:
        read, written = read_and_written(entry, instruction)
        if not written:
            continue
        targets = [_key(entry, instruction, register) for register in written]
        own = _own_origins(entry, instruction)
        for target in targets:
            origins.setdefault(target, set()).update(own)
        parts = instruction.parts
        loads = parts[0] in ("ld", "ldu", "atom", "ldmatrix") and "param" not in parts
        if not loads:
            flows.append(([_key(entry, instruction, register) for register in read], targets))
    changed = True
    while changed:
        changed = False
        for sources, targets in flows:
            coming: set[_Origin] = set().union(*(origins.get(s, set()) for s in sources))
            for target in targets:
                if not coming <= origins[target]:
                    origins[target] |= coming
                    changed = True
    return origins


def _own_origins(entry: Entry, instruction: Instruction) -> set[_Origin]:
    """The origins that begin with an instruction."""
    parts = instruction.parts
    found = {(o, 0) for o in instruction.operands if o in entry.outside.variables}
    names = {p.name for p in entry.parameters}
    if parts[:2] == ("ld", "param"):
        where = address(instruction.operands[1])
        if where.base in names and entry.scope_of(instruction) is entry:
            found.add((where.base, where.offset))
        elif entry.scope_of(instruction) is not entry:
            found.add(_ANYWHERE)
    elif parts[0] in ("ld", "ldu", "atom"):
        if DTYPES[parts[-1]].itemsize == _POINTER_BYTES:
            found.add(_ANYWHERE)
    elif parts[0] == "call" or any(o.startswith("%envreg") for o in instruction.operands):
        found.add(_ANYWHERE)
    found |= {(o, 0) for o in instruction.operands if o in names}
    return found
