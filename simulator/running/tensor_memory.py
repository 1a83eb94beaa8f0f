"""Matrices between memory and the registers of a warp: wmma.load, wmma.store, ldmatrix.

Each becomes the accesses that hardware makes of it (`tensor_layouts.py`), and those go through
`Memory` as all others do, so that bounds, checks and counters hear of them one by one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind, KernelFault
from simulator.instructions.tensor_fragments import BITS
from simulator.instructions.tensor_layouts import Transfer, Way
from simulator.instructions.tensor_opcodes import MatrixOpcode
from simulator.observing.events import Access
from simulator.running.lanes import WARP, Lanes
from simulator.running.tensor_checks import (
    check_matrix_is_aligned,
    check_one_for_the_warp,
    check_stride,
    spoken,
)
from simulator.running.tensor_warps import chosen, meet, transposed
from simulator.types import unsigned

if TYPE_CHECKING:
    from simulator.running.execution import Execution

Array = NDArray[Any]
Registers = tuple[Array, ...]  # each [count]
# ldm is a multiple of so many bytes (CUDA C++ Programming Guide, load_matrix_sync), but for those
# whose own lines are shorter, which PTX takes to lie without a gap if no stride is given.
_LINES_APART = 16
_TILE = 8  # rows of a tile of ldmatrix: as many lanes name them


class MatrixAccess:
    """One wmma.load or wmma.store.

    access  what all its accesses are
    """

    def __init__(self, opcode: MatrixOpcode, way: Transfer, access: Access) -> None:
        self.opcode, self.transfer, self.access = opcode, way, access
        self.instruction = access.instruction
        fragment, bits = opcode.fragment, BITS[opcode.type]
        in_registers = fragment.registers * fragment.copies * max(4, bits // 8)
        rows = way.way in (Way.ROWS, Way.CROSSED_ROWS)
        # Tiles that lie side by side begin a line of one tile apart.
        line_bytes = opcode.line * bits // 8
        aligned = min(in_registers, line_bytes)
        self.alignment = max(aligned, 16) if rows else aligned
        self.apart = min(_LINES_APART, line_bytes)

    def load(
        self, run: "Execution", base: Any, offset: int, stride: Any, lanes: Lanes, guard: Any
    ) -> Registers:
        """The registers of the fragment without its copies; lanes left out get zero."""
        some = chosen(lanes, guard)
        if some.place is not None:
            if not some.lanes.count:
                zero = np.zeros(lanes.count, self.access.element)
                return (zero,) * self.opcode.fragment.registers
            parts = (some.part(value) for value in (base, stride))
            loaded = self.load(run, next(parts), offset, next(parts), some.lanes, None)
            return tuple(some.spread(value) for value in loaded)
        first, naming = self._addresses(run, base, offset, stride, lanes)
        words: list[Registers] = []
        for where, shift in self._places(first, offset, stride, naming):
            words.append(self._touch(run, where, shift, naming, None))
        return self._registers(words)

    def store(
        self,
        run: "Execution",
        base: Any,
        offset: int,
        stride: Any,
        values: Sequence[Any],
        lanes: Lanes,
        guard: Any,
    ) -> None:
        some = chosen(lanes, guard)
        if some.place is not None:
            if some.lanes.count:
                base, stride, *values = (some.part(value) for value in (base, stride, *values))
                self.store(run, base, offset, stride, values, some.lanes, None)
            return
        first, naming = self._addresses(run, base, offset, stride, lanes)
        if self.transfer.way is Way.CROSSED:
            values = [transposed(np.broadcast_to(value, (lanes.count,))) for value in values]
        places = self._places(first, offset, stride, naming)
        for (where, shift), piece in zip(places, self.transfer.pieces, strict=True):
            stored = tuple(values[k] for k in piece.registers)
            self._touch(run, where, shift, naming, stored)

    def _addresses(
        self, run: "Execution", base: Any, offset: int, stride: Any, lanes: Lanes
    ) -> tuple[Array, Lanes]:
        """(each lane's address but for `offset` and what a piece adds, the lanes that name one)."""
        wave, memory, instruction = run.wave, run.memory, self.instruction
        meet(run, instruction, lanes)
        base = unsigned(base)
        check_one_for_the_warp(wave, instruction, base, "address", memory, lanes)
        check_one_for_the_warp(wave, instruction, stride, "stride", memory, lanes)
        bits = BITS[self.opcode.type]
        check_stride(wave, instruction, stride, bits, self.apart, lanes)
        begins = np.broadcast_to(base, (lanes.count,))
        wide = begins.dtype.type
        check_matrix_is_aligned(
            wave, instruction, begins + wide(offset), self.alignment, memory, lanes
        )
        line, byte = self.transfer.line, self.transfer.byte
        naming = _first_of_each_warp(lanes, len(line))
        rows = begins.reshape(-1, WARP)[:, : len(line)]
        apart = _bytes_apart(stride, bits, wide)
        if apart.ndim:
            apart = apart.reshape(-1, WARP)[:, :1]
        first = rows + line.astype(wide) * apart + byte.astype(wide)
        return first.reshape(-1), naming

    def _places(
        self, first: Array, offset: int, stride: Any, naming: Lanes
    ) -> list[tuple[Array, int]]:
        """(addresses, bytes to add to them) of each piece."""
        bits = BITS[self.opcode.type]
        if stride.ndim == 0:
            apart = int(_bytes_apart(stride, bits, np.int64))
            return [
                (first, offset + piece.line * apart + piece.byte) for piece in self.transfer.pieces
            ]
        wide = first.dtype.type
        per_warp = _bytes_apart(stride.reshape(-1, WARP)[:, 0], bits, wide)
        each = np.repeat(per_warp, naming.count // len(per_warp))
        return [
            (first + wide(piece.line) * each, offset + piece.byte) for piece in self.transfer.pieces
        ]

    def _touch(
        self, run: "Execution", where: Array, shift: int, naming: Lanes, values: Registers | None
    ) -> Registers:
        """Load, or store the values of, one piece."""
        try:
            if values is None:
                return run.memory.load(self.access, where, shift, naming, None)
            run.memory.store(self.access, where, shift, values, naming, None)
        except KernelFault as fault:
            if fault.kind is FaultKind.OUT_OF_BOUNDS:
                shape = f"{self.opcode.fragment.rows} × {self.opcode.fragment.columns}"
                fault.expected = (
                    f"All of the matrix, {shape} elements in lines that are ldm apart, lies in it."
                )
                fault.advice = (
                    f"{spoken(self.instruction)} takes whole tiles. At an edge, pad the matrix, "
                    "or take the tile through shared memory, with zeros where nothing is."
                )
            raise
        return ()

    def _registers(self, loaded: list[Registers]) -> Registers:
        """From what each piece got to the registers of the fragment, in their order."""
        way = self.transfer.way
        if way is Way.WORDS:
            return tuple(word for words in loaded for word in words)
        if way is Way.CROSSED:
            return tuple(transposed(words[0]) for words in loaded)
        if way is Way.BYTES:
            bytes_ = np.stack([words[0] for words in loaded], axis=-1)  # [count, 4 * registers]
            packed = np.ascontiguousarray(bytes_).view(np.uint32)
            return tuple(np.ascontiguousarray(packed.T))
        tiles, across = len(self.transfer.pieces[0].registers), way is Way.CROSSED_ROWS
        rows = (np.stack(words, axis=-1) for words in loaded)
        return tuple(word for each in rows for word in _from_rows(each, tiles, across))


class TileAccess:
    """One ldmatrix.

    tiles   how many 8 x 8 tiles it loads: 1, 2 or 4
    across  it transposes them
    """

    def __init__(self, tiles: int, across: bool, access: Access) -> None:
        self.tiles, self.across, self.access = tiles, across, access

    def load(self, run: "Execution", base: Any, offset: int, lanes: Lanes, guard: Any) -> Registers:
        """A register for each tile; lanes left out get zero."""
        some = chosen(lanes, guard)
        if some.place is not None:
            if not some.lanes.count:
                return (np.zeros(lanes.count, np.uint32),) * self.tiles
            loaded = self.load(run, some.part(base), offset, some.lanes, None)
            return tuple(some.spread(value) for value in loaded)
        meet(run, self.access.instruction, lanes)
        named = self.tiles * _TILE
        where = base
        if base.ndim == 0 or named < WARP:
            each = np.broadcast_to(base, (lanes.count,)).reshape(-1, WARP)[:, :named]
            where = np.ascontiguousarray(each).reshape(-1)
        naming = _first_of_each_warp(lanes, named)
        rows = run.memory.load_whole(self.access, where, offset, naming)
        return _from_rows(rows, self.tiles, self.across)


def _from_rows(rows: Array, tiles: int, across: bool) -> Registers:
    """What rows of 16 bytes, [warps * tiles * 8], give the lanes: a register for each tile of
    eight rows. A lane gets a quarter of a row."""
    lanes = rows.view(np.uint32).reshape(-1, tiles, WARP)
    registers = tuple(np.ascontiguousarray(lanes[:, tile]).reshape(-1) for tile in range(tiles))
    return tuple(transposed(word) for word in registers) if across else registers


def _first_of_each_warp(lanes: Lanes, named: int) -> Lanes:
    """The first lanes of each warp; the very same set each time."""
    if named == WARP:
        return lanes
    key = ("first of each warp", named)
    found: Lanes | None = lanes.memo.get(key)
    if found is None:
        mask = np.arange(lanes.count) % WARP < named
        found = lanes.memo[key] = lanes.select(mask)
    return found


def _bytes_apart(stride: Any, bits: int, wide: Any) -> Any:
    return (stride.astype(np.int64) * bits // 8).astype(wide)
