"""The pictures of lesson 06: what a warp issues at a branch."""

from harness.drawing.canvas import Canvas
from harness.drawing.timelines import Arm, Divergence, warps_at_a_branch

_LANES = 8  # they stand for 32
_ODD, _EVEN = 30, 20  # slots of the two arms
_SLOTS_A_CELL = 10


def arms() -> Canvas:
    every, odd = frozenset(range(_LANES)), frozenset(range(1, _LANES, 2))
    none: frozenset[int] = frozenset()

    def warp(in_odd_arm: frozenset[int]) -> Divergence:
        arms = [
            Arm("odd arm", _ODD // _SLOTS_A_CELL, in_odd_arm),
            Arm("even arm", _EVEN // _SLOTS_A_CELL, every - in_odd_arm),
        ]
        return Divergence("", arms, lanes=_LANES)

    return warps_at_a_branch(
        "By parity both arms are issued, half empty; aligned, each warp issues one",
        [
            ("condition: the thread is odd", [warp(odd), warp(odd)]),
            ("condition: the thread is below 32", [warp(every), warp(none)]),
        ],
        _SLOTS_A_CELL,
        f"branch, and meet again ({_LANES} lanes stand for 32, a cell for 10 slots)",
    )


PICTURES = {"arms": arms}
