"""A right answer of a third hand: NumPy for the statistics, a search for the break-even."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Samples:
    microseconds: tuple[float, ...]
    bytes_touched: int
    cold: bool
    l2_bytes: int
    launch_microseconds: float


def _work(n, element, rate):
    return n * element / (rate * 1e3)


def launch_breakeven(overhead, element, rate):
    low, high = 0, 1
    while _work(high, element, rate) < overhead:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _work(middle, element, rate) < overhead:
            low = middle
        else:
            high = middle
    return high


def efficiency(n, overhead, element, rate):
    return _work(n, element, rate) / (overhead + _work(n, element, rate))


def chunks_cost(n, chunks, overhead, element, rate):
    return float(np.maximum(chunks * overhead, _work(n, element, rate)))


def objections(samples):
    times = np.asarray(samples.microseconds)
    middle = np.median(times)
    low, high = np.percentile(times[1:], [10, 90])
    verdicts = [
        ("few", times.size < 10),
        ("warm-up", times[0] > 1.5 * middle),
        ("spread", high - low > 0.1 * middle),
        ("cache", not samples.cold and samples.bytes_touched <= samples.l2_bytes),
        ("host", middle < 2 * samples.launch_microseconds),
    ]
    return {word for word, holds in verdicts if holds}


def trustworthy(samples):
    return not objections(samples)
