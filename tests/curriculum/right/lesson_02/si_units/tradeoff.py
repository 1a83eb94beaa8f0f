"""The same numbers from arrays."""

import numpy as np


def effective_bandwidth(fractions, bandwidths):
    tiers = list(fractions)
    f = np.array([fractions[t] for t in tiers])
    b = np.array([bandwidths[t] for t in tiers])
    return float(1 / (f @ (1 / b)))


def working_set_curve(sizes, capacities, bandwidths):
    edges = np.array([0.0, *capacities, np.inf])
    inside = np.diff(np.minimum(np.asarray(sizes, dtype=float)[:, None], edges), axis=1)
    return list(np.asarray(sizes) / (inside / np.asarray(bandwidths)).sum(axis=1))


def shared_bandwidth(sms, gigahertz):
    bytes_per_second = sms * 128 * (gigahertz * 1e9)
    return bytes_per_second / 1e9
