"""An entry made ready to run: its basic blocks and their generated functions."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from simulator.reading.ptx import Entry, Instruction, Passed
from simulator.running.wave import GRID_WORKSPACE
from simulator.translating.control_flow import BasicBlock, basic_blocks
from simulator.translating.generate import BlockFunction, Generator
from simulator.translating.waiting import blocks_talk, smallest_access, waits_for_blocks


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that calls find by its address."""

    name: str
    first: int  # its first basic block
    parameters: tuple[Passed, ...]
    returns: tuple[Passed, ...]
    local_bytes: int


class Program:
    def __init__(self, entry: Entry, perturb: bool = False) -> None:
        # Not the entry itself: a program is kept for as long as its entry lives, and no longer.
        self.instructions: tuple[Instruction, ...] = entry.instructions
        self.basic_blocks: list[BasicBlock] = basic_blocks(entry)
        self.functions: list[BlockFunction] = []
        self.callees: dict[int, Callee] = {}  # by their addresses
        self.most_local_bytes = entry.most_local_bytes  # of a thread
        firsts = sorted({block.function for block in self.basic_blocks})
        ends = [*firsts[1:], len(self.basic_blocks)]
        for function, first, end in zip((entry, *entry.functions), firsts, ends, strict=True):
            blocks = self.basic_blocks[first:end]
            self.functions += Generator(entry, perturb, function).functions(blocks)
            if first:
                self.instructions += function.instructions
                self.callees[entry.outside.functions[function.name]] = Callee(
                    function.name,
                    first,
                    tuple(function.passed[p.name] for p in function.parameters),
                    tuple(function.passed[p.name] for p in function.returns),
                    function.local_bytes,
                )
        self.meets_grid = any(GRID_WORKSPACE[0] in i.operands for i in self.instructions)
        self.copies = any(i.parts[:2] == ("cp", "async") for i in self.instructions)
        self.asks = any(b.loop is not None and b.loop.asks for b in self.basic_blocks)
        self.waits_for_blocks = waits_for_blocks(entry, self.instructions, self.basic_blocks)
        self.blocks_talk = self.waits_for_blocks or blocks_talk(entry, self.instructions)
        self.granule = smallest_access(self.instructions)

    def instructions_of(self, number: int) -> tuple[Instruction, ...]:
        block = self.basic_blocks[number]
        return self.instructions[block.first : block.end]

    def line_of(self, number: int) -> int | None:
        """The learner's line at which a basic block begins."""
        return self.instructions[self.basic_blocks[number].first].line or None


_PROGRAMS: WeakKeyDictionary[Entry, dict[bool, Program]] = WeakKeyDictionary()


def program_of(entry: Entry, perturb: bool = False) -> Program:
    """The program of an entry, made once."""
    made = _PROGRAMS.setdefault(entry, {})
    if perturb not in made:
        made[perturb] = Program(entry, perturb)
    return made[perturb]
