"""Tensor-core instructions as lines of generated code."""

from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.instructions.rows import UnknownInstruction
from simulator.instructions.tensor_fragments import BITS
from simulator.instructions.tensor_layouts import Way, transfer
from simulator.instructions.tensor_opcodes import matrix, product
from simulator.instructions.tensor_products import Product
from simulator.observing.events import Access, Kind, Space
from simulator.reading.operands import elements
from simulator.reading.ptx import Instruction
from simulator.running.tensor_memory import MatrixAccess, TileAccess
from simulator.running.tensor_warps import WarpProduct, WarpTranspose
from simulator.translating.places import base_and_offset
from simulator.types import DTYPES

if TYPE_CHECKING:
    from simulator.translating.generate import Generator

_SHARED = frozenset(("shared", "shared::cta"))
_WORD = np.dtype(np.uint32)
_TILES = {"x1": 1, "x2": 2, "x4": 4}


def wmma(generator: "Generator", instruction: Instruction) -> list[str]:
    parts = instruction.parts
    by_name = {"load": _load_matrix, "store": _store_matrix}
    return by_name.get(parts[1], multiply)(generator, instruction)


def multiply(generator: "Generator", instruction: Instruction) -> list[str]:
    """mma.sync and wmma.mma: d, a, b, c."""
    opcode = product(instruction)
    made = Product(opcode)
    vectors = [elements(operand) for operand in instruction.operands]
    sizes = [f.registers * f.copies for f in (made.d, made.a, made.b, made.c)]
    if [len(vector) for vector in vectors] != sizes:
        raise UnknownInstruction(f"{instruction.opcode} with {sum(map(len, vectors))} registers")
    guard = generator.guard_of(instruction)
    # Factors as they are held, whatever their type: they are found again by their identity.
    factors = [f"({', '.join(map(generator.variable, vector))},)" for vector in vectors[1:3]]
    added = _tuple(generator, vectors[3], _register_type(opcode.c))
    sources = ", ".join((*factors, added))
    name = generator.constant(WarpProduct(instruction, made))
    lines = [f"t = {name}.multiply(run, {sources}, lanes, {guard})"]
    dtype = DTYPES[_register_type(opcode.d)]
    for k, register in enumerate(vectors[0]):
        lines.append(generator.assign(register, f"t[{k}]", dtype, guard))
    return lines


def load_tiles(generator: "Generator", instruction: Instruction) -> list[str]:
    """ldmatrix"""
    parts = instruction.parts
    number = next((part for part in parts if part in _TILES), "")
    said = {"ldmatrix", "sync", "aligned", "m8n8", "b16", number}
    if not said <= set(parts) or set(parts) - said - _SHARED - {"trans"}:
        raise UnknownInstruction(instruction.opcode)
    targets = elements(instruction.operands[0])
    if len(targets) != _TILES[number]:
        raise UnknownInstruction(f"{instruction.opcode} with {len(targets)} registers")
    name, place = tile_access(generator, instruction)
    guard = generator.guard_of(instruction)
    lines = [f"t = {name}.load(run, {place}, lanes, {guard})"]
    for k, register in enumerate(targets):
        lines.append(generator.assign(register, f"t[{k}]", _WORD, guard))
    return lines


def tile_access(generator: "Generator", instruction: Instruction) -> tuple[str, str]:
    """(a name for the access of an ldmatrix, what the code passes to it: base and offset)."""
    parts = set(instruction.parts)
    space = Space.SHARED if _SHARED & parts else Space.GENERIC
    access = Access(instruction, space, Kind.LOAD, _WORD, 4, strong=False, reads=True)
    tiles = len(elements(instruction.operands[0]))
    name = generator.constant(TileAccess(tiles, "trans" in parts, access))
    base, offset = base_and_offset(generator, instruction.operands[1], space)
    return name, f"{base}, {offset}"


def transpose_tile(generator: "Generator", instruction: Instruction) -> list[str]:
    """movmatrix"""
    if set(instruction.parts) != {"movmatrix", "sync", "aligned", "m8n8", "trans", "b16"}:
        raise UnknownInstruction(instruction.opcode)
    target, source = instruction.operands
    guard = generator.guard_of(instruction)
    name = generator.constant(WarpTranspose(instruction))
    text = f"{name}.turn(run, {generator.value(source, 'b32')}, lanes, {guard})"
    return [generator.assign(target, text, _WORD, guard)]


def _load_matrix(generator: "Generator", instruction: Instruction) -> list[str]:
    target, source, *stride = instruction.operands
    access, place = matrix_access(generator, instruction, source, stride)
    guard = generator.guard_of(instruction)
    registers = elements(target)
    fragment = access.opcode.fragment
    if len(registers) != fragment.registers * fragment.copies:
        raise UnknownInstruction(f"{instruction.opcode} with {len(registers)} registers")
    name = generator.constant(access)
    lines = [f"t = {name}.load(run, {place}, lanes, {guard})"]
    dtype = DTYPES[_register_type(access.opcode.type)]
    for k, register in enumerate(registers):
        value = f"t[{k % fragment.registers}]"
        lines.append(generator.assign(register, value, dtype, guard))
    return lines


def _store_matrix(generator: "Generator", instruction: Instruction) -> list[str]:
    target, source, *stride = instruction.operands
    access, place = matrix_access(generator, instruction, target, stride)
    registers = elements(source)
    if len(registers) != access.opcode.fragment.registers:
        raise UnknownInstruction(f"{instruction.opcode} with {len(registers)} registers")
    values = _tuple(generator, registers, _register_type(access.opcode.type))
    name, guard = generator.constant(access), generator.guard_of(instruction)
    return [f"{name}.store(run, {place}, {values}, lanes, {guard})"]


def matrix_access(
    generator: "Generator", instruction: Instruction, place: str, stride: list[str]
) -> tuple[MatrixAccess, str]:
    """(the access, what the code passes to it: base, offset and stride)."""
    opcode, parts = matrix(instruction), set(instruction.parts)
    space = Space.SHARED if _SHARED & parts else Space.GENERIC
    if "global" in parts:
        space = Space.GLOBAL
    way = transfer(opcode, in_shared=space is Space.SHARED)
    element = DTYPES[_register_type(opcode.type)] if way.way is Way.WORDS else _WORD
    if way.way is Way.BYTES:
        element = np.dtype(np.uint8)
    kind = Kind.STORE if opcode.which == "d" else Kind.LOAD
    reads = kind is Kind.LOAD
    access = Access(instruction, space, kind, element, way.count, strong=False, reads=reads)
    base, offset = base_and_offset(generator, place, space)
    if stride:
        apart = generator.value(stride[0], "u32")
    else:
        apart = generator.constant(np.uint32(opcode.line))
    return MatrixAccess(opcode, way, access), f"{base}, {offset}, {apart}"


def _register_type(type_: str) -> str:
    """As what a register is held that has elements of this type."""
    return type_ if BITS[type_] >= 32 and type_ != "tf32" else "b32"


def _tuple(generator: "Generator", registers: tuple[str, ...], type_: str) -> str:
    values: Any = (generator.value(register, type_) for register in registers)
    return f"({', '.join(values)},)"
