"""A right answer of another hand: step by step, with bits and NumPy."""

from collections import namedtuple

import numpy as np

Meeting = namedtuple("Meeting", "barriers shuffles atomics")


def meeting(threads, way):
    if way == "atomic":
        return Meeting(0, 0, threads)
    if way == "tree":
        return Meeting(threads.bit_length() - 1, 0, 1)
    warps = threads >> 5
    return Meeting(1, 5 * warps + 5, 1) if warps > 1 else Meeting(0, 5, 1)


def tree_efficiency(threads, interleaved):
    lanes, issued = 0, 0
    distance = 1
    while distance < threads:
        adds = np.zeros(threads, dtype=bool)
        if interleaved:
            adds[:: 2 * distance] = True
        else:
            adds[: threads // 2 // distance] = True
        lanes += adds.sum()
        issued += 32 * adds.reshape(-1, 32).any(axis=1).sum()
        distance *= 2
    return float(lanes / issued)


def roundings(n, accumulators):
    longest = len(range(0, n, accumulators))
    levels = (accumulators - 1).bit_length()
    return longest + levels - 1


def error_bound(n, accumulators, magnitude):
    return magnitude * roundings(n, accumulators) / 2**24


def added_in_order(parts, order):
    chosen = np.array([parts[block] for block in order], dtype=np.float32)
    return np.cumsum(np.append(np.zeros(1, np.float32), chosen), dtype=np.float32)[-1]
