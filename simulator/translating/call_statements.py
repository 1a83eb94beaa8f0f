"""Calls as lines of generated code: values that are passed, and who is called.

A passed value lies in the registers of its pieces. The simulator's own functions (printf, assert)
are called in the middle of a basic block; a call of another function ends it, and the machine
moves the lanes: the block gives it (guard, the target's address, what is passed).
"""

from typing import TYPE_CHECKING

import numpy as np

from simulator.instructions.rows import UnknownInstruction
from simulator.reading.operands import call_operands, parameter_access, pieces_between
from simulator.reading.ptx import Instruction, Passed
from simulator.types import DTYPES

if TYPE_CHECKING:
    from simulator.translating.generate import Generator


def passed_value(generator: "Generator", name: str, offset: int, size: int) -> str:
    """An expression for `size` bytes of a passed value, as an unsigned integer."""
    pieces = pieces_between(generator.function, name, offset, size)
    if [p.size for p in pieces] == [size]:
        return generator.variable(pieces[0].register)
    parts = ["np.uint8(0)"] if not pieces else []
    for piece in pieces:
        shift = generator.constant(np.array(8 * (piece.offset - offset), f"u{size}")[()])
        parts.append(f"({generator.variable(piece.register)}.astype('u{size}') << {shift})")
    return f"({' | '.join(parts)})"


def load_passed(generator: "Generator", instruction: Instruction) -> list[str] | None:
    """ld.param of what a call passes; None: it is a parameter of the launch, or an address."""
    access = parameter_access(instruction)
    if access is None or access[0] not in generator.function.passed:
        return None
    name, offset, size, targets = access
    dtype, guard = DTYPES[instruction.parts[-1]], generator.guard_of(instruction)
    lines = []
    for k, target in enumerate(targets):
        value = passed_value(generator, name, offset + k * size, size)
        value = generator.cast(value, np.dtype(f"u{size}"), dtype)
        lines.append(generator.assign(target, value, dtype, guard))
    return lines


def store_passed(generator: "Generator", instruction: Instruction) -> list[str]:
    access = parameter_access(instruction)
    if access is None or access[0] not in generator.function.passed:
        raise UnknownInstruction(f"{instruction.opcode} {', '.join(instruction.operands)}")
    name, offset, size, sources = access
    guard = generator.guard_of(instruction)
    lines = []
    for k, source in enumerate(sources):
        begin = offset + k * size
        value = generator.value(source, f"b{8 * size}")
        pieces = pieces_between(generator.function, name, begin, size)
        if [p.size for p in pieces] == [size]:
            dtype = np.dtype(f"u{size}")
            lines.append(generator.assign(pieces[0].register, value, dtype, guard))
            continue
        lines.append(f"t = {value}")
        for piece in pieces:
            shift = generator.constant(np.array(8 * (piece.offset - begin), f"u{size}")[()])
            part, dtype = f"(t >> {shift}).astype('u{piece.size}')", np.dtype(f"u{piece.size}")
            lines.append(generator.assign(piece.register, part, dtype, guard))
    return lines


def own_call(generator: "Generator", instruction: Instruction) -> list[str]:
    """A call of a function that the simulator itself has."""
    call = call_operands(instruction)
    known = generator.function.passed
    if call.target in ("vprintf", "__assertfail") and instruction.guard is None:
        values = [passed_value(generator, a, 0, known[a].bytes) for a in call.arguments]
        passed = ", ".join(values)
        if call.target == "__assertfail":
            at = generator.constant(instruction.line)
            return [f"run.assertion_failed({passed}, lanes, {at})"]
        printed = f"run.printf({passed}, lanes)"
        result = [p for name in call.results for p in known[name].pieces]
        if [p.size for p in result] == [4]:
            return [generator.assign(result[0].register, printed, np.dtype(np.uint32), None)]
        return [printed]
    raise UnknownInstruction(f"{instruction.opcode} {call.target}")


def left_by_call(generator: "Generator", instruction: Instruction) -> str:
    """What a basic block that ends with a call gives the machine."""
    call = call_operands(instruction)
    addresses = generator.entry.outside.functions
    if generator.is_register(call.target):
        target = generator.value(call.target, "u64")
    else:
        target = generator.constant(np.uint64(addresses[call.target]))
    values = _values(generator, [generator.function.passed[name] for name in call.arguments])
    return f"({generator.guard_of(instruction)}, {target}, {values})"


def left_by_return(generator: "Generator", instruction: Instruction) -> str:
    """The same of one that ends with a return from a function: (guard, what is returned)."""
    function = generator.function
    values = _values(generator, [function.passed[p.name] for p in function.returns])
    return f"({generator.guard_of(instruction)}, {values})"


def _values(generator: "Generator", passed: list[Passed]) -> str:
    """A tuple of the pieces of all values, in order."""
    names = [generator.variable(p.register) for value in passed for p in value.pieces]
    return f"({''.join(f'{name}, ' for name in names)})"
