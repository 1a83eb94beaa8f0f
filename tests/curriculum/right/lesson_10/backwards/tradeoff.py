"""A table with a row for each op."""

from dataclasses import dataclass

import numpy as np

from curriculum.lesson_10.accountant import alone, dropped, fuse, roofline_time
from references.roofline import Op


@dataclass(frozen=True, kw_only=True)
class Report:
    speedup: float
    launches_saved: int
    round_trips: int
    bytes_after: int
    bytes_before: int


def fusion_report(chain, hardware, keep=()):
    kernels = [alone(op) for op in chain]
    table = np.array([(k.bytes, k.launches, roofline_time(k, hardware)) for k in kernels])
    (moved, launches, seconds), one = table.sum(0), fuse(chain, keep)
    return Report(
        speedup=seconds / roofline_time(one, hardware),
        launches_saved=int(launches) - one.launches,
        round_trips=len(dropped(chain, keep)),
        bytes_after=one.bytes,
        bytes_before=int(moved),
    )


def bias_gelu_residual(rows, columns):
    def step(name, reads, makes, operations):
        sizes = {n: 4 * columns * (1 if n == "bias" else rows) for n in (*reads, makes)}
        return Op(name, tuple(reads), (makes,), sizes, operations * rows * columns)

    first, second = step("bias", ["x", "bias"], "shifted", 1), step("gelu", ["shifted"], "bent", 5)
    return [first, second, step("residual", ["bent", "residual"], "y", 1)]
