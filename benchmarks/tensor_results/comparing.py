"""How far a GPU's sums are from the simulator's, and how far they may be.

In units of 2^-24 of the magnitudes added, sum |a b| + |c|: float32 results differ since hardware
cuts off where the simulator rounds once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-24
Array = NDArray[Any]
Row = dict[str, Any]


def bound_in_units(type_: str, steps: int) -> float:
    """How far hardware may be from the simulator.

    An H200 was up to 3.6 units away in one instruction and 6.3 in 32: what it cuts off in each is a
    few units, and mostly of either sign. A half may be rounded to its other neighbour in each.

    steps  instructions, one after another, that an element takes
    """
    if type_ in ("s32", "f64"):
        return 0  # exact, or fused in the same order
    sums = 2.0 * (steps + 3)
    return sums + (steps * 2.0**-11 / UNIT if type_ == "f16" else 0)


def compared(
    theirs: Array, ours: Array, true: Array, magnitudes: Array, type_: str, steps: int
) -> Row:
    """theirs, ours, true, magnitudes: float64, elements of d; the GPU's come first."""
    finite = np.isfinite(ours)
    same_kind = (np.isnan(theirs) == np.isnan(ours)) & (finite == np.isfinite(theirs))
    same_kind &= finite | np.isnan(ours) | (theirs == ours)
    both = finite & np.isfinite(theirs)
    scale = np.where(magnitudes[both] > 0, magnitudes[both], 1)
    apart = np.abs(theirs[both] - ours[both])
    found = {
        "elements": int(ours.size),
        "equal": int(np.count_nonzero(theirs[both] == ours[both])),
        "not_finite": int(np.count_nonzero(~finite)),
        "not_finite_differs": int(np.count_nonzero(~same_kind)),
        "outside": int(np.count_nonzero(apart > bound_in_units(type_, steps) * UNIT * scale)),
    }
    for key, values in (
        ("apart", apart),
        ("gpu_error", np.abs(theirs[both] - true[both])),
        ("simulator_error", np.abs(ours[both] - true[both])),
    ):
        found[f"{key}_in_units"] = round(float(np.max(values / scale, initial=0) / UNIT), 6)
    return found
