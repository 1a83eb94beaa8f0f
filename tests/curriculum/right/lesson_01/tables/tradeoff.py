"""The same three numbers, by other roads."""

from fractions import Fraction
from math import ceil


def waves(blocks, sms, per_sm):
    passes = Fraction(blocks, sms * per_sm)
    whole = int(passes)
    return whole, float(passes - whole), float(passes / ceil(passes))


def busy_fraction(warps, latency, issue=1.0):
    return sorted((0, warps * issue / (4 * latency), 1))[1]


def latency_hiding_warps(latency, issue=1, independent=1):
    return 4 * ceil(Fraction(latency, issue * independent))
