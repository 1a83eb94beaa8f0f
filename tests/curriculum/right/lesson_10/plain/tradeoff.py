"""Counted while walking along the chain."""

from dataclasses import dataclass

from curriculum.lesson_10 import accountant
from references.roofline import Op


@dataclass
class Report:
    bytes_before: int = 0
    bytes_after: int = 0
    round_trips: int = 0
    launches_saved: int = -1
    speedup: float = 0.0


def fusion_report(chain, hardware, keep=()):
    found = Report()
    for op in chain:
        kernel = accountant.alone(op)
        found.bytes_before += kernel.bytes
        found.launches_saved += kernel.launches
        found.speedup += accountant.roofline_time(kernel, hardware)
    whole = accountant.fuse(chain, keep)
    found.bytes_after = whole.bytes
    found.round_trips = len(accountant.dropped(chain, keep))
    found.speedup /= accountant.roofline_time(whole, hardware)
    return found


def bias_gelu_residual(rows, columns):
    big, row = rows * columns * 4, columns * 4
    per_element = rows * columns
    return [
        Op("bias", ("x", "bias"), ("a",), {"x": big, "bias": row, "a": big}, per_element),
        Op("gelu", ("a",), ("b",), {"a": big, "b": big}, 5 * per_element),
        Op("residual", ("b", "r"), ("y",), {"b": big, "r": big, "y": big}, per_element),
    ]
