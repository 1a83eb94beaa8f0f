"""One Python function for each basic block: an instruction becomes a line of NumPy.

The function of a basic block looks like this (`lanes` are the lanes that run it):

    def block_2(registers, lanes, run):
        rd6 = registers.read("%rd6", lanes, dtype)
        f1, = run.memory.load(K0, rd6, 4, lanes, None)
        f3 = K1(f1, f2); f1 = None                      # freed after the last use
        return ~p1                                      # which lanes branch

A register is held as the NumPy type that most of its instructions want, and viewed as others.
"""

import re
from collections import Counter
from typing import Any

import numpy as np

from simulator.instructions.opcodes import operation
from simulator.instructions.perturbation import is_approximate, perturbed
from simulator.instructions.rows import Operation, UnknownInstruction
from simulator.reading.operands import CARRY, destinations, read_and_written, writes_register
from simulator.reading.ptx import Entry, Function, Instruction
from simulator.running.wave import SPECIAL_REGISTERS, special_type
from simulator.translating.call_statements import left_by_call, left_by_return
from simulator.translating.control_flow import BasicBlock, End, meets_block
from simulator.translating.definedness import Followed
from simulator.translating.generated import Generated
from simulator.translating.literals import literal, place_in_variable
from simulator.translating.shadows import ShadowWriter
from simulator.translating.statements import STATEMENTS, pick_side
from simulator.types import DTYPES

_IDENTIFIER = re.compile(r"\W")


