"""An entry made ready to run: its basic blocks and their generated functions."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from simulator.reading.ptx import Entry, Instruction, Passed
from simulator.running.wave import GRID_WORKSPACE
from simulator.translating.assembling import left_out
from simulator.translating.control_flow import BasicBlock, End, basic_blocks
from simulator.translating.definedness import Followed, Sources, followed
from simulator.translating.generate import Generator
from simulator.translating.generated import BlockFunction, Generated
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
    """One entry with all that it calls.

    followed  what of it may hold undefined values, if that is looked for; None: nothing does
    """

    def __init__(self, entry: Entry, perturb: bool = False, sources: Sources | None = None) -> None:
        # Not the entry itself: a program is kept for as long as its entry lives, and no longer.
        self.instructions: tuple[Instruction, ...] = entry.instructions
        self.basic_blocks: list[BasicBlock] = basic_blocks(entry)
        self.functions: list[BlockFunction] = []
        self._generated: list[tuple[Generated, int]] = []  # of each function, for how many blocks
        self.callees: dict[int, Callee] = {}  # by their addresses
        self.most_local_bytes = entry.most_local_bytes  # of a thread
        self.followed: Followed | None = None
        if sources is not None:
            found = followed(entry, self.basic_blocks, sources)
            self.followed = found if found.anything else None
        firsts = sorted({block.function for block in self.basic_blocks})
        ends = [*firsts[1:], len(self.basic_blocks)]
        for function, first, end in zip((entry, *entry.functions), firsts, ends, strict=True):
            blocks = self.basic_blocks[first:end]
            made = Generator(entry, perturb, function, self.followed).generated(blocks)
            self._generated.append((made, len(blocks)))
            self.functions += made.functions(len(blocks))
            if first:
                self.instructions += function.instructions
                self.callees[entry.outside.functions[function.name]] = Callee(
                    function.name,
                    first,
                    tuple(function.passed[p.name] for p in function.parameters),
                    tuple(function.passed[p.name] for p in function.returns),
                    function.local_bytes,
                )
        self.bare_ends = frozenset(  # who branches there returns at that branch
            number
            for number, block in enumerate(self.basic_blocks)
            if block.leaves is End.EXIT and block.end - block.first == 1
        )
        self.meets_grid = any(GRID_WORKSPACE[0] in i.operands for i in self.instructions)
        self.copies = any(i.parts[:2] == ("cp", "async") for i in self.instructions)
        self.asks = any(b.loop is not None and b.loop.asks for b in self.basic_blocks)
        self.waits_for_blocks = waits_for_blocks(entry, self.instructions, self.basic_blocks)
        self.blocks_talk = self.waits_for_blocks or blocks_talk(entry, self.instructions)
        self.granule = smallest_access(self.instructions)
        self.left_out = left_out(entry, self.instructions)  # no GPU has them

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"functions": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        parts = (code.functions(blocks) for code, blocks in self._generated)
        self.functions = [function for part in parts for function in part]

    def instructions_of(self, number: int) -> tuple[Instruction, ...]:
        block = self.basic_blocks[number]
        return self.instructions[block.first : block.end]

    def line_of(self, number: int) -> int | None:
        """The learner's line at which a basic block begins."""
        return self.instructions[self.basic_blocks[number].first].line or None


Made = dict[tuple[bool, Sources | None], Program]  # by what `program_of` was asked
_PROGRAMS: WeakKeyDictionary[Entry, Made] = WeakKeyDictionary()


def program_of(entry: Entry, perturb: bool = False, sources: Sources | None = None) -> Program:
    """The program of an entry, made once.

    sources  what may be undefined, besides registers that nobody has written; None: do not ask
    """
    made = _PROGRAMS.setdefault(entry, {})
    found = made.get((perturb, sources))
    if found is None:
        found = made[perturb, sources] = Program(entry, perturb, sources)
        if found.followed is None:  # all the same, whoever asks
            made.setdefault((perturb, None), found)
    return found


def programs_made(entry: Entry) -> Made:
    """What has been made of an entry and can be kept as bytes: nothing undefined, nothing moved."""
    made = _PROGRAMS.get(entry, {})
    return {k: program for k, program in made.items() if not k[0] and program.followed is None}


def add_programs(entry: Entry, made: Made) -> None:
    """Programs of an entry that need not be made again."""
    _PROGRAMS.setdefault(entry, {}).update(made)
