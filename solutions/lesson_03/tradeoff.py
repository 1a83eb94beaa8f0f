"""Lesson 03, the trade-off: what a launch costs against what it does.

Two clocks run. The host hands over a launch in `launch_microseconds` and does not wait for it; the
GPU then moves `bytes_per_element` bytes for each element at `gigabytes_per_second`.
"""

import math
from dataclasses import dataclass
from statistics import median, quantiles


def work_microseconds(n: int, bytes_per_element: float, gigabytes_per_second: float) -> float:
    """How long the GPU needs for n elements when nothing but the bytes counts. Supplied."""
    return n * bytes_per_element / (gigabytes_per_second * 1e9) * 1e6


def launch_breakeven(
    launch_microseconds: float, bytes_per_element: float, gigabytes_per_second: float
) -> int:
    """The smallest n whose work takes at least as long as its launch."""
    # TASK 5: solve work = launch for n, and round up
    return math.ceil(launch_microseconds * gigabytes_per_second * 1e3 / bytes_per_element)
    # END TASK


def efficiency(
    n: int, launch_microseconds: float, bytes_per_element: float, gigabytes_per_second: float
) -> float:
    """The share of its time that one launch spends on work, when the host waits for its end."""
    # TASK 5: alone, the work starts only after the launch
    work = work_microseconds(n, bytes_per_element, gigabytes_per_second)
    return work / (work + launch_microseconds)
    # END TASK


def chunks_cost(
    n: int,
    chunks: int,
    launch_microseconds: float,
    bytes_per_element: float,
    gigabytes_per_second: float,
) -> float:
    """Microseconds for n elements cut into equal launches in a row, when the host never waits."""
    # TASK 5: the host prepares the next launch while the GPU still works: the slower clock wins
    work = work_microseconds(n, bytes_per_element, gigabytes_per_second)
    return max(chunks * launch_microseconds, work)
    # END TASK


@dataclass(frozen=True)
class Samples:
    """One benchmark: the same call timed again and again."""

    microseconds: tuple[float, ...]  # in the order of measuring
    bytes_touched: int  # by one call
    cold: bool  # whether something else went through the L2 cache before each call
    l2_bytes: int
    launch_microseconds: float  # of an empty kernel


def objections(samples: Samples) -> set[str]:
    """What speaks against the measurement, out of the five words below.

    few      under 10 samples
    warm-up  the first takes more than 1.5 times the median: it paid for compiling or for waking up
    spread   the tenth at the top and the tenth at the bottom lie over 10 % of the median apart,
             the first sample left aside
    cache    the bytes fit in the L2 cache and nothing cleared it: no byte had to come from memory
    host     the median is under twice an empty launch: you have timed the host
    """
    # TASK 8: judge the five, each by itself
    times = samples.microseconds
    middle = median(times)
    tenths = quantiles(times[1:], n=10, method="inclusive") if len(times) > 2 else [middle]
    found = {
        "few": len(times) < 10,
        "warm-up": times[0] > 1.5 * middle,
        "spread": tenths[-1] - tenths[0] > 0.1 * middle,
        "cache": samples.bytes_touched <= samples.l2_bytes and not samples.cold,
        "host": middle < 2 * samples.launch_microseconds,
    }
    return {word for word, holds in found.items() if holds}
    # END TASK


def trustworthy(samples: Samples) -> bool:
    """Whether to believe the median. Supplied."""
    return not objections(samples)