class Generator:
    """Writes the Python functions of one entry, or of one function that it calls."""

    def __init__(
        self,
        entry: Entry,
        perturb: bool = False,
        function: Function | None = None,
        followed: Followed | None = None,
    ) -> None:
        self.entry = entry
        self.function = function or entry
        self.is_entry = self.function is entry
        self.perturb = perturb  # move approximate results within their documented error
        self.constants: dict[str, Any] = {"pick_side": pick_side}
        self._numbers: dict[Any, str] = {}
        self._operations: dict[str, tuple[str, int]] = {}  # of the constants, those of opcodes
        code = self.function.instructions
        self._read = set().union(*(read_and_written(self.function, i)[0] for i in code))
        self.parameters = {p.name for p in entry.parameters} if self.is_entry else set()
        self.held_as = self._representations()
        self.shadows = ShadowWriter(self, followed)

    def generated(self, blocks: list[BasicBlock]) -> Generated:
        """The code of the functions of all basic blocks."""
        source = "\n\n".join(self.block(n, block) for n, block in enumerate(blocks))
        code = compile(source, f"<{self.function.name}>", "exec")
        named = {n: v for n, v in self.constants.items() if n not in self._operations}
        return Generated(code, named, self._operations)

    # ---- operands

    def constant(self, value: Any) -> str:
        """A name for a value that the generated code uses."""
        key = (type(value), value.tobytes() if isinstance(value, np.generic) else id(value))
        name = self._numbers.get(key)
        if name is None:
            name = self._numbers[key] = f"K{len(self._numbers)}"
            self.constants[name] = value
        return name

    def variable(self, register: str) -> str:
        return "r_" + _IDENTIFIER.sub("_", register)

    def is_register(self, operand: str) -> bool:
        return operand == CARRY or self.function.register_type(operand) is not None

    def is_read(self, register: str) -> bool:
        """Whether any instruction reads a register: an atomic's old value is often not wanted."""
        return register in self._read

    def value(self, operand: str, type_: str) -> str:
        """An expression for an operand as a PTX type: arrays [count] or a scalar."""
        dtype = DTYPES[type_]
        if operand.startswith("!"):
            return f"~{self.value(operand[1:], type_)}"
        if self.is_register(operand):
            return self.cast(self.variable(operand), self.held_as[operand], dtype)
        if operand in SPECIAL_REGISTERS:
            text = f"run.special({operand!r}, lanes)"
            return self.cast(text, DTYPES[special_type(operand)], dtype)
        name, offset = place_in_variable(operand)
        address = self.address_constant(name)
        if address is not None:
            return self.constant(np.uint64(address + offset).astype(dtype)[()])
        if name in self.function.local:
            text = f"registers.local({self.function.local[name] + offset})"
            return self.cast(text, DTYPES["u64"], dtype)
        if name in self.entry.outside.variables or name in self.parameters:
            return f"run.address_of({name!r}, {offset})"
        return self.constant(literal(operand, dtype))

    def address_constant(self, name: str) -> int | None:
        """The fixed address of a shared or local variable in its space, or of a function."""
        if name in self.entry.shared:
            return self.entry.shared[name]
        if self.is_entry and name in self.entry.local:
            return self.entry.local[name]
        return self.entry.outside.functions.get(name)

    def cast(self, expression: str, held: np.dtype[Any], wanted: np.dtype[Any]) -> str:
        """View bits as another type; a narrower type takes the low bits."""
        if held == wanted:
            return expression
        if held.itemsize == wanted.itemsize and "b" not in (held.kind, wanted.kind):
            return f"{expression}.view({wanted.str!r})"
        if held.kind == "b" or wanted.kind == "b":
            return f"{expression}.astype({wanted.str!r})"
        bits = f"{expression}.view('u{held.itemsize}').astype('u{wanted.itemsize}')"
        return bits if wanted.kind == "u" else f"{bits}.view({wanted.str!r})"

    # ---- results

    def assign(
        self, register: str, expression: str, result: np.dtype[Any], guard: str | None
    ) -> str:
        """`register = expression`; a wider register is filled as the result's sign says."""
        if register == "_":
            return expression
        held = self.held_as[register]
        if held.itemsize > result.itemsize and result.kind == "i":
            expression = f"{expression}.astype('i{held.itemsize}').view({held.str!r})"
        else:
            expression = self.cast(expression, result, held)
        name = self.variable(register)
        if guard is not None:
            expression = f"pick_side({guard}, {expression}, {name})"
        return f"{name} = {expression}"

    def guard_of(self, instruction: Instruction) -> str | None:
        guard = instruction.guard
        if guard is None:
            return None
        return ("~" if guard.negated else "") + self.variable(guard.register)

    # ---- basic blocks

    def block(self, number: int, block: BasicBlock) -> str:
        base = self.function.instructions[0].index
        instructions = self.function.instructions[block.first - base : block.end - base]
        lines = [f"def block_{number}(registers, lanes, run):"]
        for register in sorted(block.read):
            dtype = self.constant(self.held_as[register])
            lines.append(
                f"    {self.variable(register)} = registers.read({register!r}, lanes, {dtype})"
            )
        lines += self.shadows.entered(block.function + number, block.read)
        leaves = "None"
        for instruction in instructions:
            before, behind = self.shadows.around(instruction, block.function + number)
            lines += before
            if instruction.parts[0] in ("bra", "ret", "exit"):
                leaves = self.guard_of(instruction) or "None"
                if block.leaves is End.RETURN:
                    leaves = left_by_return(self, instruction)
                continue
            if block.leaves is End.CALL and instruction is instructions[-1]:
                leaves = left_by_call(self, instruction)
                continue
            try:
                if meets_block(instruction) and instruction.guard is not None:
                    raise UnknownInstruction(f"{instruction.opcode} behind a guard")
                if meets_block(instruction) and _by_machine(instruction.parts):
                    continue  # the machine's business
                lines += [f"    {line}" for line in self.statement(instruction)] + behind
            except UnknownInstruction as unknown:
                lines.append(f"    {self._refuse(unknown, instruction)}")
            except ValueError:  # an operand that says nothing to us
                unreadable = f"{instruction.opcode} {', '.join(instruction.operands)}"
                refused = self._refuse(UnknownInstruction(unreadable), instruction)
                lines.append(f"    {refused}")
        returned: set[str] = set()  # the machine writes what a call gives back
        if block.call is not None and instructions[-1].guard is None:
            returned = {p.register for value in block.call.results for p in value.pieces}
        for register in sorted((block.written & block.live_out) - returned):
            lines.append(f"    registers.write({register!r}, {self.variable(register)}, lanes)")
        dead = tuple(sorted(block.live_in - block.live_out))
        lines += self.shadows.written(block)
        dead += self.shadows.names(dead)
        if dead:
            lines.append(f"    registers.drop({dead!r}, lanes)")
        lines.append(f"    return {leaves}")
        return "\n".join(_freed(lines))

    def _refuse(self, unknown: UnknownInstruction, instruction: Instruction) -> str:
        """Refuse an entry at once; a function that may never be called, only where it is."""
        unknown.line = instruction.line
        if self.is_entry:
            raise unknown
        return f"raise {self.constant(unknown)}"

    def statement(self, instruction: Instruction) -> list[str]:
        """The lines of one instruction."""
        special = STATEMENTS.get(instruction.parts[0])
        return special(self, instruction) if special else self._arithmetic(instruction)

    def _arithmetic(self, instruction: Instruction) -> list[str]:
        if not instruction.operands:
            raise UnknownInstruction(instruction.opcode)
        targets = destinations(instruction.operands[0])
        what = operation(instruction.opcode, len(targets))
        compute = what.compute
        if self.perturb and is_approximate(instruction.opcode):
            compute = perturbed(instruction.opcode, what)
        sources = instruction.operands[1:]
        arguments = [self.value(o, t) for o, t in zip(sources, what.operands, strict=True)]
        if what.carry_in:
            arguments.append(self.variable(CARRY))
        name = self.constant(compute)
        if compute is what.compute:
            self._operations[name] = (instruction.opcode, len(targets))
        call = f"{name}({', '.join(arguments)})"
        results = list(zip(targets, (DTYPES[r] for r in what.results), strict=False))
        if what.carry_out:
            results.append((CARRY, np.dtype(bool)))
        guard = self.guard_of(instruction)
        if len(results) == 1:
            target, dtype = results[0]
            return [self.assign(target, call, dtype, guard)]
        lines = [f"t = {call}"]
        for k, (target, dtype) in enumerate(results):
            lines.append(self.assign(target, f"t[{k}]", dtype, guard))
        return lines

    # ---- how each register is held

    def _representations(self) -> dict[str, np.dtype[Any]]:
        """The type that most instructions want of each register."""
        wishes: dict[str, Counter[np.dtype[Any]]] = {}
        for instruction in self.function.instructions:
            for operand, type_ in self._typed_operands(instruction):
                if self.is_register(operand):
                    wishes.setdefault(operand, Counter())[DTYPES[type_]] += 1
            for register in set().union(*read_and_written(self.function, instruction)):
                wishes.setdefault(register, Counter())
        chosen: dict[str, np.dtype[Any]] = {CARRY: np.dtype(bool)}
        for register, wish in wishes.items():
            if register == CARRY:
                continue
            declared = DTYPES[self.function.register_type(register) or "b32"]
            fitting = {d: n for d, n in wish.items() if d.itemsize == declared.itemsize}
            if declared.kind == "b" or not fitting:
                chosen[register] = declared
            else:
                chosen[register] = max(fitting, key=lambda d: fitting[d])
        return chosen

    def _typed_operands(self, instruction: Instruction) -> list[tuple[str, str]]:
        """(operand, PTX type) pairs, as far as the opcode tells."""
        parts = instruction.parts
        if parts[0] in STATEMENTS or not instruction.operands:
            type_ = parts[-1]
            if type_ not in DTYPES or parts[0] == "mov":
                return []
            names = re.findall(r"%\w+(?:@\d+)?", " ".join(instruction.operands))
            inside = re.findall(r"\[(%\w+)", " ".join(instruction.operands))
            return [(n, type_) for n in names if n not in inside] + [(n, "u64") for n in inside]
        try:
            targets = destinations(instruction.operands[0])
            what: Operation = operation(instruction.opcode, len(targets))
        except UnknownInstruction:
            return []  # told where its code is written
        pairs = list(zip(instruction.operands[1:], what.operands, strict=False))
        if writes_register(instruction):
            pairs += list(zip(targets, what.results, strict=False))
        return [(o.lstrip("!"), t) for o, t in pairs]


def _by_machine(parts: tuple[str, ...]) -> bool:
    """A barrier of the block that gives no value: the machine holds the lanes, no code runs."""
    return bool({"sync", "arrive"} & set(parts)) and "cluster" not in parts


def _freed(lines: list[str]) -> list[str]:
    """Forget every local after its last use: arrays are large."""
    last: dict[str, int] = {}
    for k, line in enumerate(lines):
        for name in re.findall(r"\b(?:r_\w+|t)\b", line):
            last[name] = k
    for name, k in last.items():
        if not lines[k].lstrip().startswith("return"):
            lines[k] += f"; {name} = None"
    return lines
