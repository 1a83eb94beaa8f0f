"""The picture of lesson 07: two trees over the same eight values."""

from harness.drawing.canvas import Canvas
from harness.drawing.trees import Tree, interleaved, sequential, trees

_VALUES = (3, 1, 7, 0, 4, 1, 6, 3)
_WARP = 4  # threads, for the picture


def two_trees() -> Canvas:
    return trees(
        "A tree over 8 threads: interleaved, and side by side",
        [
            Tree(
                "interleaved",
                interleaved(8),
                _VALUES,
                step_name=lambda step: f"step {1 << step}",
                warp=_WARP,
                barriers=True,
            ),
            Tree(
                "side by side",
                sequential(8),
                _VALUES,
                step_name=lambda step: f"half {4 >> step}",
                warp=_WARP,
                barriers=True,
            ),
        ],
    )


PICTURES = {"trees": two_trees}
