"""Harmonic means, from the standard library where it has them."""

from itertools import pairwise
from statistics import harmonic_mean


def effective_bandwidth(fractions, bandwidths):
    tiers = sorted(fractions)
    return harmonic_mean([bandwidths[t] for t in tiers], [fractions[t] for t in tiers])


def working_set_curve(sizes, capacities, bandwidths):
    curve = []
    for size in sizes:
        steps = [0, *(min(capacity, size) for capacity in capacities), size]
        parts = {rank: upper - lower for rank, (lower, upper) in enumerate(pairwise(steps))}
        curve.append(effective_bandwidth(parts, dict(enumerate(bandwidths))))
    return curve


def shared_bandwidth(sms, gigahertz):
    return sum(128 * gigahertz for _ in range(sms))
