"""Lesson 06, the trade-off: to align a branch, or to pay for both of its arms.

The unit is the *issue slot*: one instruction, issued once for a warp, whether 1 lane takes part or
all 32 do. An arm of `odd` slots needs that many for each warp that enters it at all.
"""

from collections.abc import Sequence

WARP = 32


def warps_of(values: Sequence[int]) -> list[Sequence[int]]:
    """The values cut into warps; the last may be short. Supplied."""
    return [values[first : first + WARP] for first in range(0, len(values), WARP)]


def branch_cost(condition: Sequence[int], odd: float, even: float) -> float:
    """Issue slots of all warps for `if (condition) {odd arm} else {even arm}`.

    condition[i] belongs to thread i; the odd arm is for those where it is not 0.
    """
    # TASK 6: a warp pays for each arm that at least one of its lanes enters
    cost = 0.0
    for warp in warps_of(condition):
        cost += odd * any(warp) + even * (not all(warp))
    return cost
    # END TASK


def expected_cost(p: float, odd: float, even: float) -> float:
    """Issue slots of one full warp, on average, if each lane's condition holds with chance p."""
    # TASK 6: with which chance does at least one of 32 lanes enter the odd arm? The even arm?
    return odd * (1 - (1 - p) ** WARP) + even * (1 - p**WARP)
    # END TASK


def efficiency(condition: Sequence[int], odd: float, even: float) -> float:
    """The share of lanes at work, over the slots of both arms.

    Lanes without a thread count as idle. condition is not empty.
    """
    # TASK 6: the slots that lanes spend in their own arm, over 32 for each slot that was issued
    useful = sum(odd if holds else even for holds in condition)
    return useful / (WARP * branch_cost(condition, odd, even))
    # END TASK


def loop_cost(trips: Sequence[int]) -> int:
    """Trips that are issued, all warps together, if thread i leaves its loop after trips[i]."""
    # TASK 6: a warp stays until its last lane leaves
    return sum(max(warp) for warp in warps_of(trips))
    # END TASK


def cheaper(
    condition: Sequence[int], odd: float, even: float, branching: float, selecting: float
) -> str:
    """Which takes fewer slots over all warps: "branch" or "predicate"? In a tie, "predicate".

    A branch costs each warp `branching` slots on top of its arms. Predication runs both arms in
    every warp and costs `selecting` on top, to keep the right result.
    """
    # TASK 6: add up both, for all warps
    warps = len(warps_of(condition))
    branch = branch_cost(condition, odd, even) + warps * branching
    predicated = warps * (odd + even + selecting)
    return "branch" if branch < predicated else "predicate"
    # END TASK
