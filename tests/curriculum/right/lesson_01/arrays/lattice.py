"""NumPy throughout."""

import numpy as np


def linear_tid(x, y, z, block):
    return np.ravel_multi_index((z, y, x), block[::-1])


def warp_lane(tid):
    return np.divmod(tid, 32)


def warp_members(block, warp):
    zs, ys, xs = np.indices(block[::-1]).reshape(3, -1)[:, 32 * warp : 32 * (warp + 1)]
    return list(zip(xs, ys, zs, strict=True))


def launch_shape(n, threads):
    blocks = np.floor_divide(n + threads - 1, threads)
    warps = blocks * np.int64(np.ceil(threads / 32))
    return blocks, warps, 32 * warps - n


def assign_blocks(durations, sms, per_sm):
    free = np.zeros((per_sm, sms))
    out = []
    for took in durations:
        at = np.unravel_index(free.argmin(), free.shape)
        out.append((at[1], free[at], free[at] + took))
        free[at] += took
    return out
