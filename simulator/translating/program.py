"""An entry made ready to run: its basic blocks and their generated functions."""

from weakref import WeakKeyDictionary

from simulator.reading.ptx import Entry, Instruction
from simulator.translating.control_flow import BasicBlock, basic_blocks
from simulator.translating.generate import BlockFunction, Generator


class Program:
    def __init__(self, entry: Entry, perturb: bool = False) -> None:
        # Not the entry itself: a program is kept for as long as its entry lives, and no longer.
        self.instructions = entry.instructions
        self.basic_blocks: list[BasicBlock] = basic_blocks(entry)
        self.functions: list[BlockFunction] = Generator(entry, perturb).functions(self.basic_blocks)

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
