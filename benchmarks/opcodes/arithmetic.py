"""The cases of the arithmetic rows and families."""

from benchmarks.opcodes.cases import BLOCK, LANES, Case
from benchmarks.opcodes.entries import OPERANDS, RESULTS
from benchmarks.opcodes.spelling import opcodes
from simulator.instructions.documented_errors import Bound, bound_of
from simulator.instructions.opcodes import operation
from simulator.types import DTYPES

APPROXIMATE_LANES = 1 << 19  # few opcodes, and their worst error is looked for
AMOUNTS = (0, 1, 7, 31, 32, 33, 63, 64, 255)
SELECTORS = (0x0000, 0x3210, 0x5410, 0x7632, 0x8888, 0x4321, 0xFBA9, 0x0123)


def arithmetic_cases() -> list[Case]:
    return [case(*found) for found in opcodes()]


def case(opcode: str, destinations: int, row: str) -> Case:
    what = operation(opcode, destinations)
    inputs, outputs = list(what.operands), list(what.results)
    targets = "|".join(f"%{letter}" for letter in RESULTS[: len(outputs)])
    sources = [f"%{letter}" for letter in OPERANDS[: len(inputs)]]
    bound = _bound(opcode)
    lanes, registers, before, after = LANES, "", "", ""
    if opcode.startswith("lop3"):  # the table is part of the instruction: all 256 of them
        inputs.remove("u32")
        q = ", %d" if destinations == 2 else ""
        bodies = tuple(f"{opcode} {targets}, %a, %b, %c, {table}{q};" for table in range(256))
        return Case(opcode, row, bodies, tuple(inputs), tuple(outputs), LANES // 256)
    if opcode == "fns.b32":  # other places than those of the word mean nothing
        inputs[1:] = ["place:u32", "steps:s32"]
    if what.carry_in or what.carry_out:
        subtracts = opcode.startswith("sub")
        flag, zero = ("sub.cc.u32", "0, %cin") if subtracts else ("add.cc.u32", "%cin, -1")
        registers = ".reg .b32 %cin, %lost;"
        if what.carry_in:
            letter = OPERANDS[len(inputs)]
            inputs.append("pred")
            before = f"selp.u32 %cin, 1, 0, %{letter}; {flag} %lost, {zero}; "
        if what.carry_out:
            letter = RESULTS[len(outputs)]
            outputs.append("u32")
            after = f" {'subc' if subtracts else 'addc'}.u32 %{letter}, 0, 0;"
    body = f"{before}{opcode} {targets}, {', '.join(sources)};{after}"
    name = opcode + (" p|q" if destinations == 2 else "")
    if bound is not None:
        lanes = APPROXIMATE_LANES
    return Case(name, row, (body,), tuple(inputs), tuple(outputs), lanes, bound, registers)


def _bound(opcode: str) -> Bound | None:
    """Of spellings that PTX does not have nobody says anything: ptxas refuses them."""
    try:
        return bound_of(opcode)
    except KeyError:
        return Bound("ulp", 0)


def immediate_cases() -> list[Case]:
    """Operands that are the same for all lanes take ways of their own through the simulator."""
    found = []
    for opcode, destinations, row in opcodes():
        name = opcode.split(".")[0]
        if name in ("shl", "shr", "bfe", "bfi", "shf"):
            last = [str(n) for n in AMOUNTS]
        elif opcode == "prmt.b32":
            last = [str(n) for n in SELECTORS]
        else:
            continue
        what = operation(opcode, destinations)
        fixed = 2 if name in ("bfe", "bfi") else 1
        inputs = what.operands[:-fixed]
        sources = ", ".join(f"%{letter}" for letter in OPERANDS[: len(inputs)])
        # Fields that leave the word: ptxas folds them otherwise than the hardware computes them.
        bits = 8 * DTYPES[what.operands[0]].itemsize
        fields = [f"{place}, {n}" for place in AMOUNTS for n in AMOUNTS if place + n <= bits]
        endings = fields if fixed == 2 else last
        bodies = tuple(f"{opcode} %x, {sources}, {ending};" for ending in endings)
        lanes = -(-LANES // len(bodies) // BLOCK) * BLOCK
        found.append(Case(f"{opcode} immediate", row, bodies, inputs, what.results, lanes))
    return found
