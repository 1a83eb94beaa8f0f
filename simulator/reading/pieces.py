"""The pieces of passed values: each is a register, as wide as loads and stores allow.

A `.param` variable of a call is memory in name only: nobody but its own loads and stores sees it.
Where they all agree on the widths, each value is one register. A struct that is stored as 64 bits
and loaded as two words, or byte by byte, is cut where any of them begins or ends.
"""

from collections.abc import Iterable

from simulator.reading.operands import parameter_access
from simulator.reading.ptx import Instruction, Passed, Piece

_WIDEST = 8  # bytes of a register


def passed_values(sizes: dict[str, int], instructions: Iterable[Instruction]) -> dict[str, Passed]:
    """`.param` variable -> its pieces; `sizes` are the declared ones in bytes."""
    touched: dict[str, set[tuple[int, int]]] = {name: set() for name in sizes}
    for instruction in instructions:
        access = parameter_access(instruction)
        if access is not None and access[0] in touched:
            name, offset, size, values = access
            touched[name] |= {(offset + k * size, size) for k in range(len(values))}
    return {
        name: Passed(
            sizes[name],
            tuple(Piece(f"{name}.{offset}", offset, size) for offset, size in _cut(stretches)),
        )
        for name, stretches in touched.items()
    }


def _cut(stretches: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """(offset, size) of the pieces that all stretches are made of, each aligned to its size."""
    ends = sorted({end for offset, size in stretches for end in (offset, offset + size)})
    pieces = []
    for begin, end in zip(ends, ends[1:], strict=False):
        if not any(o <= begin and end <= o + s for o, s in stretches):
            continue
        while begin < end:
            size = _WIDEST
            while begin % size or begin + size > end:
                size //= 2
            pieces.append((begin, size))
            begin += size
    return pieces
