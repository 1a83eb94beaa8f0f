"""A right answer of a third hand: simulate, then count."""

from types import SimpleNamespace

import numpy as np


def meeting(threads, way):
    count = SimpleNamespace(barriers=0, shuffles=0, atomics=0)
    left = threads
    if way == "atomic":
        count.atomics = threads
        return count
    count.atomics = 1
    if way == "tree":
        while left > 1:
            left //= 2
            count.barriers += 1
        return count
    while left > 1:
        warps = max(1, left // 32)
        count.shuffles += 5 * warps
        count.barriers += warps > 1
        left = warps
    return count


def _steps(threads, interleaved):
    distance = threads // 2
    while distance:
        pairs = threads // 2 // distance if interleaved else distance
        spacing = threads // pairs if interleaved else 1
        yield [spacing * k for k in range(pairs)]
        distance //= 2


def tree_efficiency(threads, interleaved):
    steps = list(_steps(threads, interleaved))
    warps = [{thread >> 5 for thread in step} for step in steps]
    return sum(map(len, steps)) / (32 * sum(map(len, warps)))


def roundings(n, accumulators):
    depth = 0
    while 2**depth < accumulators:
        depth += 1
    return (n - 1) // accumulators + depth


def error_bound(n, accumulators, magnitude):
    return roundings(n, accumulators) * 2.0**-24 * magnitude


def added_in_order(parts, order):
    import torch

    total = torch.zeros((), dtype=torch.float32)
    for block in order:
        total += torch.tensor(parts[block], dtype=torch.float32)
    return np.float32(total.item())
