"""Branches on undefined values that do no harm yet: whose arms only compute.

A compiler computes more than the program asks for: the lanes that a mask leaves out go through an
error function and its branches like all others. Where both arms of a branch meet again, and nothing
between shows outside of the registers, the branch is a choice of values: what the arms write is
undefined from there on, in the lanes that nobody knows the way of.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.reading.ptx import Function, Instruction
from simulator.translating.control_flow import BasicBlock, End, Meeting

_LARGEST = 64  # basic blocks between a branch and where its arms meet
# Others learn of these, or take part in them.
_SHOWS = frozenset(
    (
        "st", "atom", "red", "bar", "barrier", "cp", "wmma", "mma", "ldmatrix", "movmatrix", "shfl",
        "vote", "match", "redux", "activemask", "call", "ret", "exit", "trap", "membar", "fence",
        "mbarrier",
    )
)  # fmt: skip
_OWN = frozenset(("local", "param"))


@dataclass(frozen=True, slots=True)
class Undecided:
    """A branch whose arms only compute.

    branch   the basic block that ends with it
    join     the one where its arms have met
    written  registers that an arm writes and somebody reads behind the join
    """

    branch: int
    join: int
    written: frozenset[str]


def undecided(
    function: Function, blocks: Sequence[BasicBlock], before: int, number: int
) -> Undecided | None:
    """The branch at the end of basic block `number`; None: which way it goes may show at once.

    blocks  of the function, numbered from `before` on
    """
    successors = blocks[number - before].successors
    if min(successors) <= number:  # a loop: how often it turns is no choice of values
        return None
    for join in range(number + 1, min(number + _LARGEST, before + len(blocks))):
        arms = _arms(blocks, before, number, join)
        if arms is None:
            continue
        if any(_shows(function, blocks[n - before]) for n in arms):
            return None
        while blocks[join - before].meeting is Meeting.BLOCK:  # the machine's: no code of it runs
            join = blocks[join - before].successors[0]
        written: set[str] = set().union(*(blocks[n - before].written for n in arms))
        return Undecided(number, join, frozenset(written & blocks[join - before].live_in))
    return None


def _arms(blocks: Sequence[BasicBlock], before: int, number: int, join: int) -> set[int] | None:
    """The basic blocks between a branch and a join; None: there are ways past the join."""
    found: set[int] = set()
    ahead = [s for s in blocks[number - before].successors if s != join]
    while ahead:
        block = ahead.pop()
        if block in found:
            continue
        following = blocks[block - before].successors
        if not number < block < number + _LARGEST or not following:
            return None
        found.add(block)
        ahead += [s for s in following if s != join]
    return found


def _shows(function: Function, block: BasicBlock) -> bool:
    base = function.instructions[0].index
    code: Sequence[Instruction] = function.instructions[block.first - base : block.end - base]
    return block.leaves not in (End.ON, End.BRANCH) or any(
        i.parts[0] in _SHOWS and not (i.parts[0] == "st" and _OWN & set(i.parts)) for i in code
    )
