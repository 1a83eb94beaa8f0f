"""Lesson 10, the trade-off: fusing saves round trips. How many, and what are they worth?"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from curriculum.lesson_10.accountant import alone, dropped, fuse, roofline_time
from references.roofline import Hardware, Op


@dataclass(frozen=True)
class Report:
    """What one kernel for a chain saves."""

    bytes_before: int  # one kernel for each op
    bytes_after: int
    round_trips: int  # tensors that are no longer written and read back
    launches_saved: int
    speedup: float  # of the least times, one launch behind the other


def fusion_report(chain: Sequence[Op], hardware: Hardware, keep: Collection[str] = ()) -> Report:
    """Compare one kernel for each op of the chain with one for all of them.

    keep  tensors that somebody outside the chain will read
    """
    # TASK 5: the accountant has all the pieces; times of separate kernels add up
    apart = [alone(op) for op in chain]
    together = fuse(chain, keep)
    before = sum(roofline_time(kernel, hardware) for kernel in apart)
    return Report(
        bytes_before=sum(kernel.bytes for kernel in apart),
        bytes_after=together.bytes,
        round_trips=len(dropped(chain, keep)),
        launches_saved=len(chain) - 1,
        speedup=before / roofline_time(together, hardware),
    )
    # END TASK


def bias_gelu_residual(rows: int, columns: int) -> list[Op]:
    """The chain of kernel.cu as ops: "bias", "gelu", "residual" over float32 [rows, columns].

    Tensors: x, bias → shifted → bent; bent, residual → y. Operations an element: 1, 5 (the error
    function counts as one) and 1.
    """
    # TASK 5: three ops; the bias has one float for each column
    n = rows * columns
    sizes = dict.fromkeys(("x", "shifted", "bent", "residual", "y"), 4 * n)
    sizes["bias"] = 4 * columns
    return [
        Op("bias", ("x", "bias"), ("shifted",), sizes, n),
        Op("gelu", ("shifted",), ("bent",), sizes, 5 * n),
        Op("residual", ("bent", "residual"), ("y",), sizes, n),
    ]
    # END TASK
