"""What the PTX of a Hopper kernel tells: task 8 (stretch). hopper.cu is its source; print the PTX:

    python -c "from curriculum.lesson_09 import host; print(host.hopper_ptx())"

An instruction stands on a line of its own: perhaps a guard (`@%p1` or `@!%p1`), the name with its
parts between dots, the operands, a semicolon. From `//` on a line is comment. Four names:

    wgmma.mma_async             multiply two tiles in shared memory, by four warps together
    cp.async.bulk.tensor        TMA: copy a box of a matrix
    mbarrier.arrive.expect_tx   arrive at a barrier, and say how many bytes are to come
    mbarrier.try_wait           ask whether a phase of a barrier is over
"""

import re
from typing import NamedTuple

from references.tensor_cores import WARPGROUP_THREADS

HALF_BYTES = 2
KINDS = (
    "wgmma.mma_async",
    "cp.async.bulk.tensor",
    "mbarrier.arrive.expect_tx",
    "mbarrier.try_wait",
)


class Shape(NamedTuple):
    """Of one product: a is M x K, b is K x N."""

    M: int
    N: int
    K: int


def without_comments(ptx: str) -> str:
    """Supplied."""
    return re.sub(r"//.*", "", ptx)


def census(ptx: str) -> dict[str, int]:
    """How many instructions of each of KINDS stand in the text."""
    # TASK 8: what a comment says does not count
    return {kind: without_comments(ptx).count(kind) for kind in KINDS}
    # END TASK


def shapes(ptx: str) -> list[Shape]:
    """The shape of each wgmma.mma_async, in the order of the text: .m64n128k16 is (64, 128, 16)."""
    pattern = r"wgmma\.mma_async\S*\.m(\d+)n(\d+)k(\d+)\."
    # TASK 8: re.findall gives three strings for each place that fits the pattern
    return [Shape(*map(int, numbers)) for numbers in re.findall(pattern, without_comments(ptx))]
    # END TASK


def sums_per_thread(shape: Shape) -> int:
    """The float registers that each thread of a warpgroup needs for the sums of one product."""
    # TASK 8: a warpgroup shares them out evenly
    return shape.M * shape.N // WARPGROUP_THREADS
    # END TASK


def expected_bytes(ptx: str) -> int:
    """The bytes that a barrier is told to expect: the last operand of mbarrier.arrive.expect_tx.

    One such instruction stands in the text.
    """
    # TASK 8: from the name to the semicolon, the number behind the last comma
    return int(re.search(r"mbarrier\.arrive\.expect_tx[^;]*,\s*(\d+)\s*;", ptx)[1])
    # END TASK


def outcome(ptx: str, rows: int, columns: int) -> str:
    """What becomes of the wait: "opens" in time, "hangs" for ever, or opens "early".

    Each TMA copy in the text runs once for each phase, and brings a box of rows x columns halves.
    A phase is over when as many bytes have come as were expected.
    """
    copies, expected = census(ptx)["cp.async.bulk.tensor"], expected_bytes(ptx)
    # TASK 8: compare what comes with what is expected: just that, too little, or too much
    brought = HALF_BYTES * rows * columns * copies
    return "opens" if brought == expected else "hangs" if brought < expected else "early"
    # END TASK
