"""Values on their way from one frame to another, and lanes of several frames that run together."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from simulator.reading.ptx import Passed
from simulator.running.lanes import Lanes, merge
from simulator.running.registers import Registers


def handed_over(
    source: Passed, values: tuple[Any, ...], target: Passed
) -> Iterator[tuple[str, Any]]:
    """(register, its value) of each piece that the target has, from the source's pieces.

    Values are unsigned integers, [count] or scalars. The two sides may cut a value differently.
    """
    known = {(p.offset, p.size): v for p, v in zip(source.pieces, values, strict=True)}
    for piece in target.pieces:
        value = known.get((piece.offset, piece.size))
        if value is None:
            value = _from_bytes(source, values, piece.offset, piece.size)
        yield piece.register, value


def _from_bytes(source: Passed, values: tuple[Any, ...], offset: int, size: int) -> Any:
    """`size` bytes of a value; those that nobody has passed are zero."""
    count = max((v.size for v in values), default=1)
    raw = np.zeros((count, max(source.bytes, offset + size)), np.uint8)
    for piece, value in zip(source.pieces, values, strict=True):
        whole = np.broadcast_to(value, (count,)).copy()
        raw[:, piece.offset : piece.offset + piece.size] = whole.view(np.uint8).reshape(count, -1)
    part = np.ascontiguousarray(raw[:, offset : offset + size]).view(f"u{size}").reshape(count)
    return part if any(v.ndim for v in values) else part[0]


class JoinedRegisters:
    """The registers of several frames of one function, for lanes that meet in it.

    A warp's lanes may come to one shuffle along different paths of calls. The basic block that
    begins with it runs once for all of them, and finds here what it asks of `Registers`.
    """

    def __init__(self, parties: list[tuple[Registers, Lanes]]) -> None:
        self.lanes = merge([lanes for _, lanes in parties])
        self._parties = parties
        indices = self.lanes.indices()
        self.places = [np.searchsorted(indices, lanes.indices()) for _, lanes in parties]

    def read(self, name: str, lanes: Lanes, dtype: np.dtype[Any]) -> Any:
        return self._joined([r.read(name, some, dtype) for r, some in self._parties])

    def write(self, name: str, value: Any, lanes: Lanes) -> None:
        for (registers, some), place in zip(self._parties, self.places, strict=True):
            registers.write(name, part_of(value, place), some)

    def drop(self, names: tuple[str, ...], lanes: Lanes) -> None:
        for registers, some in self._parties:
            registers.drop(names, some)

    def local(self, offset: int) -> Any:
        return self._joined([registers.local(offset) for registers, _ in self._parties])

    def _joined(self, values: list[Any]) -> Any:
        joined = np.empty(self.lanes.count, values[0].dtype)
        for value, place in zip(values, self.places, strict=True):
            joined[place] = value
        return joined


def part_of(value: Any, chosen: Any) -> Any:
    """Of an array [count], a scalar, None or a tuple of those: what belongs to chosen lanes.

    chosen  a mask [count], or places
    """
    if isinstance(value, tuple):
        return tuple(part_of(v, chosen) for v in value)
    return value if value is None or value.ndim == 0 else value[chosen]
