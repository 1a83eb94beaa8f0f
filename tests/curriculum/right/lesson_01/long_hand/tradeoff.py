"""Whole numbers first, one division at the end."""


def waves(blocks, sms, per_sm):
    wave, left = 0, blocks
    while left >= sms * per_sm:
        left -= sms * per_sm
        wave += 1
    paid_for = sms * per_sm * (wave + 1 if left else wave)
    return wave, left / (sms * per_sm), blocks / paid_for


def busy_fraction(warps, latency, issue=1.0):
    own = warps / 4
    if own * issue >= latency:
        return 1.0
    return own * issue / latency


def latency_hiding_warps(latency, issue=1, independent=1):
    warps = 4
    while warps // 4 * issue * independent < latency:
        warps += 4
    return warps
