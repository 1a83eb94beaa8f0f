"""The pictures of lesson 08: budgets that fill up, and loads under way in one warp or several."""

from harness.drawing.budgets import Launch, budgets
from harness.drawing.canvas import BLUE, GREEN, ORANGE, Canvas
from harness.drawing.timelines import Row, Span, Timeline, timelines
from simulator.occupancy import KIB

_ISSUE, _LATENCY = 0.9, 5.0  # of one load; of its answer


def sm_budgets() -> Canvas:
    return budgets(
        "The four budgets of an SM, filled by the blocks of three launches",
        [
            Launch("256 threads, 32 registers each", 256, 32),
            Launch("256 threads, 33 registers each", 256, 33),
            Launch("128 threads, 32 registers, 48 KiB a block", 128, 32, 48 * KIB),
        ],
    )


def loads_in_flight() -> Canvas:
    return timelines(
        "Four warps with one load each, and one warp with four: the same bytes are under way",
        [
            _timeline("four warps, one load in each thread", warps=4, loads=1),
            _timeline("one warp, four loads in each thread", warps=1, loads=4),
            _timeline("one warp, one load in each thread", warps=1, loads=1),
        ],
    )


def _timeline(says: str, warps: int, loads: int) -> Timeline:
    """One scheduler issues a load at a time; a warp stores when its answers have come."""
    rows = []
    for warp in range(warps):
        first = warp * loads * _ISSUE
        spans = [_span(first + k * _ISSUE, "load", ORANGE) for k in range(loads)]
        sent, back = first + loads * _ISSUE, first + _ISSUE + _LATENCY
        spans.append(Span(sent, back, f"{loads} on the way", BLUE))
        spans += [_span(back + k * _ISSUE, "store", GREEN) for k in range(loads)]
        rows.append(Row(f"warp {warp}", spans))
    under_way = f"{512 * warps * loads:,} bytes under way: 32 lanes, 16 bytes a load"
    return Timeline(says, rows, comes_to=under_way)


def _span(start: float, words: str, colour: str) -> Span:
    return Span(start, start + _ISSUE, words, colour)


PICTURES = {"budgets": sm_budgets, "loads_in_flight": loads_in_flight}
