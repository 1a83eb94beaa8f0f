"""The same numbers from arrays."""

import numpy as np


def waves(blocks, sms, per_sm):
    fill = np.zeros(-(-blocks // (sms * per_sm)))
    fill[:] = 1.0
    left = blocks % (sms * per_sm)
    if left:
        fill[-1] = left / (sms * per_sm)
    return np.count_nonzero(fill == 1.0), np.float64(left) / (sms * per_sm), fill.mean()


def busy_fraction(warps, latency, issue=1.0):
    return np.clip(warps * issue / latency / 4, 0, 1)


def latency_hiding_warps(latency, issue=1, independent=1):
    return 4 * int(np.ceil(latency / issue / independent))
