"""Which registers an instruction reads and writes, and what an operand's text means."""

import re
from dataclasses import dataclass

from simulator.reading.ptx import Entry, Instruction

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


def address(operand: str) -> Address:
    found = _ADDRESS.match(operand)
    if not found:
        raise ValueError(f"{operand!r} is no address")
    return Address(found[1], int(found[2], 0) if found[2] else 0)


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


def read_and_written(entry: Entry, instruction: Instruction) -> tuple[set[str], set[str]]:
    """(registers read, registers written); a guarded write also reads the old value."""

    def registers(text: str) -> set[str]:
        return {n for n in _NAME.findall(text) if entry.register_type(n) is not None}

    operands = instruction.operands
    written: set[str] = set()
    read: set[str] = set()
    if writes_register(instruction):
        written = registers(operands[0])
        operands = operands[1:]
    for operand in operands:
        read |= registers(operand)
    parts = instruction.parts
    if parts[0] in ("addc", "subc", "madc"):
        read.add(CARRY)
    if "cc" in parts:
        written.add(CARRY)
    if instruction.guard is not None:
        read.add(instruction.guard.register)
        read |= written
    return read, written
