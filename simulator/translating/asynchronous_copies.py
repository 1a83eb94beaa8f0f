"""cp.async and what waits for it, as lines of generated code."""

from typing import TYPE_CHECKING

import numpy as np

from simulator.instructions.rows import UnknownInstruction
from simulator.observing.events import Space
from simulator.reading.ptx import Instruction
from simulator.running.copies_under_way import CopyInstruction
from simulator.translating.places import base_and_offset

if TYPE_CHECKING:
    from simulator.translating.generate import Generator

_SIZES = {"ca": (4, 8, 16), "cg": (16,)}  # bytes for each lane
_HINTS = frozenset(("L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"))
_SPACES = [["shared", "global"], ["shared::cta", "global"]]


def asynchronous_copy(generator: "Generator", instruction: Instruction) -> list[str]:
    """cp.async: a copy, the end of a group of copies, or a wait for groups."""
    parts = instruction.parts
    guard = generator.guard_of(instruction)
    if parts == ("cp", "async", "commit_group"):
        return [f"run.copies.commit(lanes, {guard})"]
    if parts == ("cp", "async", "wait_all"):
        return [f"run.copies.wait(None, {instruction.line}, lanes, {guard})"]
    if parts == ("cp", "async", "wait_group"):
        left = int(instruction.operands[0], 0)
        return [f"run.copies.wait({left}, {instruction.line}, lanes, {guard})"]
    if "mbarrier" in parts:
        return memory_barrier(generator, instruction)
    if parts[1] != "async" or len(parts) < 5 or parts[2] not in _SIZES:
        raise UnknownInstruction(instruction.opcode)  # bulk copies, and barriers in memory
    spaces = [part for part in parts[3:] if part not in _HINTS]
    to, source, size_text, *more = instruction.operands
    size = int(size_text, 0)
    if spaces not in _SPACES or size not in _SIZES[parts[2]]:
        raise UnknownInstruction(f"{instruction.opcode} of {size} bytes")
    if "L2::cache_hint" in parts:
        more.pop()
    valid = generator.constant(np.uint32(size))
    if more:
        valid = _valid(generator, more[0], size)
    what = generator.constant(CopyInstruction(instruction, size))
    places = []
    for operand, space in ((to, Space.SHARED), (source, Space.GLOBAL)):
        base, offset = base_and_offset(generator, operand, space)
        places += [base, str(offset)]
    return [f"run.copies.start({what}, {', '.join(places)}, {valid}, lanes, {guard})"]


def memory_barrier(generator: "Generator", instruction: Instruction) -> list[str]:
    """mbarrier: a barrier that is a word of shared memory, as cuda::barrier has it."""
    raise UnknownInstruction(
        f"{instruction.opcode} (a barrier in memory, as of cuda::barrier; it knows __syncthreads, "
        "and for copies cuda::pipeline of a thread and __pipeline_wait_prior)"
    )


def _valid(generator: "Generator", operand: str, size: int) -> str:
    """The bytes that come from the source: a number, or none where a predicate holds."""
    name = operand.removeprefix("!")
    if generator.function.register_type(name) == "pred":
        none, all_ = (generator.constant(np.uint32(n)) for n in (0, size))
        return f"np.where({generator.value(operand, 'pred')}, {none}, {all_})"
    return generator.value(operand, "u32")
