"""What a PTX file says, as data: modules, entries, parameters, variables, instructions.

Nothing here knows what an instruction does. `simulator/reading/parse.py` reads the text.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Guard:
    """`@%p` or `@!%p` before an instruction: the lanes that take part in it."""

    register: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One statement of a body that does something."""

    opcode: str  # "ld.global.f32"
    operands: tuple[str, ...]  # "%f1", "[%rd8+4]", "{%f1,%f2}", "%p1|%p2"
    guard: Guard | None
    line: int  # in the learner's file; 0 where the compiler gives none
    index: int  # 0 .. instructions of the entry - 1

    @property
    def parts(self) -> tuple[str, ...]:
        """The opcode cut at its dots: ("ld", "global", "f32")."""
        return tuple(self.opcode.split("."))


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str  # "u64", "f32", "b8" for a struct
    bytes: int


@dataclass(frozen=True, slots=True)
class PointerValue:
    """An initial value that is the address of another variable: `generic(name)+4`."""

    at: int  # byte offset in the variable that holds it
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A `.shared`, `.local`, `.const` or `.global` array of the module."""

    name: str
    space: str
    alignment: int
    size: int  # bytes
    initial: bytes = b""  # shorter than the size where the rest is zero
    extern: bool = False  # `extern __shared__`: sized by the launch
    pointers: tuple[PointerValue, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Outside:
    """The `.global` and `.const` arrays of a module: all its entries have the same object.

    They live as long as the module does, so what is made from them is found by its identity.
    """

    variables: dict[str, Variable]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Entry:
    """One kernel. Compared by identity, so that what is made from it can be found again."""

    name: str
    parameters: tuple[Parameter, ...]
    registers: dict[str, str]  # register, or "%f<" for a numbered family -> declared type
    instructions: tuple[Instruction, ...]
    labels: dict[str, int]  # label -> index of the instruction behind it
    shared: dict[str, int]  # variable -> offset in the block's shared memory, in bytes
    local: dict[str, int]  # variable -> offset in the thread's local memory, in bytes
    static_shared_bytes: int
    local_bytes: int  # per thread
    outside: Outside  # what it shares with the other entries of its module
    mentioned: tuple[str, ...]  # of that: what the entry names, itself or by a pointer
    maximum_threads: int | None = None  # __launch_bounds__

    def register_type(self, register: str) -> str | None:
        """The declared PTX type of a register, or None if the name is no register."""
        return declared_type(self.registers, register)


def declared_type(registers: dict[str, str], register: str) -> str | None:
    declared = registers.get(register)
    if declared is None:
        declared = registers.get(register.rstrip("0123456789") + "<")
    return declared


@dataclass(frozen=True, slots=True)
class Module:
    entries: dict[str, Entry]
    files: dict[int, str] = field(default_factory=dict)  # `.file` number -> name
