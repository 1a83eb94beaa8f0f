"""A right answer of another hand: seconds inside, and exact fractions for the break-even."""

from fractions import Fraction
from typing import NamedTuple


class Samples(NamedTuple):
    microseconds: tuple
    bytes_touched: int
    cold: bool
    l2_bytes: int
    launch_microseconds: float


def seconds(n, bytes_each, gigabytes):
    return n * bytes_each / gigabytes / 1_000_000_000


def launch_breakeven(launch, bytes_each, gigabytes):
    moved = Fraction(launch) * Fraction(gigabytes) * 1000
    return -int(-moved // Fraction(bytes_each))


def efficiency(n, launch, bytes_each, gigabytes):
    return 1 - launch / (launch + 1e6 * seconds(n, bytes_each, gigabytes))


def chunks_cost(n, chunks, launch, bytes_each, gigabytes):
    each = seconds(n / chunks, bytes_each, gigabytes) * 1e6
    return chunks * (each if each > launch else launch)


def objections(samples):
    times, found = samples.microseconds, set()
    middle = sorted(times)[len(times) // 2]
    if len(times) < 10:
        found.add("few")
    if times[0] / middle > 1.5:
        found.add("warm-up")
    rest = sorted(times[1:])
    tenth = len(rest) // 10
    if rest[len(rest) - 1 - tenth] - rest[tenth] > middle / 10:
        found.add("spread")
    if not samples.cold and samples.bytes_touched <= samples.l2_bytes:
        found.add("cache")
    if middle / samples.launch_microseconds < 2:
        found.add("host")
    return found


def trustworthy(samples):
    return len(objections(samples)) == 0
