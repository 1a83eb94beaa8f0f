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


def ratio_to_peer(
    ours: Callable[[], object], peer: Callable[[], object], name: str, repeats: int = 20
) -> tuple[float, str]:
    """(the peer's time over ours: above 1 ours is faster, both in words).

    ours  launches without waiting, as the peer does
    name  of the peer, for the words: "torch", "cuBLAS"
    """
    from harness.launching.launch_settings import changed

    with changed(synchronize=False):
        mine = median_milliseconds(ours, repeats)
    theirs = median_milliseconds(peer, repeats)
    ratio = theirs / mine
    return ratio, f"{mine:.4f} ms, {name} {theirs:.4f} ms: {ratio:.3f}"


def gigabytes_per_second(ours: Callable[[], object], bytes_moved: int, repeats: int = 20) -> float:
    """The rate at which a call that launches without waiting moves its bytes."""
    from harness.launching.launch_settings import changed

    with changed(synchronize=False):
        return bytes_moved / 1e6 / median_milliseconds(ours, repeats)
