"""Look it up: torch lays the threads of a block out, and finds them again."""

import torch


def numbered(block):
    x, y, z = block
    return torch.arange(x * y * z).reshape(z, y, x)


def linear_tid(x, y, z, block):
    return int(numbered(block)[z, y, x])


def warp_lane(tid):
    return divmod(tid, 32)


def warp_members(block, warp):
    chunks = numbered(block).flatten().split(32)
    if warp >= len(chunks):
        return []
    z, y, x = torch.unravel_index(chunks[warp], numbered(block).shape)
    return list(zip(x.tolist(), y.tolist(), z.tolist(), strict=True))


def launch_shape(n, threads):
    blocks = (n + threads - 1) // threads
    lanes = blocks * (threads + 31 & ~31)
    return blocks, lanes >> 5, lanes - n


def assign_blocks(durations, sms, per_sm):
    clock = torch.zeros(per_sm * sms, dtype=torch.float64)
    schedule = []
    for duration in durations:
        slot = int(clock.eq(clock.min()).nonzero()[0])
        start = float(clock[slot])
        clock[slot] += duration
        schedule.append((slot % sms, start, float(clock[slot])))
    return schedule
