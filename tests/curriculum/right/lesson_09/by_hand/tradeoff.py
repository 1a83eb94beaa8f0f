"""A right answer of another hand: in units of 16 x 8 x 16, and of bits."""

from fractions import Fraction


def _up(size, side):
    return size + -size % side


def mma_count(M, N, K, tile=(16, 8, 16)):
    m, n, k = (_up(size, side) for size, side in zip((M, N, K), tile, strict=True))
    return (m // 16) * (n // 8) * (k // 16)


def padding_waste(M, N, K, tile):
    kept = Fraction(1)
    for size, side in zip((M, N, K), tile, strict=True):
        kept *= Fraction(size, _up(size, side))
    return float(1 - kept)


def intensity(rows, columns):
    return 1 / (1 / rows + 1 / columns)


def bytes_per_mma(rows, columns):
    fragments = rows / 16 * 512 + columns / 8 * 256
    return fragments / (rows / 16 * columns / 8)


def ceiling(block, warp):
    limits = [634.0, 8.3 * intensity(*block)]
    limits.append(132 * 1.98e9 * 4096 * 128 / bytes_per_mma(*warp) / 1e12)
    return sorted(limits)[0]


def most_stages(rows, columns, depth, blocks=1):
    stage = rows * depth * 2 + columns * depth * 2
    stages = 0
    while blocks * ((stages + 1) * stage + 1024) <= 228 * 1024:
        stages += 1
    return stages
