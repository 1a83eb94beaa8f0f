"""Which registers an instruction reads and writes, and what an operand's text means."""

import re
from dataclasses import dataclass

from simulator.reading.ptx import Function, Instruction, Piece
from simulator.types import DTYPES

_NAME = re.compile(r"(?:%[A-Za-z_]\w*|[A-Za-z_$][\w$]*)(?:@\d+)?")
_ADDRESS = re.compile(r"\[\s*([%\w$@]+?)\s*(?:\+\s*(-?\w+)\s*)?\]$")

# These write no register: their first operand is an address, a label or a barrier.
_WITHOUT_DESTINATION = frozenset(
    [
        "st",
        "red",
        "bar",
        "barrier",
        "bra",
        "ret",
        "exit",
        "trap",
        "membar",
        "fence",
        "cp",
        "call",
        "nanosleep",
        "prefetch",
        "prefetchu",
        "pmevent",
        "brkpt",
        "discard",
        "applypriority",
    ]
)

CARRY = "%carry"  # the condition code of add.cc, addc, …: one register for each lane


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`; base is a register, a variable or a parameter."""

    base: str
    offset: int


@dataclass(frozen=True, slots=True)
class CallOperands:
    """`call.uni (retval0), name, (param0, param1), prototype`; all but the name may be missing."""

    target: str  # a function, or a register with the address of one
    arguments: tuple[str, ...]
    results: tuple[str, ...]


def address(operand: str) -> Address:
    found = _ADDRESS.match(operand)
    if not found:
        raise ValueError(f"{operand!r} is no address")
    return Address(found[1], int(found[2], 0) if found[2] else 0)


def call_operands(instruction: Instruction) -> CallOperands:
    operands = instruction.operands
    place = next((k for k, o in enumerate(operands) if not o.startswith("(")), 0)

    def inside(brackets: tuple[str, ...]) -> tuple[str, ...]:
        found = next((b for b in brackets if b.startswith("(")), "()")
        return tuple(filter(None, found[1:-1].split(",")))

    return CallOperands(operands[place], inside(operands[place + 1 :]), inside(operands[:place]))


def elements(operand: str) -> tuple[str, ...]:
    """The parts of a vector operand: "{%f1,%f2}" -> ("%f1", "%f2"); one operand -> itself."""
    return tuple(operand.strip("{}").split(",")) if operand.startswith("{") else (operand,)


def destinations(operand: str) -> tuple[str, ...]:
    """The registers that a destination operand names: "%p1|%p2", "{%f1,_}", "%r1"."""
    return elements(operand) if operand.startswith("{") else tuple(operand.split("|"))


def writes_register(instruction: Instruction) -> bool:
    parts = instruction.parts
    if parts[:2] == ("bar", "red") or parts[:2] == ("barrier", "red"):
        return True
    if parts[:2] in (("wmma", "store"), ("st", "param")):
        return False
    return parts[0] not in _WITHOUT_DESTINATION and bool(instruction.operands)


def parameter_access(instruction: Instruction) -> tuple[str, int, int, tuple[str, ...]] | None:
    """(variable, offset in bytes, bytes of an element, elements) of an ld.param or st.param."""
    parts = instruction.parts
    if parts[:2] not in (("ld", "param"), ("st", "param")):
        return None
    place, value = instruction.operands if parts[0] == "st" else instruction.operands[::-1]
    where = address(place)
    return where.base, where.offset, DTYPES[parts[-1]].itemsize, elements(value)


def pieces_between(function: Function, name: str, offset: int, size: int) -> list[Piece]:
    """The pieces of a passed value in a stretch of it; none of a name that no call passes."""
    known = function.passed.get(name)
    pieces = known.pieces if known is not None else ()
    return [p for p in pieces if offset <= p.offset < offset + size]


def read_and_written(function: Function, instruction: Instruction) -> tuple[set[str], set[str]]:
    """(registers read, registers written); a guarded write also reads the old value."""
    function = function.scope_of(instruction)

    def registers(text: str) -> set[str]:
        return {n for n in _NAME.findall(text) if function.register_type(n) is not None}

    def pieces(names: tuple[str, ...]) -> set[str]:
        return {
            p.register for n in names if n in function.passed for p in function.passed[n].pieces
        }

    operands = instruction.operands
    written: set[str] = set()
    read: set[str] = set()
    if writes_register(instruction):
        written = registers(operands[0])
        operands = operands[1:]
    for operand in operands:
        read |= registers(operand)
    parts = instruction.parts
    access = parameter_access(instruction)
    if access is not None:
        name, offset, size, values = access
        touched = pieces_between(function, name, offset, size * len(values))
        (written if parts[0] == "st" else read).update(p.register for p in touched)
    elif parts[0] == "call":
        call = call_operands(instruction)
        read |= pieces(call.arguments)
        written |= pieces(call.results)
    elif parts[0] == "ret":
        read |= pieces(tuple(p.name for p in function.returns))
    if parts[0] in ("addc", "subc", "madc"):
        read.add(CARRY)
    if "cc" in parts:
        written.add(CARRY)
    if instruction.guard is not None:
        read.add(instruction.guard.register)
        read |= written
    return read, written
