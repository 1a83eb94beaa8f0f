"""Lesson 07, the trade-off: where values meet, what each way costs, and how far it may err."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WARP = 32
ROUNDING = 2.0**-24  # the largest relative error of one float32 addition


@dataclass(frozen=True)
class Meeting:
    """What it takes to add up one value of each thread of a block.

    barriers   that each warp comes to
    shuffles   of all warps
    atomics    updates of the one global sum
    """

    barriers: int
    shuffles: int
    atomics: int


def meeting(threads: int, way: str) -> Meeting:
    """The cost of one block of `threads`, a power of two from 32 on, by one of three ways.

    tree      shared memory and a barrier before each halving; then one atomic for the block
    shuffle   five shuffles in each warp; if there are several warps, one barrier and five more
              shuffles in one of them; then one atomic for the block
    atomic    each thread updates the global sum itself
    """
    # TASK 6: count
    steps, warps = int(math.log2(threads)), threads // WARP
    if way == "tree":
        return Meeting(barriers=steps, shuffles=0, atomics=1)
    if way == "shuffle":
        several = warps > 1
        return Meeting(barriers=int(several), shuffles=5 * (warps + several), atomics=1)
    return Meeting(barriers=0, shuffles=0, atomics=threads)
    # END TASK


def tree_efficiency(threads: int, interleaved: bool) -> float:
    """Lanes that add, over 32 for each warp that issues an addition, in a tree over `threads`.

    threads is a power of two from 32 on. interleaved: with step = 1, 2, 4 … the threads
    0, 2 * step, 4 * step … add; else, with half = threads / 2, / 4 … the threads below half.
    """
    # TASK 6: for each step, count the threads that add and the warps that have one of them
    adding = slots = 0
    step = 1
    while step < threads:
        pairs = threads // (2 * step)
        working = range(0, threads, 2 * step) if interleaved else range(pairs)
        adding += pairs
        slots += WARP * len({thread // WARP for thread in working})
        step *= 2
    return adding / slots
    # END TASK


def roundings(n: int, accumulators: int) -> int:
    """The most roundings that one of n values goes through on its way into the sum.

    Value i goes into accumulator i % accumulators, first come, first added; then a tree joins the
    accumulators. 1 <= accumulators <= n.
    """
    # TASK 6: the first value of an accumulator comes without rounding; a tree halves what is left
    in_a_row = (n + accumulators - 1) // accumulators - 1
    return in_a_row + math.ceil(math.log2(accumulators))
    # END TASK


def error_bound(n: int, accumulators: int, magnitude: float) -> float:
    """The farthest that a float32 sum may lie from the true one, to first order. Supplied.

    magnitude is the sum of the absolute values.
    """
    return roundings(n, accumulators) * ROUNDING * magnitude


def added_in_order(parts: Sequence[float], order: Sequence[int]) -> np.float32:
    """The float32 sum, bit for bit, if block order[0] adds its part to 0 first, order[1] next …

    A part is a float32 too: parts[block] is rounded to one before it is added.
    """
    # TASK 6: round each part, and round after each addition, as an atomicAdd does
    total = np.float32(0)
    for block in order:
        total = np.float32(total + np.float32(parts[block]))
    return total
    # END TASK
