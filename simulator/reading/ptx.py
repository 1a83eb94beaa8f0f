"""What a PTX file says, as data: modules, entries, parameters, variables, instructions.

Nothing here knows what an instruction does. `simulator/reading/parse.py` reads the text.
"""

from dataclasses import dataclass, field

from simulator.reading.lines import Line


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
    line: Line  # in the learner's file; 0 where the compiler gives none
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
class Piece:
    """A part of a passed value that loads and stores take whole, held in a register of its own."""

    register: str
    offset: int  # bytes from the value's start
    size: int  # bytes: 1, 2, 4 or 8


@dataclass(frozen=True, slots=True)
class Passed:
    """What a call passes or returns: a `.param` variable of a function, or of who calls it."""

    bytes: int
    pieces: tuple[Piece, ...]  # those that the code touches, in the order of their offsets


@dataclass(frozen=True, slots=True)
class PointerValue:
    """An initial value that is the address of a variable or function: `generic(name)+4`."""

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
    """What all entries of a module share: they have the same object.

    Variables live as long as the module does, so what is made from them is found by its identity.
    """

    variables: dict[str, Variable]  # the `.global` and `.const` arrays
    functions: dict[str, int] = field(default_factory=dict)  # name -> its address


FUNCTIONS = 1 << 59  # functions have addresses from here on, apart from all memory
FUNCTION_BYTES = 128  # between two of them


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """Code with registers, labels and local variables of its own: an entry, or what it calls."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: tuple[Parameter, ...]  # of an entry: none
    registers: dict[str, str]  # register, or "%f<" for a numbered family -> declared type
    instructions: tuple[Instruction, ...]
    labels: dict[str, int]  # label -> place of the instruction behind it in `instructions`
    passed: dict[str, Passed]  # `.param` variable of a function or of a call -> its pieces
    local: dict[str, int]  # variable -> offset in the local memory of one call, in bytes
    local_bytes: int  # of one call, for each thread

    def register_type(self, register: str) -> str | None:
        """The declared PTX type of a register, or None if the name is no register."""
        return declared_type(self.registers, register)

    def scope_of(self, instruction: Instruction) -> "Function":
        """The function, of those that belong to this one, whose registers an instruction names."""
        return self


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Entry(Function):
    """One kernel. Compared by identity, so that what is made from it can be found again."""

    shared: dict[str, int]  # variable -> offset in the block's shared memory, in bytes
    static_shared_bytes: int
    outside: Outside  # what it shares with the other entries of its module
    mentioned: tuple[str, ...]  # of the variables there: those it names, itself or by a pointer
    maximum_threads: int | None = None  # __launch_bounds__
    # Functions that stay functions, because they recurse or are called through a pointer. The
    # indices of their instructions go on behind the entry's own.
    functions: tuple[Function, ...] = ()
    most_local_bytes: int = 0  # of a thread, however deep its calls are
    # Lines whose masked loads promise nothing to lanes that the mask leaves out, whatever the
    # compiler has made of that: who compiled it knows.
    unfilled: frozenset[int] = frozenset()

    def scope_of(self, instruction: Instruction) -> Function:
        for function in self.functions:
            if 0 <= instruction.index - function.instructions[0].index < len(function.instructions):
                return function
        return self


def declared_type(registers: dict[str, str], register: str) -> str | None:
    declared = registers.get(register)
    if declared is None:
        declared = registers.get(register.rstrip("0123456789") + "<")
    return declared


@dataclass(frozen=True, slots=True)
class Module:
    entries: dict[str, Entry]
    files: dict[int, str] = field(default_factory=dict)  # `.file` number -> name
