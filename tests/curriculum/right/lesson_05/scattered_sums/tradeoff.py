"""A right answer of another hand: loops and fractions."""

from fractions import Fraction


def requested_bytes(height, width, depth, rows, columns):
    floats = height * width
    for top in range(0, height, rows):
        floats += depth * width  # this row of blocks reads all of b
        del top
    floats += height * depth * len(range(0, width, columns))
    return 4 * floats


def intensity(height, width, depth, rows, columns):
    flops = Fraction(2 * height * width * depth)
    return float(flops / requested_bytes(height, width, depth, rows, columns))


def largest_tile(shared_bytes, buffers=1):
    side = 0
    while 8 * buffers * (side + 1) ** 2 <= shared_bytes:
        side += 1
    return side


def shared_loads_per_fma(tm, tn):
    return 1 / tm + 1 / tn


def shared_ceiling(passes):
    return 1.0 if 4 * passes <= 1 else 0.25 / passes


def sectors_per_step(lanes_along):
    return {"row": 1 + 32 * 4 // 32, "column": 32 + 1}[lanes_along]
