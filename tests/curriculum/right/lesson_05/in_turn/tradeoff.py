"""A right answer of a third hand: NumPy, and binary search."""

import numpy as np


def requested_bytes(M, N, K, rows, columns):
    blocks = np.ceil(np.divide([N, M], [columns, rows])).astype(int).tolist()
    once = {"a": M * K, "b": K * N, "c": M * N}
    return 4 * (once["a"] * blocks[0] + once["b"] * blocks[1] + once["c"])


def intensity(*product):
    operations = 2.0 * np.prod(np.array(product[:3], float))
    return float(operations / requested_bytes(*product))


def largest_tile(shared_bytes, buffers=1):
    low, high = 0, 4096
    while low < high:
        middle = (low + high + 1) // 2
        fits = buffers * 2 * middle * middle * 4 <= shared_bytes
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def shared_loads_per_fma(tm, tn):
    return float(np.add(tm, tn) / np.multiply(tm, tn))


def shared_ceiling(passes_per_fma):
    return float(np.minimum(1, 0.25 / passes_per_fma))


def sectors_per_step(lanes_along):
    columns = np.arange(32) if lanes_along == "row" else np.zeros(32, int)
    rows = np.zeros(32, int) if lanes_along == "row" else np.arange(32)
    a, b = rows * 4096 // 8, columns // 8
    return int(np.unique(a).size + np.unique(b).size)
