"""A right answer of a third hand: NumPy counts what is different."""

import numpy as np


def sectors_per_request(stride, element_bytes, offset_bytes=0, lanes=32):
    begins = offset_bytes + np.arange(lanes) * stride * element_bytes
    return int(np.unique(begins >> 5).size)


def useful_share(stride, element_bytes):
    lanes = np.arange(32) * stride * element_bytes
    wanted = np.unique(lanes).size * element_bytes
    return float(wanted / np.unique(lanes >> 5).size / 32)


def strided_copy_milliseconds(n, stride, gigabytes_per_second):
    per_float = float(np.clip(4 * stride, None, 64)) + 4.0
    return n * per_float * 1e-6 / gigabytes_per_second


def gather_sectors(indices):
    padded = np.full(-(-len(indices) // 32) * 32, -1)
    padded[: len(indices)] = indices
    rows = np.sort(np.where(padded < 0, -1, padded >> 3).reshape(-1, 32), axis=1)
    first = np.c_[rows[:, :1] >= 0, (np.diff(rows) != 0) & (rows[:, 1:] >= 0)]
    return int(first.sum())
