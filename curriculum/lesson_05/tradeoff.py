"""The trade-off of lesson 05: the size of a tile against what it saves and what it takes."""

from math import isqrt

PASSES_PER_CLOCK = 1  # through the banks of one SM's shared memory
FMAS_PER_CLOCK = 4  # of whole warps, on one SM


def requested_bytes(M: int, N: int, K: int, rows: int, columns: int) -> int:
    """The bytes that a tiled product of floats requests at L1, loads and stores.

    Each block computes rows * columns elements of c [M, N], fewer at the edges, and brings each
    element of a [M, K] and b [K, N] that it needs once.
    """
    # TASK 5: how many blocks need one row of a? How many one column of b?
    # TODO: about 2 lines
    raise NotImplementedError("task 5")


def intensity(M: int, N: int, K: int, rows: int, columns: int) -> float:
    """Floating-point operations for each byte requested; a multiply-add is two."""
    # TASK 5: divide
    # TODO: about 1 line
    raise NotImplementedError("task 5")


def largest_tile(shared_bytes: int, buffers: int = 1) -> int:
    """The largest T so that tiles [T, T] of a and b, `buffers` of each, fit in shared memory."""
    # TASK 5: an exact square root of whole numbers is math.isqrt
    # TODO: about 1 line
    raise NotImplementedError("task 5")


def shared_loads_per_fma(tm: int, tn: int) -> float:
    """Floats that a thread loads from shared memory for each multiply-add, with tm * tn sums."""
    # TASK 5: one step of k: how many floats come, how many products are made?
    # TODO: about 1 line
    raise NotImplementedError("task 5")


def shared_ceiling(passes_per_fma: float) -> float:
    """The share of an SM's multiply-adds that shared memory can feed, at most 1.

    passes_per_fma  passes through the banks for each multiply-add of a warp
    """
    # TASK 5: in one clock there is one pass, and four multiply-adds want to start
    # TODO: about 1 line
    raise NotImplementedError("task 5")


def sectors_per_step(lanes_along: str) -> int:
    """The sectors that a warp of matmul_naive loads in one step of k, from a and b together.

    lanes_along  "row": its lanes take neighbours in a row of c; "column": in a column
    K and N are multiples of 8, and at least 8.
    """
    # TASK 5: one operand is the same for all lanes. How do the lanes lie in the other?
    # TODO: about 2 lines
    raise NotImplementedError("task 5")
