"""What a row of the opcode table says, and what looking one up gives."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from simulator.types import DTYPES, WIDER

Compute: TypeAlias = Callable[..., Any]


class Unit(Enum):
    """The pipeline that issues an instruction."""

    ALU = "integer, logic, compare"
    FMA = "multiply and add"
    DOUBLE = "float64"
    SFU = "root, exponential, logarithm, sine"
    CONVERT = "conversion between types"


class UnknownInstruction(Exception):
    """No row of the opcode table serves this opcode."""

    def __init__(self, opcode: str) -> None:
        super().__init__(f"the simulator does not know the instruction {opcode}")
        self.opcode = opcode
        self.line: int | None = None  # in the learner's file, once somebody knows it

    def __reduce__(self) -> tuple[type["UnknownInstruction"], tuple[str]]:
        return UnknownInstruction, (self.opcode,)


@dataclass(frozen=True, slots=True)
class Operation:
    """One opcode: what it computes, and the PTX type of each operand and result."""

    compute: Compute
    operands: tuple[str, ...]
    results: tuple[str, ...]
    unit: Unit  # asked for by the counters of instructions by class
    carry_in: bool = False  # compute takes the carry flag as its last argument
    carry_out: bool = False  # compute returns the carry flag as its last result


@dataclass(frozen=True, slots=True)
class Spelling:
    """An opcode taken apart: `fma.rn.ftz.f32` is fma, {rn, ftz}, (f32,)."""

    opcode: str
    name: str
    modifiers: frozenset[str]
    types: tuple[str, ...]  # in the order written
    destinations: int = 1

    @classmethod
    def of(cls, opcode: str, destinations: int = 1) -> "Spelling":
        name, *parts = opcode.split(".")
        types = tuple(part for part in parts if part in DTYPES)
        modifiers = frozenset(part for part in parts if part not in DTYPES)
        return cls(opcode, name, modifiers, types, destinations)

    def unknown(self) -> UnknownInstruction:
        return UnknownInstruction(self.opcode)

    def one_of(self, choices: Any) -> str:
        """The single modifier that is among the choices; anything else is unknown."""
        found = [choice for choice in choices if choice in self.modifiers]
        if len(found) != 1:
            raise self.unknown()
        return str(found[0])


@dataclass(frozen=True, slots=True)
class Row:
    """A family: the same instruction at several types.

    Signatures name the types of operands and result: `T` is the opcode's own type, `W` the type
    twice as wide, anything else is a PTX type.
    """

    instruction: str  # with the modifiers that change what is computed: "mul.wide"
    types: str
    operands: str
    result: str
    compute: Compute
    unit: Unit
    modifiers: str = ""  # modifiers which the row also takes

    @property
    def name(self) -> str:
        return self.instruction.split(".")[0]

    def serves(self, modifiers: frozenset[str]) -> bool:
        needed = frozenset(self.instruction.split(".")[1:])
        return needed <= modifiers <= needed | set(self.modifiers.split())

    def signature(self, type_name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        names = {"T": type_name, "W": WIDER.get(type_name, type_name)}
        operands = tuple(names.get(operand, operand) for operand in self.operands.split())
        return operands, (names.get(self.result, self.result),)
