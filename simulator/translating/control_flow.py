"""Basic blocks of an entry and of the functions that it calls: how they begin, end and go on.

They are numbered in the order that `ordering.py` gives them. The functions that an entry calls
have the numbers behind its own, each ordered by itself; a call ends a basic block.

"Block" means a CUDA block everywhere else in the simulator; here it is a basic block.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from simulator.instructions.rows import UnknownInstruction
from simulator.reading.operands import call_operands, read_and_written
from simulator.reading.ptx import Entry, Function, Instruction, Passed
from simulator.running.wave import CLOCKS
from simulator.translating.deciding import Deciding, deciding_registers
from simulator.translating.ordering import ordered_with_loops

_ENDS = ("bra", "ret", "exit", "trap")
# All lanes of a warp meet at these: a run of them starts a basic block of its own.
_WARP_MEETINGS = (
    "shfl", "vote", "match", "redux", "wmma", "mma", "ldmatrix", "movmatrix"
)  # fmt: skip
_WAITING = frozenset(("atom", "volatile", "acquire", "relaxed"))


class Company(Enum):
    """With whom the lanes of a loop exchange values by other means than memory."""

    NONE = auto()
    WARP = auto()
    BLOCK = auto()  # of CUDA


class Meeting(Enum):
    """Who meets at the first instruction of a basic block."""

    NONE = auto()
    WARP = auto()
    BLOCK = auto()  # of CUDA


class End(Enum):
    """Where lanes go from the last instruction of a basic block."""

    ON = auto()  # to the only successor; without one, out of the function
    BRANCH = auto()
    CALL = auto()
    RETURN = auto()  # to who has called the function
    EXIT = auto()  # the threads end


@dataclass(frozen=True, slots=True)
class CallSite:
    """What a call passes, as its basic block has it: in the order of the brackets."""

    arguments: tuple[Passed, ...]
    results: tuple[Passed, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    members: list[int]  # basic blocks
    may_wait: bool  # it reads what other lanes may change: an atomic or a strong load
    asks: bool  # and that decides when it ends
    reads_clock: bool  # time decides what it does, though nothing else changes
    company: Company
    decides: frozenset[str] | None  # the registers that do so; None: all may


@dataclass(slots=True)
class BasicBlock:
    """A straight run of instructions: entered at its first, left behind its last."""

    first: int  # index of its first instruction
    end: int  # one past its last
    successors: list[int]  # taken branch first, then fall through; numbers in the final order
    function: int = 0  # the basic block that its function begins with
    meeting: Meeting = Meeting.NONE
    leaves: End = End.ON
    call: CallSite | None = None
    live_in: set[str] = field(default_factory=set)
    live_out: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)  # before any write of the block itself
    loop: Loop | None = None  # of a header


def meets_block(instruction: Instruction) -> bool:
    """A barrier of the CUDA block, not of the warp."""
    return instruction.parts[0] in ("bar", "barrier") and instruction.parts[1] != "warp"


def meets_warp(instruction: Instruction) -> bool:
    """All lanes that the mask names execute it together."""
    return instruction.parts[0] in _WARP_MEETINGS or instruction.parts[:2] == ("bar", "warp")


def basic_blocks(entry: Entry) -> list[BasicBlock]:
    """Cut an entry and the functions it calls into basic blocks: ordered, with what is live."""
    blocks: list[BasicBlock] = []
    for function in (entry, *entry.functions):
        blocks += _blocks_of(entry, function, len(blocks))
    return blocks


def is_call(entry: Entry, function: Function, instruction: Instruction) -> bool:
    """Whether lanes go to another function: not to one of the simulator's own, as vprintf."""
    if instruction.parts[0] != "call":
        return False
    target = call_operands(instruction).target
    named = any(target == called.name for called in entry.functions)
    return named or function.register_type(target) is not None


def _blocks_of(entry: Entry, function: Function, before: int) -> list[BasicBlock]:
    """The basic blocks of one function, numbered from `before` on."""
    blocks = _reachable(_cut(entry, function))
    order, loops = ordered_with_loops([block.successors for block in blocks])
    number = {old: before + new for new, old in enumerate(order)}
    ordered = [blocks[old] for old in order]
    for block in ordered:
        block.successors = [number[s] for s in block.successors]
        block.function = before
    for header, members in loops.items():
        inside = sorted(number[m] for m in members)
        deciding = deciding_registers(
            function,
            number[header],
            inside,
            lambda n: ordered[n - before],
            lambda n: _instructions(function, ordered[n - before]),
        )
        code = [i for n in members for i in _instructions(function, blocks[n])]
        blocks[header].loop = _loop(entry, function, code, inside, deciding)
    _find_live(function, ordered, before)
    return ordered


def _instructions(function: Function, block: BasicBlock) -> tuple[Instruction, ...]:
    base = function.instructions[0].index
    return function.instructions[block.first - base : block.end - base]


