"""The picture of lesson 03: two clocks side by side, and the slower one that sets the pace."""

from harness.drawing.canvas import BLUE, ORANGE, Canvas
from harness.drawing.timelines import Row, Span, Timeline, timelines

_LAUNCH, _COUNT = 1.0, 5


def two_clocks() -> Canvas:
    return timelines(
        "Short kernels leave the GPU idle between launches; long kernels queue up",
        [
            _pace("short kernels: the host sets the pace", 0.45),
            _pace("long kernels: the GPU sets the pace", 1.6),
        ],
    )


def _pace(says: str, work: float) -> Timeline:
    """Launches in a row: a kernel starts when it has been launched and the GPU is free."""
    host = [Span(k * _LAUNCH, (k + 1) * _LAUNCH, "launch", ORANGE) for k in range(_COUNT)]
    gpu: list[Span] = []
    free = 0.0
    for k in range(_COUNT):
        start = max((k + 1) * _LAUNCH, free)
        if gpu and start > free:
            gpu.append(Span(free, start, "idle", wait=True))
        free = start + work
        gpu.append(Span(start, free, f"kernel {k}" if work > 1 else "", BLUE))
    clock = "launches" if work < _LAUNCH else "work"
    return Timeline(says, [Row("host", host), Row("GPU", gpu)], comes_to=f"time = all the {clock}")


PICTURES = {"two_clocks": two_clocks}
