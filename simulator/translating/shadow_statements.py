"""Shadows of instructions that are more than arithmetic, as lines of generated code.

Each function takes the writer and an instruction, and returns the lines before it and behind it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.instructions.definedness import shadow_type, spread
from simulator.observing.events import Access, Kind, Space
from simulator.reading.operands import address, destinations, elements
from simulator.reading.ptx import Instruction
from simulator.translating.call_statements import load_passed, store_passed
from simulator.translating.places import base_and_offset
from simulator.translating.shadow_matrices import TEMPORARY, Both, Lines, matrices
from simulator.translating.statements import access_of, move
from simulator.types import DTYPES

if TYPE_CHECKING:
    from simulator.translating.shadows import ShadowWriter

__all__ = ["SHADOWED", "TEMPORARY", "Lines"]

_SELECTS = {"shfl": (2, 3, 4), "vote": (2,), "match": (2,), "redux": (2,)}  # operands: whom to meet


def _load(writer: "ShadowWriter", instruction: Instruction) -> Both:
    generator, shadows = writer.generator, writer.shadows
    targets, guard = elements(instruction.operands[0]), generator.guard_of(instruction)
    followed = any(t in writer.registers for t in targets)
    if "param" in instruction.parts and load_passed(shadows, instruction) is not None:  # type: ignore[arg-type]
        return load_passed(shadows, instruction) or [], []  # type: ignore[arg-type]
    base = address(instruction.operands[1]).base
    lines = writer.checked(instruction, base, "points")
    if not followed:
        return lines, []
    dtype = shadow_type(DTYPES[instruction.parts[-1]])
    if not writer.followed.reaches(instruction):
        zero = shadows.defined(dtype)
        lines.append(f"{TEMPORARY} = ({f'{zero}, ' * len(targets)})")
    else:
        access = _access(instruction, Kind.LOAD, len(targets))
        base, offset = base_and_offset(generator, instruction.operands[1], access.space)
        name = generator.constant(access)
        lines.append(f"{TEMPORARY} = run.undefined.load({name}, {base}, {offset}, lanes, {guard})")
    if writer.followed.leaves_out(instruction):
        # What has filled the registers is no promise.
        lines = [
            shadows.assign(
                t, generator.constant(_ones(shadows.held_as[t])), shadows.held_as[t], None
            )
            for t in targets
            if t in writer.registers
        ] + lines
    return lines + writer.assigned(targets, [dtype] * len(targets), guard), []


def _store(writer: "ShadowWriter", instruction: Instruction) -> Both:
    generator = writer.generator
    if "param" in instruction.parts:
        return store_passed(writer.shadows, instruction), []  # type: ignore[arg-type]
    base = address(instruction.operands[0]).base
    before, behind = writer.checked(instruction, base, "points"), Lines()
    sources = elements(instruction.operands[1])
    if not any(s in writer.registers for s in sources):
        return before, behind
    access = _access(instruction, Kind.STORE, len(sources))
    base, offset = base_and_offset(generator, instruction.operands[0], access.space)
    values = writer.tuple_of(sources, DTYPES[instruction.parts[-1]])
    guard, name = generator.guard_of(instruction), generator.constant(access)
    call = f"({name}, {base}, {offset}, {values}, lanes, {guard})"
    if access.space in (Space.GLOBAL, Space.GENERIC):
        before.append(f"run.undefined.store{call}")
    if access.space is not Space.GLOBAL:
        behind.append(f"run.undefined.mark{call}")
    return before, behind


def _atomic(writer: "ShadowWriter", instruction: Instruction) -> Both:
    generator, parts = writer.generator, instruction.parts
    returns = parts[0] == "atom"
    target = instruction.operands[0] if returns else "_"
    pointer, *sources = instruction.operands[1 if returns else 0 :]
    if "L2::cache_hint" in parts:
        sources.pop()
    lines = writer.checked(instruction, address(pointer).base, "points")
    wanted = target in writer.registers
    if not (writer.followed.reaches(instruction) or any(map(writer.shadows.follows, sources))):
        return lines + (writer.defined({target}, None) if wanted else []), []
    dtype = DTYPES[parts[-1]]
    access = _access(instruction, Kind.ATOMIC, 1)
    base, offset = base_and_offset(generator, pointer, access.space)
    guard, name = generator.guard_of(instruction), generator.constant(access)
    values = writer.tuple_of(tuple(sources), dtype)
    exchanges = "exch" in parts
    lines.append(
        f"{TEMPORARY} = run.undefined.update({name}, {base}, {offset}, {values}, lanes, {guard}, "
        f"{exchanges})"
    )
    return lines + writer.assigned((target,), [shadow_type(dtype)], guard), []


def _move(writer: "ShadowWriter", instruction: Instruction) -> Both:
    return move(writer.shadows, instruction), []  # type: ignore[arg-type]


def _convert_address(writer: "ShadowWriter", instruction: Instruction) -> Both:
    target, source = instruction.operands
    dtype = np.dtype(np.uint64)
    guard = writer.generator.guard_of(instruction)
    return [writer.shadows.assign(target, writer.shadows.word(source, dtype), dtype, guard)], []


def _call(writer: "ShadowWriter", instruction: Instruction) -> Both:
    if "vprintf" in instruction.operands:
        return [f"run.undefined.printing({instruction.index})"], []
    lines = []
    for operand in instruction.operands:
        lines += writer.checked(instruction, operand)
    return lines, []


def _warp(writer: "ShadowWriter", instruction: Instruction) -> Both:
    """What lanes of a warp tell each other: whom to ask must be known."""
    generator, operands, parts = writer.generator, instruction.operands, instruction.parts
    lines = Lines()
    for place in _SELECTS[parts[0]]:
        lines += writer.checked(instruction, operands[place])
    targets, guard = destinations(operands[0]), generator.guard_of(instruction)
    followed = [t for t in targets if t in writer.registers]
    if not followed:
        return lines, []
    if operands[1].removeprefix("!") not in writer.registers:
        return lines + writer.defined(set(followed), guard), []
    number, word = instruction.index, np.dtype(np.uint32)
    shadow = writer.shadows.variable(operands[1].removeprefix("!"))
    mask = generator.value(operands[-1], "b32")
    if parts[0] == "shfl":
        shadow = writer.shadows.word(operands[1], word)
        b, c = (generator.value(o, "b32") for o in operands[2:4])
        call = f"run.shuffle_shadow({number}, {parts[2]!r}, {shadow}, {b}, {c}, {mask}, lanes)"
        lines.append(f"{TEMPORARY} = {call}")
        lines.append(writer.shadows.assign(targets[0], TEMPORARY, word, guard))
        return lines + writer.defined(set(targets[1:]), guard), []
    ballot = parts[0] == "vote" and parts[2] == "ballot"
    lines.append(f"{TEMPORARY} = run.vote_shadow({number}, {ballot}, {shadow}, {mask}, lanes)")
    for target in followed:
        held = writer.shadows.held_as[target]
        text = TEMPORARY if ballot else f"{generator.constant(_spread_as(held))}({TEMPORARY})"
        lines.append(writer.shadows.assign(target, text, held, guard))
    return lines, []


def _barrier(writer: "ShadowWriter", instruction: Instruction) -> Both:
    """A mask, the number of a barrier, a predicate that the whole block asks for."""
    lines, gives = Lines(), "red" in instruction.parts
    for operand in instruction.operands[gives:]:
        lines += writer.checked(instruction, operand)
    if gives:
        lines += writer.defined(set(destinations(instruction.operands[0])), None)
    return lines, []


def _copy(writer: "ShadowWriter", instruction: Instruction) -> Both:
    lines = Lines()
    hinted = "L2::cache_hint" in instruction.parts
    for operand in instruction.operands[: -1 if hinted else None]:
        if operand.startswith("["):
            lines += writer.checked(instruction, address(operand).base, "points")
        else:
            lines += writer.checked(instruction, operand, "points")
    return lines, []


def _nothing(writer: "ShadowWriter", instruction: Instruction) -> Both:
    return [], []


def _ones(dtype: np.dtype[Any]) -> Any:
    return np.bool_(True) if dtype.kind == "b" else dtype.type(np.iinfo(dtype).max)


def _spread_as(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    return lambda undefined: spread(undefined, dtype)


def _access(instruction: Instruction, kind: Kind, count: int) -> Access:
    return access_of(instruction, kind, count, reads=kind is not Kind.STORE)


SHADOWED: dict[str, Callable[["ShadowWriter", Instruction], Both]] = {
    "ld": _load, "ldu": _load, "st": _store, "atom": _atomic, "red": _atomic, "mov": _move,
    "cvta": _convert_address, "call": _call, "shfl": _warp, "vote": _warp, "match": _warp,
    "redux": _warp, "bar": _barrier, "barrier": _barrier, "cp": _copy, "mma": matrices,
    "wmma": matrices, "ldmatrix": matrices, "movmatrix": matrices,
    **dict.fromkeys(("bra", "ret", "exit", "trap", "membar", "fence", "nanosleep", "prefetch",
                     "prefetchu", "mbarrier"), _nothing),
}  # fmt: skip
