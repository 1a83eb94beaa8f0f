"""The pictures of lesson 04: the sectors that one warp touches."""

from harness.drawing.addresses import sectors, strided
from harness.drawing.canvas import Canvas

LEVEL = "requested at L1; hits and DRAM are not modelled"


def warp_and_sectors() -> Canvas:
    return sectors(
        "Which sectors a warp touches at stride 1, 2 and 8, and when it begins inside a sector",
        [
            strided("stride 1, aligned", 1),
            strided("stride 1, begun one float inside a sector", 1, first=1),
            strided("stride 2", 2),
            strided("stride 8", 8),
        ],
        LEVEL,
    )


PICTURES = {"sectors": warp_and_sectors}
