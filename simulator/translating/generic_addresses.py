"""Instructions on generic addresses and cache policies, as lines of generated code."""

from typing import TYPE_CHECKING

import numpy as np

from simulator.instructions.rows import UnknownInstruction
from simulator.reading.ptx import Instruction
from simulator.running.buffers import (
    LOCAL_WINDOW,
    REGION_BITS,
    SHARED_WINDOW,
    lasting_region,
)

if TYPE_CHECKING:
    from simulator.translating.generate import Generator

_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}


def convert_address(generator: "Generator", instruction: Instruction) -> list[str]:
    """cvta: shared and local memory have windows in the generic addresses."""
    target, source = instruction.operands
    parts = instruction.parts
    guard = generator.guard_of(instruction)
    window = next((_WINDOWS[p] for p in parts if p in _WINDOWS), None)
    value = generator.value(source, "u64")
    if window is not None:
        sign = "-" if "to" in parts else "+"
        value = f"({value} {sign} {generator.constant(np.uint64(window))})"
    return [generator.assign(target, value, np.dtype(np.uint64), guard)]


def is_space(generator: "Generator", instruction: Instruction) -> list[str]:
    """isspacep: what memory a generic address means; constant memory is no part of global."""
    target, source = instruction.operands
    space = instruction.parts[1].removesuffix("::cta")
    regions = {name: window >> REGION_BITS for name, window in _WINDOWS.items()}
    number = generator.constant(np.uint64(REGION_BITS))
    region = f"({generator.value(source, 'u64')} >> {number})"
    variables = enumerate(generator.entry.outside.variables.values())
    constants = [lasting_region(k) for k, v in variables if v.space == "const"]
    in_const = f"np.isin({region}, {generator.constant(np.array(constants, np.uint64))})[()]"
    if space in regions:
        text = f"({region} == {generator.constant(np.uint64(regions[space]))})"
    elif space == "global":
        below = generator.constant(np.uint64(min(regions.values())))
        text = f"(({region} < {below}) & ~{in_const})"
    elif space == "const":
        text = in_const
    else:
        raise UnknownInstruction(instruction.opcode)
    return [generator.assign(target, text, np.dtype(bool), generator.guard_of(instruction))]


def create_policy(generator: "Generator", instruction: Instruction) -> list[str]:
    """What L2 should keep: a word that only hints take."""
    zero, guard = generator.constant(np.uint64(0)), generator.guard_of(instruction)
    return [generator.assign(instruction.operands[0], zero, np.dtype(np.uint64), guard)]
