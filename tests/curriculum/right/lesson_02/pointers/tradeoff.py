"""Times first, and one division at the end."""


def effective_bandwidth(fractions, bandwidths):
    time = 0.0
    for tier in fractions:
        time += fractions[tier] / bandwidths[tier]
    return time**-1


def working_set_curve(sizes, capacities, bandwidths):
    return [size / time_of(size, [*capacities, size], bandwidths) for size in sizes]


def time_of(size, capacities, bandwidths):
    time = served = 0.0
    for capacity, bandwidth in zip(capacities, bandwidths, strict=True):
        more = max(0.0, min(size, capacity) - served)
        time += more / bandwidth
        served += more
    return time


def shared_bandwidth(sms, gigahertz):
    return 32 * 4 * gigahertz * sms
