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
    # TODO: about 5 lines
    raise NotImplementedError("task 1")


def element(matrix: str, lane: int, register: int, half: int) -> tuple[int, int]:
    """The way back: (row, column) of what lies at a place."""
    # TASK 1: group = lane // 4, member = lane % 4
    # TODO: about 6 lines
    raise NotImplementedError("task 1")
