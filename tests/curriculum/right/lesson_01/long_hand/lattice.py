"""Everything by counting, nothing by a closed form."""

from itertools import count


def linear_tid(x, y, z, block):
    number = 0
    for layer in range(z + 1):
        rows = y if layer == z else block[1]
        number += rows * block[0]
    return number + x


def warp_lane(tid):
    warp = 0
    while tid >= 32:
        tid -= 32
        warp += 1
    return warp, tid


def warp_members(block, warp):
    members = []
    for z in range(block[2]):
        for y in range(block[1]):
            for x in range(block[0]):
                if warp_lane(linear_tid(x, y, z, block))[0] == warp:
                    members.append((x, y, z))
    return members


def launch_shape(n, threads):
    whole, rest = divmod(n, threads)
    if rest != 0:
        whole += 1
    full_warps, ragged = divmod(threads, 32)
    warps = whole * (full_warps + bool(ragged))
    return whole, warps, 32 * warps - n


def assign_blocks(durations, sms, per_sm):
    ends = [[0.0] * sms for _ in range(per_sm)]
    result = []
    for duration in durations:
        earliest = min(min(row) for row in ends)
        row = next(row for row in ends if earliest in row)
        sm = next(sm for sm in count() if row[sm] == earliest)
        row[sm] = earliest + duration
        result.append((sm, earliest, row[sm]))
    return result
