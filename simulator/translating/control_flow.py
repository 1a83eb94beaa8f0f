"""Basic blocks of one entry, in the order that lets diverged lanes meet again soonest.

Blocks are numbered in a topological order of the strongly connected components of the control
flow graph, each loop opened in turn, so that every loop is contiguous. The machine always runs
the lowest-numbered block that has lanes ready: diverged lanes then meet at the first block that
both reach ("thread frontiers", Diamos et al., MICRO 2011).

"Block" means a CUDA block everywhere else in the simulator; here it is a basic block.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

from simulator.reading.operands import read_and_written
from simulator.reading.ptx import Entry, Instruction
from simulator.running.wave import CLOCKS

_ENDS = ("bra", "ret", "exit", "trap")
# All lanes of a warp meet at these: a run of them starts a basic block of its own.
_WARP_MEETINGS = ("shfl", "vote", "match", "redux", "wmma", "mma", "ldmatrix")
_WAITING = frozenset(("atom", "volatile", "acquire", "relaxed"))


class Company(Enum):
    """With whom the lanes of a loop exchange values by other means than memory."""

    NONE = auto()
    WARP = auto()
    BLOCK = auto()  # of CUDA


@dataclass(frozen=True, slots=True)
class Loop:
    members: list[int]  # basic blocks
    may_wait: bool  # it reads what other lanes may change: an atomic or a strong load
    reads_clock: bool  # time passes in it though nothing else changes
    company: Company


@dataclass(slots=True)
class BasicBlock:
    """A straight run of instructions: entered at its first, left behind its last."""

    first: int  # index of its first instruction
    end: int  # one past its last
    successors: list[int]  # taken branch first, then fall through; numbers in the final order
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
    """Cut an entry into basic blocks, order them, and find what is live between them."""
    blocks = _cut(entry)
    order, loops = _order(blocks)
    number = {old: new for new, old in enumerate(order)}
    ordered = [blocks[old] for old in order]
    for block in ordered:
        block.successors = [number[s] for s in block.successors]
    for header, members in loops.items():
        blocks[header].loop = _loop(entry, ordered, sorted(number[m] for m in members))
    _find_live(entry, ordered)
    return ordered


def _cut(entry: Entry) -> list[BasicBlock]:
    instructions = entry.instructions
    starts = {0, *entry.labels.values()}
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
            target = place[entry.labels[last.operands[0]]]
            following = [target] if last.guard is None else [target, *following]
        elif last.parts[0] in _ENDS and last.guard is None:
            following = []
        blocks.append(BasicBlock(start, end, following))
    return blocks


def _order(blocks: list[BasicBlock]) -> tuple[list[int], dict[int, list[int]]]:
    """(the order of the blocks, each loop header with the blocks of its loop)."""
    order: list[int] = []
    loops: dict[int, list[int]] = {}

    def arrange(nodes: set[int], entries: list[int]) -> None:
        def following(n: int) -> list[int]:
            return [s for s in blocks[n].successors if s in nodes]

        for component in _components(sorted(nodes), entries, following):
            members = set(component)
            if len(members) == 1 and component[0] not in following(component[0]):
                order.append(component[0])
                continue
            entered = [
                n
                for n in component
                if n in entries
                or any(n in blocks[p].successors for p in range(len(blocks)) if p not in members)
            ]
            header = min(entered or component)
            loops[header] = component
            order.append(header)
            rest = members - {header}
            if rest:
                arrange(rest, [s for s in blocks[header].successors if s in rest])

    arrange(set(range(len(blocks))), [0])
    return order, loops


def _components(
    nodes: list[int], entries: list[int], following: Callable[[int], list[int]]
) -> list[list[int]]:
    """Strongly connected components in topological order (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []

    def visit(root: int) -> None:
        work = [(root, iter(following(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(following(successor))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    found.append(component)

    for root in (*entries, *nodes):
        if root not in index:
            visit(root)
    return found[::-1]


def _find_live(entry: Entry, blocks: list[BasicBlock]) -> None:
    for block in blocks:
        for instruction in entry.instructions[block.first : block.end]:
            read, written = read_and_written(entry, instruction)
            block.read |= read - block.written
            block.written |= written
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out: set[str] = set()
            for successor in block.successors:
                out |= blocks[successor].live_in
            live = block.read | (out - block.written)
            if live != block.live_in or out != block.live_out:
                block.live_in, block.live_out = live, out
                changed = True


def _loop(entry: Entry, blocks: list[BasicBlock], members: list[int]) -> Loop:
    instructions = [i for n in members for i in entry.instructions[blocks[n].first : blocks[n].end]]
    company = Company.NONE
    if any(meets_block(i) for i in instructions):
        company = Company.BLOCK
    elif any(meets_warp(i) or i.parts[0] == "activemask" for i in instructions):
        company = Company.WARP
    return Loop(
        members,
        may_wait=any(_WAITING & set(i.parts) for i in instructions),
        reads_clock=any(CLOCKS & set(i.operands) for i in instructions),
        company=company,
    )
