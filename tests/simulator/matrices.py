"""Matrices of the types that tensor cores take: random ones, their bits, and what they are worth.

A matrix is kept as what lies in memory: bf16 as uint16, everything else as its NumPy type. 4-bit
integers and bits are kept one to a byte.
"""

import numpy as np

HELD = {
    "f16": np.float16, "bf16": np.uint16, "tf32": np.float32, "f32": np.float32, "f64": np.float64,
    "s8": np.int8, "u8": np.uint8, "s32": np.int32, "s4": np.int8, "u4": np.uint8, "b1": np.uint8,
}  # fmt: skip
_RANGE = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8), "u4": (0, 16), "b1": (0, 2)}
_KEPT = {"f16": 11, "f32": 24, "f64": 53}  # bits of a sum's mantissa


def random_matrix(random, shape, type_):
    """Numbers of both signs and of several magnitudes; integers of the whole range."""
    if type_ in _RANGE:
        return random.integers(*_RANGE[type_], shape).astype(HELD[type_])
    if type_ == "s32":
        return random.integers(-(10**6), 10**6, shape).astype(np.int32)
    values = random.uniform(0.5, 2, shape) * random.choice([-1, 1], shape)
    values = np.ldexp(values, random.integers(-3, 3, shape))
    if type_ == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(HELD[type_])


def exact(matrix, type_):
    """float64; of tf32 what the hardware sees of it."""
    if type_ == "bf16":
        return (matrix.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if type_ == "tf32":
        bits = matrix.view(np.uint32) & np.uint32(0xFFFFE000)
        return bits.view(np.float32).astype(np.float64)
    return matrix.astype(np.float64)


def bound(a, b, c, depth, type_):
    """How far d [m, n] may be from a b + c, float64 all: one rounding, and what float64 loses.

    The exact sum is rounded to type_ once, by half a unit in its last place; the additions before
    that are in float64, each with an error of 2^-53 of the magnitudes added.
    """
    if type_ == "s32":
        return np.zeros(c.shape)
    largest = np.abs(a) @ np.abs(b) + np.abs(c)
    return 2.0 ** -_KEPT[type_] * np.abs(a @ b + c) + (depth + 1) * 2.0**-53 * 2 * largest


def in_memory(matrix, by_rows, pad, elements):
    """(the elements as they lie, elements from line to line)."""
    lines = matrix if by_rows else matrix.T
    apart = lines.shape[1] + pad
    flat = np.full(elements, 85, matrix.dtype)
    place = np.arange(lines.shape[0])[:, None] * apart + np.arange(lines.shape[1])
    flat[place] = lines
    return flat, apart


PLACES = (0, 8192, 16_384, 26_624)  # bytes: where a, b and c of tensor_wmma.cu begin, and the end


def one_memory(*flat):
    """a, b and c as they lie, each at its place."""
    memory = np.full(PLACES[-1], 85, np.uint8)
    for place, part in zip(PLACES, flat, strict=False):
        memory[place : place + part.nbytes] = part.view(np.uint8)
    return memory.view(np.uint32)


def from_memory(flat, shape, by_rows, apart):
    """The matrix of in_memory, again."""
    lines, length = shape if by_rows else shape[::-1]
    place = np.arange(lines)[:, None] * apart + np.arange(length)
    return flat[place] if by_rows else flat[place].T
