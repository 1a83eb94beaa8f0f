"""Shadows as lines of generated code: what follows undefined values beside the values themselves.

The shadow of a register (`instructions/definedness.py`) is held under a name of its own beside it
in the register file, and only where the register may be undefined (`definedness.py`). Bits that an
instruction only moves are moved in the shadow by the very code that moves the values: it is written
once more, for a generator that takes each register for its shadow.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.instructions.definedness import rule_of, shadow_type
from simulator.instructions.opcodes import operation
from simulator.instructions.rows import UnknownInstruction
from simulator.reading.operands import CARRY, destinations, read_and_written
from simulator.reading.ptx import Instruction
from simulator.running.registers import SHADOW, UNDECIDED
from simulator.translating.control_flow import BasicBlock
from simulator.translating.definedness import Followed, Sources
from simulator.translating.shadow_statements import SHADOWED, TEMPORARY, Lines
from simulator.types import DTYPES

if TYPE_CHECKING:
    from simulator.translating.generate import Generator


class Shadows:
    """A generator that takes each register for its shadow; one that is always defined is zero."""

    def __init__(self, generator: "Generator", registers: set[str]) -> None:
        self._generator = generator
        self._registers = registers
        self.held_as = {r: shadow_type(d) for r, d in generator.held_as.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def follows(self, operand: str) -> bool:
        return operand.removeprefix("!") in self._registers

    def defined(self, dtype: np.dtype[Any]) -> str:
        return self._generator.constant(dtype.type(0))

    def variable(self, register: str) -> str:
        if register in self._registers:
            return self._generator.variable(register + SHADOW)
        return self.defined(self.held_as[register])

    def value(self, operand: str, type_: str) -> str:
        dtype, register = DTYPES[type_], operand.removeprefix("!")
        if not self.follows(register):
            return self.defined(dtype)
        return self._generator.cast(self.variable(register), self.held_as[register], dtype)

    def word(self, operand: str, dtype: np.dtype[Any]) -> str:
        """The shadow of an operand that is read as some type."""
        register = operand.removeprefix("!")
        wanted = shadow_type(dtype)
        if not self.follows(register):
            return self.defined(wanted)
        return self._generator.cast(self.variable(register), self.held_as[register], wanted)

    def assign(
        self, register: str, expression: str, result: np.dtype[Any], guard: str | None
    ) -> str:
        if register not in self._registers:
            return ""
        return type(self._generator).assign(self, register, expression, result, guard)  # type: ignore[arg-type]


class ShadowWriter:
    """Writes what is added to a basic block's function: nothing where nothing is followed."""

    def __init__(self, generator: "Generator", followed: Followed | None) -> None:
        self.generator = generator
        self.idle = followed is None
        self.followed = followed or Followed(Sources())
        self.registers = self.followed.registers.get(generator.function.name, set())
        self.shadows = Shadows(generator, self.registers)

    def around(self, instruction: Instruction, number: int) -> tuple[Lines, Lines]:
        """(lines before, lines behind): none where nothing that it touches is followed.

        number  of its basic block among those of all functions
        """
        if self.idle:
            return [], []
        try:
            before, behind = self._around(instruction, number)
        except (UnknownInstruction, ValueError):  # told where its own lines are written
            return [], []
        return _indented(before), _indented(behind)

    def _around(self, instruction: Instruction, number: int) -> tuple[Lines, Lines]:
        written = read_and_written(self.generator.function, instruction)[1]
        if instruction.parts[0] == "bra" and number in self.followed.branches:
            assert instruction.guard is not None
            name = f"{number}{UNDECIDED}"
            shadow = self.shadows.variable(instruction.guard.register)
            return [f"registers.write({name!r}, {shadow}, lanes)"], []
        before, behind = self._guard(instruction), Lines()
        special = SHADOWED.get(instruction.parts[0])
        if special is not None:
            first, behind = special(self, instruction)
            before += first
        elif written & self.registers:
            before += self._computed(instruction, written)
        return before, behind

    def entered(self, number: int, registers: set[str]) -> Lines:
        """Shadows that a basic block finds in the register file, behind branches that meet here.

        number  of the basic block among those of all functions
        """
        found = []
        for branch in self.followed.branches.values():
            if branch.join == number:
                held = self.shadows.held_as
                shadows = {r + SHADOW: held[r] for r in sorted(branch.written)}
                names = self.generator.constant(shadows)
                name = f"{branch.branch}{UNDECIDED}"
                found.append(f"run.undefined.joined({name!r}, {names}, registers, lanes)")
        for register in sorted(registers & self.registers):
            dtype = self.generator.constant(self.shadows.held_as[register])
            name = register + SHADOW
            found.append(
                f"{self.generator.variable(name)} = registers.read({name!r}, lanes, {dtype})"
            )
        return _indented(found)

    def written(self, block: BasicBlock) -> Lines:
        """Shadows that it leaves there."""
        kept = sorted(block.written & block.live_out & self.registers)
        return _indented(
            [f"registers.write({r + SHADOW!r}, {self.shadows.variable(r)}, lanes)" for r in kept]
        )

    def names(self, registers: tuple[str, ...]) -> tuple[str, ...]:
        """Of the shadows of those registers that have one."""
        return tuple(r + SHADOW for r in registers if r in self.registers)

    # ---- pieces

    def checked(self, instruction: Instruction, operand: str, what: str = "decides") -> Lines:
        """The operand must be defined in every lane that takes part."""
        register = operand.removeprefix("!")
        if register not in self.registers:
            return []
        guard = None if what == "decides" else self.generator.guard_of(instruction)
        shadow = self.shadows.variable(register)
        return [
            f"run.undefined.{what}({instruction.index}, {register!r}, {shadow}, lanes, {guard})"
        ]

    def _guard(self, instruction: Instruction) -> Lines:
        guard = instruction.guard
        return [] if guard is None else self.checked(instruction, guard.register)

    def _computed(self, instruction: Instruction, written: set[str]) -> Lines:
        """Arithmetic, and what gives only defined values."""
        shadows, guard = self.shadows, self.generator.guard_of(instruction)
        if not instruction.operands:
            return []
        sources = instruction.operands[1:]
        if not any(shadows.follows(o) for o in (*sources, *self._carried(instruction))):
            return self.defined(written, guard)
        targets = destinations(instruction.operands[0])
        what = operation(instruction.opcode, len(targets))
        typed = list(zip(sources, what.operands, strict=True))
        values = [self.generator.value(o, t) for o, t in typed]
        lines = [shadows.word(o, DTYPES[t]) for o, t in typed]
        results = [shadow_type(DTYPES[r]) for r in what.results]
        if what.carry_in:
            values.append(self.generator.variable(CARRY))
            lines.append(shadows.word(CARRY, np.dtype(bool)))
        if what.carry_out:
            targets, results = (*targets, CARRY), [*results, np.dtype(bool)]
        rule = self.generator.constant(rule_of(instruction.opcode, what))
        call = f"{TEMPORARY} = {rule}(({', '.join(values)},), ({', '.join(lines)},))"
        return [call, *self.assigned(targets, results, guard)]

    def _carried(self, instruction: Instruction) -> tuple[str, ...]:
        return (CARRY,) if instruction.parts[0] in ("addc", "subc", "madc") else ()

    def defined(self, written: set[str], guard: str | None) -> Lines:
        held = self.shadows.held_as
        return [
            self.shadows.assign(r, self.shadows.defined(held[r]), held[r], guard)
            for r in sorted(written & self.registers)
        ]

    def assigned(
        self, targets: tuple[str, ...], results: list[np.dtype[Any]], guard: str | None
    ) -> Lines:
        return [
            self.shadows.assign(target, f"{TEMPORARY}[{k}]", dtype, guard)
            for k, (target, dtype) in enumerate(zip(targets, results, strict=False))
            if target in self.registers
        ]

    def tuple_of(self, operands: tuple[str, ...], dtype: np.dtype[Any]) -> str:
        return f"({', '.join(self.shadows.word(o, dtype) for o in operands)},)"


def _indented(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines if line]
