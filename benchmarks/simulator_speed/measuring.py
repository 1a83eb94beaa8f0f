"""CPU seconds of calls that take turns, so that a machine that slows down slows them all."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Times:
    """CPU seconds of this process, one a round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """(fastest, slowest) over the median."""
        return min(self.seconds) / self.median, max(self.seconds) / self.median

    def ratio(self, other: "Times") -> float:
        """How many times as long these took, the median over the rounds of both."""
        return statistics.median(a / b for a, b in zip(self.seconds, other.seconds, strict=True))


@dataclass(frozen=True, slots=True)
class Timed:
    """What takes turns. `before` and `after` are not timed: they clear and check the result.

    repeats  how often in a row, for calls too short for the clock
    """

    call: Call
    before: Call = lambda: None
    after: Call = lambda: None
    repeats: int = 1


def interleaved(calls: Sequence[Timed], rounds: int) -> list[Times]:
    """Each call's times, after one round that does not count."""
    taken: list[list[float]] = [[] for _ in calls]
    for turn in range(rounds + 1):
        for timed, times in zip(calls, taken, strict=True):
            timed.before()
            began = time.process_time()
            for _ in range(timed.repeats):
                timed.call()
            seconds = (time.process_time() - began) / timed.repeats
            timed.after()
            if turn:
                times.append(seconds)
    return [Times(tuple(times)) for times in taken]


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Of the straight line through the points on logarithmic axes: 1 where time is linear."""
    x, y = [math.log(s) for s in sizes], [math.log(s) for s in seconds]
    x_mean, y_mean = statistics.mean(x), statistics.mean(y)
    rise = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    return rise / sum((a - x_mean) ** 2 for a in x)
