"""How long a call takes on a GPU, for tests marked `speed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ROUNDS = 7  # the first one warms up


def median_milliseconds(call: Callable[[], object], repeats: int = 20) -> float:
    """The median over a few rounds of `repeats` calls in a row, on the GPU's own clock."""
    import torch

    rounds = []
    for _ in range(ROUNDS):
        event: Any = torch.cuda.Event  # torch does not type it
        start, stop = event(enable_timing=True), event(enable_timing=True)
        start.record()
        for _ in range(repeats):
            call()
        stop.record()
        stop.synchronize()
        rounds.append(start.elapsed_time(stop) / repeats)
    return float(sorted(rounds[1:])[3])
