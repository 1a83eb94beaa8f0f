"""How hardware brings a matrix of wmma from memory to the registers of a warp, and back.

PTX has one instruction for a matrix; NVIDIA's assembler makes several of it, and what a matrix
costs is what these cost. Each lane's place in memory is a line (a row of a matrix that lies row by
row) and a byte within it.

  words    each register from neighbouring bytes; two of them where both lie side by side
  crossed  halves that lie across: each 8 x 8 tile as it lies, and then transposed in the registers
  bytes    8-bit integers that lie across: one by one
  rows     from `.shared`: lanes name the rows of 16 bytes of up to four 8 x 8 tiles (ldmatrix),
           which it transposes where they lie across

What the assembler of CUDA 13.0 makes of each of them for 8.0 and for 9.0.
"""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from simulator.instructions.tensor_fragments import BITS, Fragment, Index
from simulator.instructions.tensor_opcodes import MatrixOpcode

_WARP = 32
_ROW_BYTES, _ROWS = 16, 8  # of a tile
_LANE = np.arange(_WARP)


class Way(Enum):
    """How the registers and what lies in memory belong together."""

    WORDS = auto()
    CROSSED = auto()
    BYTES = auto()
    ROWS = auto()
    CROSSED_ROWS = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """One access of all lanes of a warp.

    registers  that it fills or stores, in the order in which they lie
    line       lines to add to each lane's
    byte       bytes to add to each lane's
    """

    registers: tuple[int, ...]
    line: int
    byte: int


@dataclass(frozen=True, eq=False, slots=True)
class Transfer:
    """All accesses of one matrix; each lane's place is the same in all, but for what they add.

    line, byte  [lanes] of a warp: those that name an address
    element     bytes of an element of each access
    count       elements that each lane gets
    """

    way: Way
    line: Index
    byte: Index
    element: int
    count: int
    pieces: tuple[Piece, ...]


def transfer(opcode: MatrixOpcode, in_shared: bool) -> Transfer:
    """in_shared  the instruction says that the matrix lies in shared memory"""
    fragment, bits = opcode.fragment, BITS[opcode.type]
    line, column = fragment.row, fragment.column
    if not opcode.by_rows:
        line, column = column, line
    along = bool((line == line[:, :, :1]).all())  # a register's elements lie side by side
    rows_fit = bits == 16 or (bits < 16 and along)
    if opcode.which in "ab" and in_shared and rows_fit:
        return _by_tiles(line, column * bits // 8, bits, along)
    if not along:
        across = _crossed if bits == 16 else _one_by_one
        return across(fragment, line, column * bits // 8)
    return _by_words(line[:, :, 0], column[:, :, 0] * bits // 8, max(4, bits // 8))


def _by_words(line: Index, byte: Index, size: int) -> Transfer:
    """line, byte [registers, 32]; size of a register in bytes"""
    paired = len(line) > 1 and (line[1] == line[0]).all() and (byte[1] == byte[0] + size).all()
    step = 2 if paired else 1
    pieces = tuple(
        _piece(tuple(range(k, k + step)), line[k] - line[0], byte[k] - byte[0])
        for k in range(0, len(line), step)
    )
    return Transfer(Way.WORDS, line[0], byte[0], size, step, pieces)


def _crossed(fragment: Fragment, line: Index, byte: Index) -> Transfer:
    """line, byte [registers, 32, 2]"""
    pieces = tuple(
        Piece((k,), int(line[k].min()), int(byte[k].min())) for k in range(fragment.registers)
    )
    return Transfer(Way.CROSSED, _LANE // 4, _LANE % 4 * 4, 4, 1, pieces)


def _one_by_one(fragment: Fragment, line: Index, byte: Index) -> Transfer:
    """line, byte [registers, 32, 4]; four pieces for each register, its lowest byte first"""
    first_line, first_byte = line[0, :, 0], byte[0, :, 0]
    pieces = tuple(
        _piece((k,), line[k, :, j] - first_line, byte[k, :, j] - first_byte)
        for k in range(fragment.registers)
        for j in range(4)
    )
    return Transfer(Way.BYTES, first_line, first_byte, 1, 1, pieces)


def _by_tiles(line: Index, byte: Index, bits: int, along: bool) -> Transfer:
    """line, byte [registers, 32, elements of a register]"""
    together = min(len(line), 4 if bits == 16 else 2)
    firsts = [(int(line[k].min()), int(byte[k].min())) for k in range(len(line))]
    lines = np.concatenate([firsts[k][0] + np.arange(_ROWS) for k in range(together)])
    bytes_ = np.repeat([firsts[k][1] for k in range(together)], _ROWS)
    pieces = tuple(
        Piece(
            tuple(range(k, k + together)),
            firsts[k][0] - firsts[0][0],
            firsts[k][1] - firsts[0][1],
        )
        for k in range(0, len(line), together)
    )
    way = Way.ROWS if along else Way.CROSSED_ROWS
    return Transfer(way, lines, bytes_, 4, _ROW_BYTES // 4, pieces)


def _piece(registers: tuple[int, ...], lines: Index, bytes_: Index) -> Piece:
    """All lanes must have moved alike."""
    assert (lines == lines[0]).all() and (bytes_ == bytes_[0]).all()
    return Piece(registers, int(lines[0]), int(bytes_[0]))
