"""Which registers decide what a loop does, as long as memory stays as it is.

A loop that waits may count its turns, or wait longer in each: such registers move for ever and
change nothing. What matters is what leads to a branch out of the loop, to a store or to another
effect, through values and through the branches that choose between them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.reading.operands import read_and_written
from simulator.reading.ptx import Function, Instruction

if TYPE_CHECKING:
    from simulator.translating.control_flow import BasicBlock

# What they read shows outside of the loop's registers. A load may fault.
_EFFECTS = frozenset(
    ("ld", "ldu", "st", "atom", "red", "cp", "wmma", "ldmatrix", "bar", "barrier", "trap")
)
_LOADS = frozenset(("ld", "ldu", "atom"))
_LEAVES = frozenset(("ret", "exit"))
# They see what others have written since: atomics and strong loads.
STRONG_READS = frozenset(("atom", "volatile", "acquire", "relaxed", "acq_rel", "mmio"))


@dataclass(frozen=True, slots=True)
class Deciding:
    """Registers of a loop.

    acts    they decide what it does: when it ends, what it stores, where it reads
    asks    whether it ends when another lane has written something: an atomic or a strong load
            leads to a branch out of it
    """

    acts: frozenset[str]
    asks: bool


class _Flow:
    """How registers depend on each other in one loop."""

    def __init__(
        self,
        function: Function,
        header: int,
        members: Iterable[int],
        block_at: Callable[[int], "BasicBlock"],
        code_of: Callable[[int], tuple[Instruction, ...]],
    ) -> None:
        self.calls = False
        self.effects: set[str] = set()  # registers that show outside
        self.stored: set[str] = set()  # registers that stores and atomics read
        self.exits: set[str] = set()  # guards of the ways out
        self.loaded: set[str] = set()
        self.seen: set[str] = set()  # what strong reads have read
        self.acting: set[int] = set()  # basic blocks with an effect
        self.leaving: set[int] = set()  # basic blocks with a way out
        self._moves: list[tuple[int, set[str], set[str]]] = []  # basic block, read, written
        self._branches: list[tuple[str, set[int]]] = []  # a guard, the blocks that hang on it
        inside = set(members)
        for number in sorted(inside):
            following = block_at(number).successors
            out = not inside.issuperset(following)
            for instruction in code_of(number):
                name, guard = instruction.parts[0], instruction.guard
                read, written = read_and_written(function, instruction)
                self._moves.append((number, read, written))
                self.calls |= name == "call"
                if name in _EFFECTS and "param" not in instruction.parts:
                    self.acting.add(number)
                    self.effects |= read
                    if name in _LOADS:
                        self.loaded |= written
                        self.seen |= written if STRONG_READS & set(instruction.parts) else set()
                    if name not in ("ld", "ldu"):
                        self.stored |= read
                elif guard is not None and name in _LEAVES:
                    self.exits.add(guard.register)
                    out = True
                elif guard is not None and name == "bra" and out:
                    self.exits.add(guard.register)
                elif guard is not None and name == "bra" and len(following) == 2:
                    one, other = (_reached(block_at, inside, header, n) for n in following)
                    self._branches.append((guard.register, one ^ other))
            if out:
                self.leaving.add(number)

    def behind(self, roots: set[str], acting: set[int], through_memory: bool) -> set[str]:
        """All registers that roots, and whether the acting blocks run, depend on.

        through_memory  what is loaded may be what the loop has stored
        """
        found, size = set(roots), -1
        while size != len(found):
            size = len(found)
            writing = acting | {number for number, _, written in self._moves if written & found}
            for _, read, written in self._moves:
                if written & found:
                    found |= read
            found |= {guard for guard, hanging in self._branches if hanging & writing}
            if through_memory and found & self.loaded:
                found |= self.stored
        return found


def deciding_registers(
    function: Function,
    header: int,
    members: Iterable[int],
    block_at: Callable[[int], "BasicBlock"],
    code_of: Callable[[int], tuple[Instruction, ...]],
) -> Deciding | None:
    """What decides in the loop of these basic blocks; None: it calls functions, and all may.

    header, members  numbers of basic blocks
    block_at         a basic block by its number
    code_of          its instructions
    """
    flow = _Flow(function, header, members, block_at, code_of)
    if flow.calls:
        return None
    acts = flow.behind(flow.exits | flow.effects, flow.acting | flow.leaving, False)
    asks = flow.behind(flow.exits, flow.leaving, True) & flow.seen
    return Deciding(frozenset(acts), bool(asks))


def _reached(
    block_at: Callable[[int], "BasicBlock"], inside: set[int], header: int, first: int
) -> set[int]:
    """The blocks that one turn of the loop can reach from one of them."""
    found: set[int] = set()
    ahead = [first]
    while ahead:
        number = ahead.pop()
        if number in inside and number != header and number not in found:
            found.add(number)
            ahead += block_at(number).successors
    return found
