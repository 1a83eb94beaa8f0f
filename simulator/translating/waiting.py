"""Whether a program's blocks may wait for each other."""

from collections.abc import Sequence

from simulator.reading.operands import read_and_written
from simulator.reading.ptx import Entry, Instruction
from simulator.translating.control_flow import BasicBlock

_SEES_OTHERS = frozenset(("atom", "volatile", "acquire", "relaxed"))
_OWN_SPACES = frozenset(("shared", "local"))  # that no other block can write


def waits_for_blocks(
    entry: Entry, instructions: Sequence[Instruction], blocks: Sequence[BasicBlock]
) -> bool:
    """Whether a loop looks at memory for what another block may write there.

    It reads global memory so that it sees others' writes, by an atomic or a strong load, and does
    something with what it read: a histogram's atomics, whose results nobody uses, wait for none.
    """
    for block in blocks:
        if block.loop is None or not block.loop.may_wait:
            continue
        seen: set[str] = set()
        used: set[str] = set()
        for member in block.loop.members:
            for instruction in instructions[blocks[member].first : blocks[member].end]:
                parts = set(instruction.parts)
                read, written = read_and_written(entry, instruction)
                used |= read
                if parts & _SEES_OTHERS and not parts & _OWN_SPACES:
                    seen |= written
        if seen & used:
            return True
    return False
