"""A right answer of a third hand: quarters of 8 x 8, laid into the registers one by one."""

from collections import namedtuple

Place = namedtuple("Place", "lane register half")


def _in_quarter(line, along):
    """(lane, half) in an 8 x 8 quarter whose lines belong to groups."""
    member, half = divmod(along, 2)
    return 4 * line + member, half


def owner(matrix, row, column):
    if matrix == "b":
        lane, half = _in_quarter(column, row & 7)
        return Place(lane, int(row >= 8), half)
    lane, half = _in_quarter(row & 7, column & 7)
    low = int(row >= 8)
    if matrix == "a":
        return Place(lane, low + 2 * int(column >= 8), half)
    return Place(lane, 2 * low + half, 0)


def element(matrix, lane, register, half):
    for row in range(16):
        for column in range(16 if matrix == "a" else 8):
            if owner(matrix, row, column) == (lane, register, half):
                return row, column
    raise ValueError("no element lies there")