def _cut(entry: Entry, function: Function) -> list[BasicBlock]:
    instructions = function.instructions
    base = instructions[0].index
    calls = {k for k, i in enumerate(instructions) if is_call(entry, function, i)}
    targets = {function.labels[i.operands[0]] for i in instructions if i.parts[0] == "bra"}
    starts = {0, *targets, *(k + 1 for k in calls)}  # other labels are a debugger's
    for k, instruction in enumerate(instructions):
        if instruction.parts[0] in _ENDS:
            starts.add(k + 1)
        elif meets_block(instruction):
            starts |= {k, k + 1}
        elif meets_warp(instruction) and not (k and meets_warp(instructions[k - 1])):
            starts.add(k)
    cuts = sorted(s for s in starts if s < len(instructions))
    place = {start: n for n, start in enumerate(cuts)}
    blocks = []
    for n, start in enumerate(cuts):
        end = cuts[n + 1] if n + 1 < len(cuts) else len(instructions)
        last = instructions[end - 1]
        following = [n + 1] if end < len(instructions) else []
        if last.parts[0] == "bra":
            target = place[function.labels[last.operands[0]]]
            following = [target] if last.guard is None else [target, *following]
        elif last.parts[0] in _ENDS and last.guard is None:
            following = []
        block = BasicBlock(base + start, base + end, following)
        block.meeting = _meeting(instructions[start])
        block.leaves = End.CALL if end - 1 in calls else _end(last, function is entry)
        if block.leaves is End.CALL:
            block.call = _call_site(function, last)
        blocks.append(block)
    return blocks


def _reachable(blocks: list[BasicBlock]) -> list[BasicBlock]:
    """Without those that no path from the first one reaches, such as what stands behind a trap.

    Nothing orders such a block behind the first, where lanes begin.
    """
    reached, ahead = {0}, [0]
    while ahead:
        for successor in blocks[ahead.pop()].successors:
            if successor not in reached:
                reached.add(successor)
                ahead.append(successor)
    kept = sorted(reached)
    number = {old: new for new, old in enumerate(kept)}
    for old in kept:
        blocks[old].successors = [number[s] for s in blocks[old].successors]
    return [blocks[old] for old in kept]


def _meeting(first: Instruction) -> Meeting:
    if meets_block(first):
        return Meeting.BLOCK
    return Meeting.WARP if meets_warp(first) else Meeting.NONE


def _end(last: Instruction, in_entry: bool) -> End:
    name = last.parts[0]
    if name == "exit" or (name == "ret" and in_entry):
        return End.EXIT
    if name == "ret":
        return End.RETURN
    return End.BRANCH if name == "bra" and last.guard is not None else End.ON


def _call_site(function: Function, instruction: Instruction) -> CallSite:
    call = call_operands(instruction)
    if not function.passed.keys() >= {*call.arguments, *call.results}:
        unknown = UnknownInstruction(f"{instruction.opcode} with registers as arguments")
        unknown.line = instruction.line
        raise unknown
    arguments, results = (
        tuple(function.passed[name] for name in names) for names in (call.arguments, call.results)
    )
    return CallSite(arguments, results)


def _find_live(function: Function, blocks: list[BasicBlock], before: int) -> None:
    for block in blocks:
        for instruction in _instructions(function, block):
            read, written = read_and_written(function, instruction)
            block.read |= read - block.written
            block.written |= written
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out: set[str] = set()
            for successor in block.successors:
                out |= blocks[successor - before].live_in
            live = block.read | (out - block.written)
            if live != block.live_in or out != block.live_out:
                block.live_in, block.live_out = live, out
                changed = True


def _loop(
    entry: Entry,
    function: Function,
    code: list[Instruction],
    members: list[int],
    deciding: Deciding | None,
) -> Loop:
    def matters(instruction: Instruction) -> bool:
        written = read_and_written(function, instruction)[1]
        return deciding is None or bool(written & deciding.acts)

    instructions = code + _behind_calls(entry, function, code)
    company = Company.NONE
    if any(meets_block(i) for i in instructions):
        company = Company.BLOCK
    elif any(meets_warp(i) or i.parts[0] == "activemask" for i in instructions):
        company = Company.WARP
    may_wait = any(_WAITING & set(i.parts) for i in instructions)
    return Loop(
        members,
        may_wait,
        asks=may_wait if deciding is None else deciding.asks,
        reads_clock=any(CLOCKS & set(i.operands) and matters(i) for i in instructions),
        company=company,
        decides=None if deciding is None else deciding.acts,
    )


def _behind_calls(entry: Entry, function: Function, code: list[Instruction]) -> list[Instruction]:
    """What the calls in a loop may execute: each function whole that they can reach."""
    found: list[Function] = []
    ahead: list[tuple[Function, Iterable[Instruction]]] = [(function, code)]
    while ahead:
        caller, instructions = ahead.pop()
        for instruction in instructions:
            if instruction.parts[0] != "call":
                continue
            target = call_operands(instruction).target
            anyone = caller.register_type(target) is not None
            for called in entry.functions:
                if (anyone or called.name == target) and called not in found:
                    found.append(called)
                    ahead.append((called, called.instructions))
    return [instruction for called in found for instruction in called.instructions]
