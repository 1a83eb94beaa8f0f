"""Which lane holds which element of mma.m16n8k16 on halves, and in which register.

    a  [16, 16]   four registers of two halves in each lane
    b  [16, 8]    two registers of two halves
    c  [16, 8]    four registers of one float

A pair of halves in a register are neighbours along K: of a they lie in one row, of b in one column.
The one with the lower index is half 0.
"""

from typing import NamedTuple


class Place(NamedTuple):
    """Where an element of a fragment is."""

    lane: int  # 0 .. 31
    register: int  # 0 .. 3, of b 0 .. 1
    half: int  # 0 or 1, of c always 0


def owner(matrix: str, row: int, column: int) -> Place:
    """The place of element [row, column] of matrix "a", "b" or "c"."""
    # TASK 1: read it off the picture. Eight groups of four lanes: the group is the row of a and c,
    # and the column of b, modulo 8.
    if matrix == "a":
        return Place(row % 8 * 4 + column % 8 // 2, row // 8 + column // 8 * 2, column % 2)
    if matrix == "b":
        return Place(column * 4 + row % 8 // 2, row // 8, row % 2)
    return Place(row % 8 * 4 + column // 2, row // 8 * 2 + column % 2, 0)
    # END TASK


def element(matrix: str, lane: int, register: int, half: int) -> tuple[int, int]:
    """The way back: (row, column) of what lies at a place."""
    # TASK 1: group = lane // 4, member = lane % 4
    group, member = divmod(lane, 4)
    if matrix == "a":
        return group + register % 2 * 8, register // 2 * 8 + 2 * member + half
    if matrix == "b":
        return register * 8 + 2 * member + half, group
    return group + register // 2 * 8, 2 * member + register % 2
    # END TASK
