"""Where a thread stands in the lattice: its number, its warp, its lane, and the SM of its block."""

import heapq

WARP = 32  # lanes of a warp

Triple = tuple[int, int, int]  # (x, y, z)


def linear_tid(x: int, y: int, z: int, block: Triple) -> int:
    """The number of thread (x, y, z) in a block of that shape, from 0."""
    # TASK 2: x runs fastest, then y, then z
    # TODO: about 1 line
    raise NotImplementedError("task 2")


def warp_lane(tid: int) -> tuple[int, int]:
    """The warp of thread number tid in its block, and its lane in that warp."""
    # TASK 2: each 32 numbers in a row are one warp
    # TODO: about 1 line
    raise NotImplementedError("task 2")


def warp_members(block: Triple, warp: int) -> list[Triple]:
    """The threads (x, y, z) of one warp in lane order; none if the block has no such warp."""
    # TASK 3: walk linear_tid backwards for each number that the warp holds. The last warp of a
    # block may hold fewer than 32.
    # TODO: about 7 lines
    raise NotImplementedError("task 3")


def launch_shape(n: int, threads: int) -> tuple[int, int, int]:
    """(blocks, warps, idle lanes) of the smallest launch that has a thread for each of n elements.

    Each block has `threads` threads. An idle lane is a lane of a launched warp that has no element:
    its thread is past the end, or the block was too small to give the lane a thread at all.
    """
    # TASK 4: round up twice, in whole numbers: n may be 2**40, and a float rounds
    # TODO: about 3 lines
    raise NotImplementedError("task 4")


def assign_blocks(durations: list[float], sms: int, per_sm: int) -> list[tuple[int, float, float]]:
    """(SM, start, end) of each block, handed out in order as slots become free.

    An SM has slots 0 .. per_sm - 1, each for one block. The next block takes the slot that is
    free first; among slots free at one time the lowest slot, then the lowest SM.
    """
    # TASK 5: keep the time at which each slot becomes free
    # TODO: about 7 lines
    raise NotImplementedError("task 5")
