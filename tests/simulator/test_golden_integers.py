"""Stored PTX of integer kernels gives what Python's integers say."""

import numpy as np
import pytest

from tests.simulator.golden.stored import MOST, VERSIONS, check_rows, integers

pytestmark = pytest.mark.parametrize("version", VERSIONS)

TYPES = {
    "s8": np.int8,
    "u8": np.uint8,
    "s16": np.int16,
    "u16": np.uint16,
    "s32": np.int32,
    "u32": np.uint32,
    "s64": np.int64,
    "u64": np.uint64,
}


def wrapped(value, bits, signed=True):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def table(dtype, inputs, results):
    """want [results][MOST]: each row wrapped to the type."""
    bits, signed = 8 * np.dtype(dtype).itemsize, np.dtype(dtype).kind == "i"
    columns = [results(*(int(v) for v in values)) for values in zip(*inputs, strict=True)]
    return np.array(
        [[wrapped(v, bits, signed) for v in row] for row in zip(*columns, strict=True)], dtype
    )


@pytest.mark.parametrize("type_name", TYPES)
def test_arithmetic_of_every_width(version, type_name):
    dtype = TYPES[type_name]
    last = 8 * np.dtype(dtype).itemsize - 1

    def results(p, q):
        compared = (p < q) + 2 * (p <= q) + 4 * (p == q) + 8 * (p != q)
        by_logic = int(not p or (q & 1 and p > 5))
        shift = q & last
        return [p + q, p - q, p * q, p & q, p | q, p ^ q, ~p, -p, min(p, q), max(p, q), p << shift,
                p >> shift, p * q + p, abs(p), compared, by_logic]  # fmt: skip

    a, b = integers(dtype, 1), integers(dtype, 2)
    check_rows(
        version, f"integer_arithmetic/arithmetic_{type_name}", [a, b], table(dtype, [a, b], results)
    )


@pytest.mark.parametrize("type_name", TYPES)
def test_division_by_variables_and_constants(version, type_name):
    dtype = TYPES[type_name]

    def results(p, q):
        pairs = []
        for divisor in (q, 3, 7, 16, 100, 125):
            quotient = abs(p) // abs(divisor) * (-1 if (p < 0) != (divisor < 0) else 1)
            pairs += [quotient, p - divisor * quotient]
        return pairs

    a, b = integers(dtype, 3), integers(dtype, 4)
    b[b == 0] = 5
    if np.iinfo(dtype).min < 0:
        b[(a == np.iinfo(dtype).min) & (b == -1)] = 9  # no quotient of C++
    check_rows(
        version, f"integer_division/division_{type_name}", [a, b], table(dtype, [a, b], results)
    )


def bytes_of(word):
    return [word >> 8 * k & 255 for k in range(4)]


def word_of(parts, bits=8):
    return sum((part & ((1 << bits) - 1)) << bits * k for k, part in enumerate(parts))


def signed_halves(word):
    return [wrapped(word >> 16 * k, 16) for k in range(2)]


def permuted(p, q, selector):
    source = bytes_of(p) + bytes_of(q)
    return word_of([source[selector >> 4 * k & 7] for k in range(4)])


def lowest_bit(v):
    return (v & -v).bit_length()


def test_bits_of_words(version):
    def results(p, q, r):
        both, shift, clamped = q << 32 | p, r & 31, min(r, 32)
        pairs = list(zip(bytes_of(p), bytes_of(q), strict=True))
        halves = [(p & 0xFFFF, q & 0xFFFF), (p >> 16, q >> 16)]
        return [
            32 - p.bit_length(), lowest_bit(p), p.bit_count(), int(f"{p:032b}"[::-1], 2),
            both << shift >> 32, both >> shift, both << clamped >> 32, both >> clamped,
            permuted(p, q, r), permuted(p, 0, 0x0123), p << 5 | p >> 27, (p & q) ^ (~p & r),
            wrapped(p, 32) >> 3, word_of(a + b for a, b in pairs), word_of(abs(a - b) for a,
            b in pairs),
            word_of([max(a, b) for a, b in zip(signed_halves(p), signed_halves(q), strict=True)],
            16),
            word_of(255 * (a > b) for a, b in pairs), word_of([(a + b + 1) // 2 for a,
            b in halves], 16),
            sum(abs(a - b) for a, b in pairs), sum(abs(a - b) for a, b in halves),
            word_of(abs(wrapped(a, 8) - wrapped(b, 8)) for a, b in pairs),
        ]  # fmt: skip

    inputs = [integers(np.uint32, seed) for seed in (5, 6, 7)]
    check_rows(version, "integer_intrinsics/bits_32", inputs, table(np.uint32, inputs, results))


def test_bits_of_long_words(version):
    def results(p, q):
        s, shift = wrapped(p, 64), q & 63
        return [64 - p.bit_length(), lowest_bit(p), p.bit_count(), int(f"{p:064b}"[::-1], 2),
                p * q >> 64, s * wrapped(q, 64) >> 64, p << 13 | p >> 51, p >> shift, p << shift,
                s >> shift]  # fmt: skip

    inputs = [integers(np.uint64, seed) for seed in (8, 9)]
    check_rows(version, "integer_intrinsics/bits_64", inputs, table(np.uint64, inputs, results))


def test_upper_halves_and_dot_products(version):
    def signed_bytes(v):
        return [wrapped(b, 8) for b in bytes_of(v & 0xFFFFFFFF)]

    def dot(a, b, c):
        return c + sum(x * y for x, y in zip(a, b, strict=True))

    def results(p, q, r):
        u, v, w = (x & 0xFFFFFFFF for x in (p, q, r))
        return [
            p * q >> 32, u * v >> 32, wrapped(p, 24) * wrapped(q, 24),
            (u & 0xFFFFFF) * (v & 0xFFFFFF),
            dot(signed_bytes(p), signed_bytes(q), r), dot(bytes_of(u), bytes_of(v), w),
            dot(signed_halves(u), signed_bytes(q)[:2], r), dot(signed_halves(u),
            signed_bytes(q)[2:], r),
            p + q >> 1, p + q + 1 >> 1, u + v >> 1, u + v + 1 >> 1, abs(p - q) + w, abs(u - v) + w,
            min(max(p, -1000), 1000), abs(p), max(p, q, r), int(min(u, v, w) > 7),
        ]  # fmt: skip

    inputs = [integers(np.int32, seed) for seed in (10, 11, 12)]
    check_rows(version, "integer_intrinsics/products", inputs, table(np.int32, inputs, results))


def test_products_of_128_bits_by_carries(version):
    def results(p, q):
        return [p * q, p * q >> 64, p + q, p + q >> 64, p * q, (p & 0xFFFFFFFF) * (q & 0xFFFFFFFF),
                wrapped(p, 32) * wrapped(q, 32) - 1]  # fmt: skip

    inputs = [integers(np.uint64, seed) for seed in (13, 14)]
    assert any(int(p) + int(q) >> 64 for p, q in zip(*inputs, strict=True))  # a carry leaves
    check_rows(
        version, "integer_intrinsics/products_128", inputs, table(np.uint64, inputs, results)
    )


def test_the_inputs_reach_both_ends_of_their_types(version):
    for dtype in TYPES.values():
        values = integers(dtype, 1)
        assert len(values) == MOST
        assert {np.iinfo(dtype).min, np.iinfo(dtype).max} <= set(values.tolist())
