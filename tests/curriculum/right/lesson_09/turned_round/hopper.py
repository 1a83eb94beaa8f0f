"""One table of all names first, with what follows each."""

import re
from typing import NamedTuple

MULTIPLY, COPY = "wgmma.mma_async", "cp.async.bulk.tensor"
EXPECT, ASK = "mbarrier.arrive.expect_tx", "mbarrier.try_wait"
KINDS = (MULTIPLY, COPY, EXPECT, ASK)
COMMENT = re.compile("//[^\n]*")


class Shape(NamedTuple):
    M: int
    N: int
    K: int


def said(ptx, kind):
    """What stands between each such name's beginning and its semicolon."""
    return [part.partition(";")[0] for part in COMMENT.sub("", ptx).split(kind)[1:]]


def census(ptx):
    return {kind: len(said(ptx, kind)) for kind in KINDS}


def shapes(ptx):
    return [
        Shape(*(int(re.search(rf"[.\d]{letter}(\d+)", rest)[1]) for letter in "mnk"))
        for rest in said(ptx, MULTIPLY)
    ]


def sums_per_thread(shape):
    return shape.N * shape.M // (4 * 32)


def expected_bytes(ptx):
    return int(said(ptx, EXPECT)[0].rpartition(",")[2])


def outcome(ptx, rows, columns):
    comes = sum(rows * columns * 2 for _ in said(ptx, COPY))
    short = expected_bytes(ptx) - comes
    if short > 0:
        return "hangs"
    return "early" if short else "opens"
