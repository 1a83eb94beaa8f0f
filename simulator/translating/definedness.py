"""Which registers may hold what nobody has written: worked out before a kernel runs.

A register is read before any write on some path, an element of memory is read that nobody has
written, a masked load leaves lanes out: what comes of it is *undefined*. That is legal until it
matters, so it has to be followed as far as it may flow. In nearly all programs nothing is, and then
nothing is followed.

What is passed to a function that stays one (it recurses, or is called through a pointer), and what
that gives back, counts as defined.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from simulator.reading.operands import elements, read_and_written
from simulator.reading.ptx import Entry, Function, Instruction
from simulator.translating.control_flow import BasicBlock, End
from simulator.translating.undecided import Undecided, undecided

_LOADS = frozenset(("ld", "ldu", "ldmatrix", "atom", "wmma.load"))
_PASSED = frozenset(("param", "const"))  # always written
_FILLING = ("mov.u16", "mov.u32", "mov.u64")


@dataclass(frozen=True, slots=True)
class Sources:
    """What may be undefined besides registers and local memory: it depends on the launch.

    fresh     global memory may hold elements that nobody has written
    unfilled  lines whose masked loads promise nothing to lanes that the mask leaves out
    """

    fresh: bool = False
    unfilled: frozenset[int] = frozenset()


@dataclass(slots=True)
class Followed:
    """What may hold undefined values.

    registers  by the name of their function
    unwritten  of those, the ones that some path reads before any write
    shared     so may shared memory
    local      loads of local memory look at who has written there
    filled     indices of the masked loads that only moves of zero stand before: see `_filled`
    branches   by the basic block that they end: those on undefined values that do no harm yet
    """

    sources: Sources
    registers: dict[str, set[str]] = field(default_factory=dict)
    unwritten: dict[str, frozenset[str]] = field(default_factory=dict)
    shared: bool = False
    local: bool = False
    anything: bool = False
    filled: frozenset[int] = frozenset()
    branches: dict[int, Undecided] = field(default_factory=dict)

    def reaches(self, instruction: Instruction) -> bool:
        """Whether the memory that an instruction reads may hold undefined values."""
        parts = set(instruction.parts)
        if parts & _PASSED:
            return False
        if "global" in parts:
            return self.sources.fresh
        if {"shared", "shared::cta"} & parts:
            return self.shared
        if "local" in parts:
            return self.local
        return self.sources.fresh or self.shared or self.local

    def leaves_out(self, instruction: Instruction) -> bool:
        """Whether a load promises nothing to lanes that its mask leaves out."""
        masked = instruction.index in self.filled or instruction.parts[0] == "cp"
        return masked and instruction.line in self.sources.unfilled


def followed(
    entry: Entry,
    blocks: Sequence[BasicBlock],
    sources: Sources,
) -> Followed:
    """All that may become undefined in an entry and the functions that it calls."""
    instructions = [i for f in (entry, *entry.functions) for i in f.instructions]
    found = Followed(sources, filled=_filled(instructions) if sources.unfilled else frozenset())
    flows = []
    for function in (entry, *entry.functions):
        first = next(b for b in blocks if _begins(b, function))
        passed = {p.register for value in function.passed.values() for p in value.pieces}
        found.unwritten[function.name] = frozenset(first.live_in - passed)
        found.registers[function.name] = set(first.live_in - passed)
        flows.append(
            (function, [(i, *read_and_written(function, i)) for i in function.instructions])
        )
    private = [i for i in instructions if i.parts[0] in ("ld", "ldu", "call") and _may_be_local(i)]
    found.local = bool(entry.most_local_bytes and private)
    size = -1
    while size != (size := _size(found)):
        for function, steps in flows:
            for instruction, read, written in steps:
                _step(found, found.registers[function.name], instruction, read, written)
            _branches(found, function, blocks)
    found.anything = bool(_size(found)) or sources.fresh
    return found


def _filled(instructions: Sequence[Instruction]) -> frozenset[int]:
    """Masked loads behind moves of zero into their registers, which Triton writes (as `0x0`) before
    a load without `other`. It writes the same for integers with other=0."""
    found: set[int] = set()
    filling: set[str] = set()
    for instruction in instructions:
        if instruction.opcode in _FILLING and instruction.operands[1:] == ("0x0",):
            filling.add(instruction.operands[0])
            continue
        masked = instruction.parts[0] == "ld" and instruction.guard is not None
        if masked and filling.issuperset(elements(instruction.operands[0])):
            found.add(instruction.index)
        filling = set()
    return frozenset(found)


def _begins(block: BasicBlock, function: Function) -> bool:
    return block.first == function.instructions[0].index


def _branches(found: Followed, function: Function, blocks: Sequence[BasicBlock]) -> None:
    """Branches on what may be undefined: what their arms write may be so too."""
    registers = found.registers[function.name]
    before = next(n for n, b in enumerate(blocks) if _begins(b, function))
    own = [b for b in blocks if b.function == before]
    base = function.instructions[0].index
    for number, block in enumerate(own, before):
        if block.leaves is not End.BRANCH or number in found.branches:
            continue
        guard = function.instructions[block.end - 1 - base].guard
        if guard is not None and guard.register in registers:
            harmless = undecided(function, own, before, number)
            if harmless is not None:
                found.branches[number] = harmless
    for branch in found.branches.values():
        if before <= branch.branch < before + len(own):
            registers |= branch.written


def _may_be_local(instruction: Instruction) -> bool:
    """A generic load, one of local memory, or printf, whose arguments lie there."""
    if instruction.parts[0] == "call":
        return "vprintf" in instruction.operands
    return not {"global", "shared", "shared::cta", "param", "const"} & set(instruction.parts)


def _size(found: Followed) -> int:
    return sum(map(len, found.registers.values())) + found.shared + found.local


def _step(
    found: Followed,
    registers: set[str],
    instruction: Instruction,
    read: set[str],
    written: set[str],
) -> None:
    parts = instruction.parts
    if parts[0] == "call":
        return
    tainted = bool(read & registers)
    if parts[0] in ("st", "wmma") and tainted and not {"global", "local", "param"} & set(parts):
        found.shared |= parts[0] == "st" or parts[1] == "store"
    if parts[0] == "cp" and (found.sources.fresh or found.leaves_out(instruction)):
        found.shared = True
    loads = parts[0] in _LOADS or ".".join(parts[:2]) in _LOADS
    if loads and "param" not in parts:
        tainted = found.reaches(instruction) or found.leaves_out(instruction)
    if tainted:
        registers |= written
