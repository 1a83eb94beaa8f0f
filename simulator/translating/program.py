"""An entry made ready to run: its basic blocks and their generated functions."""

from weakref import WeakKeyDictionary

from simulator.reading.ptx import Entry
from simulator.translating.control_flow import BasicBlock, basic_blocks
from simulator.translating.generate import BlockFunction, Generator


class Program:
    def __init__(self, entry: Entry, perturb: bool = False) -> None:
        self.entry = entry
        self.blocks: list[BasicBlock] = basic_blocks(entry)
        self.functions: list[BlockFunction] = Generator(entry, perturb).functions(self.blocks)

    def line_of(self, number: int) -> int | None:
        """The learner's line at which a basic block begins."""
        return self.entry.instructions[self.blocks[number].first].line or None


_PROGRAMS: WeakKeyDictionary[Entry, dict[bool, Program]] = WeakKeyDictionary()


def program_of(entry: Entry, perturb: bool = False) -> Program:
    """The program of an entry, made once."""
    made = _PROGRAMS.setdefault(entry, {})
    if perturb not in made:
        made[perturb] = Program(entry, perturb)
    return made[perturb]
