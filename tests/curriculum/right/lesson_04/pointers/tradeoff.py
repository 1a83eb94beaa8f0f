"""A right answer of another hand: closed forms where there are some."""


def sectors_per_request(stride, size, offset=0, lanes=32):
    last = offset + (lanes - 1) * stride * size
    if stride * size <= 32:  # no sector between the first and the last is left out
        return last // 32 - offset // 32 + 1
    return lanes


def useful_share(stride, size):
    moved = 32 * sectors_per_request(stride, size)
    return (size if stride == 0 else 32 * size) / moved


def strided_copy_milliseconds(n, stride, rate):
    piece = 64 if stride > 16 else 4 * stride
    return 1e3 * n * (piece + 4) / (rate * 1e9)


def gather_sectors(indices):
    total = 0
    for first in range(0, len(indices), 32):
        seen = []
        for index in indices[first : first + 32]:
            if index >= 0 and index // 8 not in seen:
                seen.append(index // 8)
        total += len(seen)
    return total
