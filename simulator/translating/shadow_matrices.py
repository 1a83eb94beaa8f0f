"""Shadows of instructions on matrices, as lines of generated code."""

from typing import TYPE_CHECKING

import numpy as np

from simulator.instructions.definedness import shadow_type
from simulator.instructions.tensor_opcodes import product
from simulator.instructions.tensor_products import Product
from simulator.reading.operands import address, elements
from simulator.reading.ptx import Instruction
from simulator.running.tensor_warps import WarpTranspose
from simulator.running.undefined_products import UndefinedProduct
from simulator.translating.tensor import matrix_access, tile_access

if TYPE_CHECKING:
    from simulator.translating.shadows import ShadowWriter

Lines = list[str]
Both = tuple[Lines, Lines]  # before an instruction, and behind it
TEMPORARY = "r_shadow"


def matrices(writer: "ShadowWriter", instruction: Instruction) -> Both:
    """Matrices: from memory, from other registers, or to memory."""
    generator, parts, operands = writer.generator, instruction.parts, instruction.operands
    guard = generator.guard_of(instruction)
    lines = Lines()
    for operand in operands:
        if operand.startswith("["):
            lines += writer.checked(instruction, address(operand).base, "points")
    if parts[:2] == ("wmma", "store"):
        sources = elements(operands[1])
        if any(s in writer.registers for s in sources):
            access, place = matrix_access(generator, instruction, operands[0], list(operands[2:]))
            values = writer.tuple_of(sources, access.access.element)
            name = generator.constant(access)
            store = f"{name}.store(run.undefined.shadowed, {place}, {values}, lanes, {guard})"
            return lines, [store]
        return lines, []
    targets = elements(operands[0])
    followed = {t for t in targets if t in writer.registers}
    if not followed:
        return lines, []
    if parts[0] == "ldmatrix" or parts[:2] == ("wmma", "load"):
        if not writer.followed.reaches(instruction):
            return lines + writer.defined(followed, guard), []
        if parts[0] == "ldmatrix":
            name, place = tile_access(generator, instruction)
            count, element = len(targets), np.dtype(np.uint32)
        else:
            access, place = matrix_access(generator, instruction, operands[1], list(operands[2:]))
            name = generator.constant(access)
            count, element = access.opcode.fragment.registers, access.access.element
        dtype = shadow_type(element) if element.itemsize >= 4 else np.dtype(np.uint32)
        zero = writer.shadows.defined(dtype)
        lines.append(
            f"{TEMPORARY} = run.undefined.matrix({name}, {count}, {zero}, {place}, lanes, {guard})"
        )
        for k, target in enumerate(targets):
            text = f"{TEMPORARY}[{k % count}]"
            lines.append(writer.shadows.assign(target, text, dtype, guard))
        return lines, []
    if parts[0] == "movmatrix":
        word = np.dtype(np.uint32)
        name = generator.constant(WarpTranspose(instruction))
        shadow = writer.shadows.word(operands[1], word)
        text = f"{name}.turn(run.undefined.shadowed, {shadow}, lanes, {guard})"
        return lines + [writer.shadows.assign(targets[0], text, word, guard)], []
    made = UndefinedProduct(Product(product(instruction)))
    vectors = [elements(operand) for operand in operands]
    sources_text = ", ".join(
        writer.tuple_of(vector, generator.held_as[vector[0]]) for vector in vectors[1:4]
    )
    name = generator.constant(made)
    lines.append(f"{TEMPORARY} = {name}.follow({sources_text}, lanes, {guard})")
    results = [shadow_type(made.result)] * len(targets)
    return lines + writer.assigned(targets, results, guard), []
