"""What a request costs, worked out lane by lane in sets: the oracle of the fast routines."""

from collections import Counter
from math import ceil


def sectors(addresses, size):
    """32-byte pieces that the lanes touch."""
    return len({(a + k) // 32 for a in addresses for k in range(size)})


def useful_bytes(addresses, size):
    return len({a + k for a in addresses for k in range(size)})


def ideal_sectors(addresses, size):
    return ceil(useful_bytes(addresses, size) / 32)


def wavefronts(by_lane, size, load=False):
    """(passes through the banks, passes at best) for {lane: address} of one warp.

    Up to 4 bytes a lane the warp is served together, at 8 each half of it, at 16 each quarter;
    loads of twice as many lanes where all lanes of the warp that are there come in equal pairs.
    """
    together = {8: 16, 16: 8}.get(size, 32)
    pairs = [
        all(by_lane.get(lane ^ apart, at) == at for lane, at in by_lane.items()) for apart in (1, 2)
    ]
    if load and size > 4 and any(pairs):
        together *= 2
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


def most_on_one_address(by_lane):
    """Lanes that hit the address that most lanes hit; 0 if there are no lanes."""
    return max(Counter(by_lane.values()).values(), default=0)


def most_on_a_bank(by_lane, size):
    """Turns of the atomics of one warp: a bank serves one lane a turn."""
    together = {8: 16}.get(size, 32)
    turns = 0
    for first in range(0, 32, together):
        lanes = [lane for lane in range(first, first + together) if lane in by_lane]
        turns += max(Counter(by_lane[lane] // 4 % 32 for lane in lanes).values(), default=0)
    return turns


def local_sectors(by_lane, size):
    """Word w of lane l lies in memory at word 32 * w + l of its warp's stretch."""
    return len(
        {
            (32 * word + lane) * 4 // 32
            for lane, address in by_lane.items()
            for word in range(address // 4, (address + size - 1) // 4 + 1)
        }
    )
