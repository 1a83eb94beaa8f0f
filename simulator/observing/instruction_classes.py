"""What an instruction is counted as, known before it runs: its class, its floating-point work.

Arithmetic has its class from the unit that its row in the opcode table names. Everything else is
listed here by the first word of its opcode; what neither knows raises UnknownInstruction, so that
no new instruction is left out in silence.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from simulator.instructions.opcodes import operation
from simulator.instructions.rows import Operation, Unit, UnknownInstruction
from simulator.instructions.tensor_opcodes import is_product, product
from simulator.reading.lines import CallPath, frames_of
from simulator.reading.operands import destinations
from simulator.reading.ptx import Instruction
from simulator.running.lanes import WARP
from simulator.translating.control_flow import meets_block
from simulator.types import FLOATS, HALVES

_MOVE, _MEMORY = "move_instructions", "memory_instructions"
_EXCHANGE, _CONTROL = "exchange_instructions", "control_instructions"
_FMA, _INTEGER = "fma_instructions", "integer_instructions"
_DOUBLE, _SPECIAL = "double_instructions", "special_instructions"
_TENSOR = "tensor_instructions"
_REAL = FLOATS | HALVES

_WITHOUT_ROW = {
    _MOVE: "mov cvta isspacep mapa getctarank createpolicy",
    _MEMORY: "ld ldu st atom red cp prefetch prefetchu discard applypriority ldmatrix wmma",
    _TENSOR: "mma",
    _EXCHANGE: "shfl vote match redux activemask elect movmatrix",
    _CONTROL: "bra brx ret exit call trap brkpt bar barrier mbarrier membar fence nanosleep",
}
_OF_GROUPS = frozenset(("commit_group", "wait_group", "wait_all"))  # they copy nothing
CLASS_OF = {word: name for name, words in _WITHOUT_ROW.items() for word in words.split()}
_TWO_OPERATIONS = frozenset(("fma", "mad"))


def class_of(instruction: Instruction) -> str:
    """The name of the counter for its class."""
    parts = instruction.parts
    if is_move(instruction):
        return _MOVE
    if is_product(instruction):
        return _TENSOR
    if parts[:2] == ("cp", "async") and parts[2] in _OF_GROUPS:
        return _CONTROL
    found = CLASS_OF.get(parts[0])
    if found is not None:
        return found
    row = _row(instruction)
    if row.unit is Unit.FMA:  # it multiplies integers too
        return _FMA if row.operands[0] in _REAL else _INTEGER
    return {
        Unit.ALU: _INTEGER,
        Unit.DOUBLE: _DOUBLE,
        Unit.SFU: _SPECIAL,
        Unit.CONVERT: "convert_instructions",
    }[row.unit]


def is_move(instruction: Instruction) -> bool:
    """Whether it brings a value from one register to another, or a parameter to one."""
    parts = instruction.parts
    return CLASS_OF.get(parts[0]) == _MOVE or parts[:2] in (("ld", "param"), ("st", "param"))


def float_operations(instruction: Instruction) -> int:
    """Floating-point operations of each lane; to compare, choose, negate or convert is none."""
    if is_product(instruction):
        return product(instruction).float_operations // WARP
    if class_of(instruction) not in (_FMA, _DOUBLE, _SPECIAL):
        return 0
    packed = 2 if _row(instruction).operands[0].endswith("x2") else 1
    return packed * (2 if instruction.parts[0] in _TWO_OPERATIONS else 1)


def _row(instruction: Instruction) -> Operation:
    if not instruction.operands:
        raise UnknownInstruction(instruction.opcode)
    return operation(instruction.opcode, len(destinations(instruction.operands[0])))


@dataclass(frozen=True, slots=True)
class Share:
    """What one run of a basic block adds to a counter of a line, for each warp or each lane."""

    path: CallPath
    counter: str
    amount: int
    by_lane: bool


def shares(instructions: tuple[Instruction, ...], left_out: frozenset[int]) -> Iterator[Share]:
    """The shares of some instructions of one basic block, those of one counter and line added.

    left_out  the indices of those that count as instructions of the PTX alone
    """
    sums: dict[tuple[CallPath, str, bool], int] = {}
    for instruction in instructions:
        path = frames_of(instruction.line)
        names = ["warp_instructions", class_of(instruction)]
        if instruction.index not in left_out:
            names += _kinds(instruction)
        amounts = {(path, name, False): 1 for name in names}
        amounts[path, "thread_instructions", True] = 1
        amounts[path, "float_operations", True] = float_operations(instruction)
        if is_product(instruction):
            amounts[path, "mma", False] = product(instruction).issued
        for key, amount in amounts.items():
            sums[key] = sums.get(key, 0) + amount
    for (path, counter, by_lane), amount in sums.items():
        if amount:
            yield Share(path, counter, amount, by_lane)


def _kinds(instruction: Instruction) -> Iterator[str]:
    """Counters of their own, beside the class."""
    parts = instruction.parts
    if parts[0] == "bra" and instruction.guard is not None:
        yield "branches"
    elif meets_block(instruction):
        yield "barriers"
    elif parts[:2] == ("bar", "warp"):
        yield "warp_barriers"
    elif parts[0] == "shfl":
        yield "shuffles"
    elif parts[0] in ("vote", "match"):
        yield "votes"
    elif parts[0] == "redux":
        yield "warp_reductions"
