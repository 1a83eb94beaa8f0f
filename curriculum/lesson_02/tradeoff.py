"""The trade-off of lesson 02: the bandwidth at each tier, and of a mixture of tiers."""

from collections.abc import Mapping, Sequence

SHARED_BYTES_PER_CLOCK = 128  # of one SM


def effective_bandwidth(fractions: Mapping[str, float], bandwidths: Mapping[str, float]) -> float:
    """The bandwidth of a stream of bytes of which a fraction comes from each tier.

    fractions   by tier, adding up to 1
    bandwidths  by tier, in any one unit; the answer is in the same
    """
    # TASK 7: times add up, bandwidths do not
    # TODO: about 1 line
    raise NotImplementedError("task 7")


def working_set_curve(
    sizes: Sequence[float], capacities: Sequence[float], bandwidths: Sequence[float]
) -> list[float]:
    """The bandwidth of reading a set of bytes again and again, for each size of the set.

    capacities  of the caches, smallest first
    bandwidths  of the caches in that order, then of memory

    Each cache serves as much of the set as fits in it; the next tier serves more, up to its own
    capacity; memory serves the rest.
    """
    # TASK 7: how much of the set does each tier add to what the tiers before it hold?
    # TODO: about 8 lines
    raise NotImplementedError("task 7")


def shared_bandwidth(sms: int, gigahertz: float) -> float:
    """GB/s of the shared memories of all SMs together."""
    # TASK 7: each SM moves SHARED_BYTES_PER_CLOCK in every clock cycle
    # TODO: about 1 line
    raise NotImplementedError("task 7")
