"""Does a barrier stand between two instructions in the code, so that somebody went round it?

A race across a barrier is no race of those who met there: one of the two threads has passed it, or
waits at it, and the other one took another way. Two ways are sure to be others: the barrier is
under a condition of its own, or no way leads from the later instruction back to it.
"""

from simulator.faults import BarrierBetween
from simulator.reading.ptx import Instruction
from simulator.translating.control_flow import BasicBlock, End, Meeting
from simulator.translating.program import Program


def barrier_between(
    program: Program, one: Instruction, other: Instruction
) -> BarrierBetween | None:
    """The last barrier of all threads that stands between the two, in either order."""
    blocks = program.basic_blocks
    places = _block_of(program, one), _block_of(program, other)
    if None in places:
        return None
    for earlier, later in (places, places[::-1]):
        for number in reversed(range(len(blocks))):
            if not _of_all_threads(program, number):
                continue
            if number not in _forward(blocks, earlier) or later not in _forward(blocks, number):
                continue
            behind = number not in _reached(blocks, later)
            condition = _condition(blocks, number)
            if behind or condition is not None:
                line = None if condition is None else _line_of_branch(program, condition)
                return BarrierBetween(number, program.line_of(number), line, behind)
    return None


def _block_of(program: Program, instruction: Instruction) -> int | None:
    """The basic block that an instruction is in."""
    for number, block in enumerate(program.basic_blocks):
        if any(instruction is one for one in program.instructions[block.first : block.end]):
            return number
    return None


def _of_all_threads(program: Program, number: int) -> bool:
    """Whether a basic block is a `__syncthreads()`, which counts no threads."""
    block = program.basic_blocks[number]
    if block.meeting is not Meeting.BLOCK:
        return False
    instruction = program.instructions[block.first]
    return instruction.parts[0] == "bar" and len(instruction.operands) < 2


def _forward(blocks: list[BasicBlock], start: int | None) -> set[int]:
    """The basic blocks behind one, without going back to the header of any loop."""
    return _reached(blocks, start, back=False)


def _reached(blocks: list[BasicBlock], start: int | None, back: bool = True) -> set[int]:
    found: set[int] = set()
    ahead = [] if start is None else [start]
    while ahead:
        number = ahead.pop()
        for following in blocks[number].successors:
            if following not in found and (back or following > number):
                found.add(following)
                ahead.append(following)
    return found


def _condition(blocks: list[BasicBlock], barrier: int) -> int | None:
    """The basic block whose branch decides, in one turn of the innermost loop, who comes there."""
    loops = [block.loop.members for block in blocks if block.loop is not None]
    around = min((m for m in loops if barrier in m), key=len, default=None)
    members = set(range(barrier) if around is None else around)
    for number in sorted(members, reverse=True):
        ways = set(blocks[number].successors)
        if number >= barrier or blocks[number].leaves is not End.BRANCH or len(ways) < 2:
            continue
        if around is not None and not ways <= members:
            continue  # it ends the loop
        comes = [way == barrier or barrier in _forward(blocks, way) for way in ways]
        if not all(comes) and any(comes):
            return number
    return None


def _line_of_branch(program: Program, number: int) -> int | None:
    return program.instructions[program.basic_blocks[number].end - 1].line or None
