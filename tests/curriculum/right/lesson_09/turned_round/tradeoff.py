"""A right answer of a third hand: from operations to bytes, with the course's own constants."""

import math

from references.hardware import GPUS, MEASURED_H200
from references.tensor_cores import MMA_SYNC_TERAFLOPS

_GPU = GPUS["h200"]


def mma_count(M, N, K, tile=(16, 8, 16)):
    tiles = math.prod(math.ceil(size / side) for size, side in zip((M, N, K), tile, strict=True))
    return tiles * (math.prod(tile) // 2048)


def padding_waste(M, N, K, tile):
    return 1 - M * N * K / (2048 * mma_count(M, N, K, tile))


def intensity(rows, columns):
    deep = 1024
    operations = 2 * rows * columns * deep
    return operations / (2 * deep * rows + 2 * deep * columns)


def bytes_per_mma(rows, columns):
    return 4096 / intensity(rows, columns)


def ceiling(block, warp):
    of_l2 = MEASURED_H200.l2_gigabytes_per_second * 1e9 * intensity(*block)
    of_shared = _GPU.sms * 128 * _GPU.boost_gigahertz * 1e9 * intensity(*warp)
    return min(of_l2 / 1e12, of_shared / 1e12, MMA_SYNC_TERAFLOPS)


def most_stages(rows, columns, depth, blocks=1):
    free = _GPU.shared_bytes_per_sm // blocks - 1024
    return free // (2 * depth * (rows + columns))
