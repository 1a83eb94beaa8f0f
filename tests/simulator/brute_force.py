"""What a request costs, worked out lane by lane in sets: the oracle of the fast routines."""

from math import ceil


def sectors(addresses, size):
    """32-byte pieces that the lanes touch."""
    return len({(a + k) // 32 for a in addresses for k in range(size)})


def useful_bytes(addresses, size):
    return len({a + k for a in addresses for k in range(size)})


def ideal_sectors(addresses, size):
    return ceil(useful_bytes(addresses, size) / 32)


def wavefronts(by_lane, size):
    """(passes through the banks, passes at best) for {lane: address} of one warp.

    Up to 4 bytes a lane the warp is served together, at 8 each half of it, at 16 each quarter.
    """
    together = {8: 16, 16: 8}.get(size, 32)
    passes = best = 0
    for first in range(0, 32, together):
        words = {
            word
            for lane in range(first, first + together)
            if lane in by_lane
            for word in range(by_lane[lane] // 4, (by_lane[lane] + size - 1) // 4 + 1)
        }
        if words:
            banks = [word % 32 for word in words]
            passes += max(banks.count(bank) for bank in set(banks))
            best += 1
    return passes, best
