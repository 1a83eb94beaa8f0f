"""Instructions that are more than arithmetic, as lines of generated code.

Each function takes the generator and an instruction and returns the lines.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.instructions.comparison import select
from simulator.instructions.rows import UnknownInstruction
from simulator.observing.events import NARROW_SCOPES, STRONG_WORDS, Access, Kind, Space
from simulator.reading.body import UNREACHABLE
from simulator.reading.operands import address, destinations, elements
from simulator.reading.ptx import Instruction
from simulator.translating.asynchronous_copies import asynchronous_copy, memory_barrier
from simulator.translating.call_statements import load_passed, own_call, store_passed
from simulator.translating.generic_addresses import convert_address, create_policy, is_space
from simulator.translating.places import base_and_offset
from simulator.translating.tensor import load_tiles, multiply, transpose_tile, wmma
from simulator.types import DTYPES, HALVES

if TYPE_CHECKING:
    from simulator.translating.generate import Generator

_SPACES = {
    "global": Space.GLOBAL,
    "shared": Space.SHARED,
    "shared::cta": Space.SHARED,
    "local": Space.LOCAL,
    "const": Space.CONST,
}
# Other memories, and copies that do not wait.
_ELSEWHERE = frozenset(("shared::cluster", "async", "bulk", "tensor", "multimem"))
_ATOMICS = ("add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas")


def pick_side(mask: Any, yes: Any, no: Any) -> Any:
    """What a guarded instruction leaves in its register: its result where the mask holds."""
    if mask.ndim and mask.all():
        return yes
    return select(yes, no, mask)


def access_of(
    instruction: Instruction, kind: Kind, count: int, reads: bool, wanted: bool = True
) -> Access:
    parts = instruction.parts
    if _ELSEWHERE & set(parts):
        raise UnknownInstruction(instruction.opcode)
    space = next((_SPACES[p] for p in parts if p in _SPACES), Space.GENERIC)
    strong = kind is Kind.ATOMIC or bool(STRONG_WORDS & set(parts))
    return Access(
        instruction,
        space,
        kind,
        DTYPES[parts[-1]],
        count,
        strong,
        reads,
        wanted,
        volatile="volatile" in parts,
        narrow=strong and bool(NARROW_SCOPES & set(parts)),
        acquires="acquire" in parts or "acq_rel" in parts,
        releases="release" in parts or "acq_rel" in parts,
    )


def load(generator: "Generator", instruction: Instruction) -> list[str]:
    target, source = instruction.operands[:2]
    dtype = DTYPES[instruction.parts[-1]]
    guard = generator.guard_of(instruction)
    where = address(source)
    if instruction.parts[1] == "param" and not generator.is_register(where.base):
        passed = load_passed(generator, instruction)
        if passed is not None:
            return passed
        if where.base not in generator.parameters:
            raise UnknownInstruction(f"{instruction.opcode} {where.base}")
        lines = []
        for k, register in enumerate(elements(target)):
            offset = where.offset + k * dtype.itemsize
            value = f"run.parameter({where.base!r}, {offset}, {generator.constant(dtype)})"
            lines.append(generator.assign(register, value, dtype, guard))
        return lines
    targets = elements(target)
    access = access_of(instruction, Kind.LOAD, len(targets), reads=True)
    base, offset = base_and_offset(generator, source, access.space)
    call = f"run.memory.load({generator.constant(access)}, {base}, {offset}, lanes, {guard})"
    lines = [f"t = {call}"]
    for k, register in enumerate(targets):
        if register != "_":
            lines.append(generator.assign(register, f"t[{k}]", dtype, guard))
    return lines


def store(generator: "Generator", instruction: Instruction) -> list[str]:
    target, source = instruction.operands[:2]
    type_ = instruction.parts[-1]
    if instruction.parts[1] == "param":
        return store_passed(generator, instruction)
    sources = elements(source)
    access = access_of(instruction, Kind.STORE, len(sources), reads=False)
    base, offset = base_and_offset(generator, target, access.space)
    values = ", ".join(generator.value(s, type_) for s in sources)
    guard = generator.guard_of(instruction)
    name = generator.constant(access)
    return [f"run.memory.store({name}, {base}, {offset}, ({values},), lanes, {guard})"]


def atomic(generator: "Generator", instruction: Instruction) -> list[str]:
    parts = instruction.parts
    name = next((p for p in parts if p in _ATOMICS), None)
    if name is None or parts[-1] not in DTYPES or (parts[-1] in HALVES and name != "add"):
        raise UnknownInstruction(instruction.opcode)
    if parts[-1] in HALVES:
        name = f"{name} {parts[-1]}"
    returns = parts[0] == "atom"
    target = instruction.operands[0] if returns else "_"
    pointer, *sources = instruction.operands[1 if returns else 0 :]
    if "L2::cache_hint" in parts:
        sources.pop()
    wanted = target != "_" and generator.is_read(target)
    # An exchange whose old value nobody wants is a store.
    access = access_of(instruction, Kind.ATOMIC, 1, wanted or name != "exch", wanted)
    base, offset = base_and_offset(generator, pointer, access.space)
    values = ", ".join(generator.value(s, parts[-1]) for s in sources)
    guard = generator.guard_of(instruction)
    call = (
        f"run.atomic({generator.constant(access)}, {name!r}, {base}, {offset}, ({values},), "
        f"lanes, {guard}, {wanted})"
    )
    if not wanted:
        return [call]
    return [generator.assign(target, call, access.element, guard)]


def move(generator: "Generator", instruction: Instruction) -> list[str]:
    target, source = instruction.operands
    type_ = instruction.parts[-1]
    guard = generator.guard_of(instruction)
    dtype = DTYPES[type_]
    if target.startswith("{"):
        parts = elements(target)
        width = dtype.itemsize // len(parts)
        whole = generator.value(source, f"u{8 * dtype.itemsize}")
        lines = [f"t = {whole}"]
        for k, register in enumerate(parts):
            if register == "_":
                continue
            shift = generator.constant(np.array(8 * width * k, f"u{dtype.itemsize}")[()])
            piece = f"(t >> {shift}).astype('u{width}')" if k else f"t.astype('u{width}')"
            lines.append(generator.assign(register, piece, np.dtype(f"u{width}"), guard))
        return lines
    if source.startswith("{"):
        parts = elements(source)
        width = dtype.itemsize // len(parts)
        pieces = []
        for k, register in enumerate(parts):
            piece = f"{generator.value(register, f'u{8 * width}')}.astype('u{dtype.itemsize}')"
            shift = generator.constant(np.array(8 * width * k, f"u{dtype.itemsize}")[()])
            pieces.append(f"({piece} << {shift})" if k else piece)
        packed = np.dtype(f"u{dtype.itemsize}")
        return [generator.assign(target, f"({' | '.join(pieces)})", packed, guard)]
    if generator.is_register(source) and generator.is_register(target):
        held = generator.held_as[source]
        return [generator.assign(target, generator.variable(source), held, guard)]
    return [generator.assign(target, generator.value(source, type_), dtype, guard)]


def shuffle(generator: "Generator", instruction: Instruction) -> list[str]:
    targets = destinations(instruction.operands[0])
    _, value, b, c, mask = instruction.operands
    mode = instruction.parts[2]
    arguments = [generator.value(o, "b32") for o in (value, b, c, mask)]
    number = instruction.index
    lines = [f"t = run.shuffle({number}, {mode!r}, {', '.join(arguments)}, lanes)"]
    guard = generator.guard_of(instruction)
    lines.append(generator.assign(targets[0], "t[0]", np.dtype(np.uint32), guard))
    if len(targets) > 1:
        lines.append(generator.assign(targets[1], "t[1]", np.dtype(bool), guard))
    return lines


def vote(generator: "Generator", instruction: Instruction) -> list[str]:
    target, predicate, mask = instruction.operands
    mode = instruction.parts[2]
    arguments = f"{generator.value(predicate, 'pred')}, {generator.value(mask, 'b32')}"
    dtype = np.dtype(np.uint32) if mode == "ballot" else np.dtype(bool)
    call_text = f"run.vote({instruction.index}, {mode!r}, {arguments}, lanes)"
    return [generator.assign(target, call_text, dtype, generator.guard_of(instruction))]


def match(generator: "Generator", instruction: Instruction) -> list[str]:
    targets = destinations(instruction.operands[0])
    _, value, mask = instruction.operands
    width = f"b{8 * DTYPES[instruction.parts[-1]].itemsize}"
    arguments = f"{generator.value(value, width)}, {generator.value(mask, 'b32')}"
    guard = generator.guard_of(instruction)
    mode = instruction.parts[1]
    lines = [f"t = run.match({instruction.index}, {mode!r}, {arguments}, lanes)"]
    lines.append(generator.assign(targets[0], "t[0]", np.dtype(np.uint32), guard))
    if len(targets) > 1:
        lines.append(generator.assign(targets[1], "t[1]", np.dtype(bool), guard))
    return lines


def reduce(generator: "Generator", instruction: Instruction) -> list[str]:
    target, value, mask = instruction.operands
    type_ = instruction.parts[-1]
    arguments = f"{generator.value(value, type_)}, {generator.value(mask, 'b32')}"
    text = f"run.reduce({instruction.index}, {instruction.parts[2]!r}, {arguments}, lanes)"
    return [generator.assign(target, text, DTYPES[type_], generator.guard_of(instruction))]


def active_mask(generator: "Generator", instruction: Instruction) -> list[str]:
    target = instruction.operands[0]
    guard = generator.guard_of(instruction)
    return [generator.assign(target, "run.active_mask(lanes)", np.dtype(np.uint32), guard)]


def barrier(generator: "Generator", instruction: Instruction) -> list[str]:
    if instruction.parts[1] == "warp":
        mask = generator.value(instruction.operands[0], "b32")
        return [f"run.meet({instruction.index}, {mask}, lanes)"]
    mode = next((p for p in instruction.parts if p in ("popc", "and", "or")), None)
    if mode is not None:
        target, *_, predicate = instruction.operands
        dtype = np.dtype(np.uint32 if mode == "popc" else bool)
        text = f"run.block_vote({mode!r}, {generator.value(predicate, 'pred')}, lanes)"
        return [generator.assign(target, text, dtype, generator.guard_of(instruction))]
    raise UnknownInstruction(instruction.opcode)


def fence(generator: "Generator", instruction: Instruction) -> list[str]:
    if instruction.parts[1] in ("proxy", "mbarrier_init"):
        return []  # between ways to reach memory, of which there is one here
    return [f"run.fence({instruction.index}, lanes, {generator.guard_of(instruction)})"]


def nothing(generator: "Generator", instruction: Instruction) -> list[str]:
    """A hint: no value changes."""
    return []


def trap(generator: "Generator", instruction: Instruction) -> list[str]:
    guard, asked = generator.guard_of(instruction), instruction.opcode != UNREACHABLE
    return [f"run.trap(lanes, {generator.constant(instruction.line)}, {guard}, {asked})"]


STATEMENTS: dict[str, Callable[["Generator", Instruction], list[str]]] = {
    "ld": load,
    "ldu": load,
    "st": store,
    "atom": atomic,
    "red": atomic,
    "mov": move,
    "cvta": convert_address,
    "call": own_call,
    "shfl": shuffle,
    "vote": vote,
    "match": match,
    "redux": reduce,
    "activemask": active_mask,
    "cp": asynchronous_copy,
    "mbarrier": memory_barrier,
    "wmma": wmma,
    "mma": multiply,
    "ldmatrix": load_tiles,
    "movmatrix": transpose_tile,
    "isspacep": is_space,
    "createpolicy": create_policy,
    "bar": barrier,
    "barrier": barrier,
    "bra": nothing,
    "ret": nothing,
    "exit": nothing,
    "membar": fence,
    "fence": fence,
    "nanosleep": nothing,
    "prefetch": nothing,
    "prefetchu": nothing,
    "trap": trap,
}
