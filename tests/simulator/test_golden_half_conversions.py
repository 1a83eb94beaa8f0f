"""Stored PTX of conversions from and to half and bfloat16, rounded once."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.exact_arithmetic import NAN, rounded, value
from tests.simulator.golden.halves import FORMATS, check_bits, raw_numbers
from tests.simulator.golden.stored import MOST, SIZES, VERSIONS, integers, kernel, poisoned, rows

pytestmark = pytest.mark.parametrize("version", VERSIONS)


def inputs_to_convert(type_name, seed):
    random = np.random.default_rng(seed)
    f = (random.uniform(-2, 2, MOST) * np.exp2(random.integers(-30, 20, MOST))).astype(np.float32)
    f[:8] = [0, -0.0, np.inf, -np.inf, np.nan, 65520, 1e38, -1e-9]
    d = random.uniform(-2, 2, MOST) * np.exp2(random.integers(-30, 18, MOST))
    d[:2] = [1 + 2.0**-11 + 2.0**-40, -(1 + 2.0**-8 + 2.0**-40)]  # two roundings would lose them
    return f, d, integers(np.int32, seed + 1), integers(np.uint64, seed + 2)


def converted(number, type_name, mode="rn"):
    if isinstance(number, float) and not math.isfinite(number):
        return NAN if math.isnan(number) else rounded(number, type_name, mode)
    return rounded(Fraction(number), type_name, mode, math.copysign(1, number))


def short(v):
    return (v + 2**15) % 2**16 - 2**15


@pytest.mark.parametrize("name", FORMATS)
def test_conversions_from_other_types(version, name):
    type_name, _ = FORMATS[name]
    f, d, s, u = inputs_to_convert(type_name, 9)

    def results(f, d, s, u):
        row = [converted(f, type_name, mode) for mode in ("rn", "rz", "rp", "rm")]
        row += [converted(d, type_name), converted(s, type_name), converted(s, type_name, "rz")]
        row += [converted(s % 2**32, type_name), converted(u, type_name)]
        if name == "half":
            row.append(converted(u - (u >> 63 << 64), type_name))
        row.append(converted(short(s), type_name))
        if name == "half":
            row.append(converted(s % 2**16, type_name, "rm"))
        return [*row, s & 0xFFFF]

    columns = [
        results(float(p), float(q), int(r), int(v)) for p, q, r, v in zip(f, d, s, u, strict=True)
    ]
    want = [list(row) for row in zip(*columns, strict=True)]
    for n, y in rows(version, f"{name}/{name}_from", [f, d, s, u], np.uint16, len(want)):
        for k, row in enumerate(want):
            check_bits(y[k], row[:n], type_name, f"result {k}")


@pytest.mark.parametrize("name", FORMATS)
def test_conversions_to_other_types(version, name):
    """Out of range: the nearest integer of the type. NaN: what the PTX ISA says of `cvt`."""
    type_name, _ = FORMATS[name]
    a = raw_numbers(type_name, 12)
    numbers = [value(int(r), type_name) for r in a]
    modes = {"rn": round, "rz": math.trunc, "rp": math.ceil, "rm": math.floor}

    def integer(v, mode, bits, signed=True):
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        if v == NAN:  # zero, but for 64 bits
            return 1 << 63 if bits == 64 else 0
        return max(
            low,
            min(high, modes[mode](v) if isinstance(v, Fraction | int) else high if v > 0 else low),
        )

    words = [[integer(v, mode, 32) for v in numbers] for mode in modes]
    words += [
        [integer(v, "rn", 32, False) for v in numbers],
        [integer(v, "rz", 16) for v in numbers],
    ]
    if name == "half":
        words.append([integer(v, "rm", 16, False) for v in numbers])
    words.append([integer(v, "rz", 32) for v in numbers])
    want = np.array(words, np.int64).astype(np.uint32).view(np.int32)
    longs = [
        [integer(v, "rz", 64) for v in numbers],
        [integer(v, "rn", 64, False) % 2**64 for v in numbers],
    ]
    singles = np.array([math.nan if v == NAN else float(v) for v in numbers], np.float32)
    for n in SIZES:
        f, s, longs_found = (
            poisoned(n, np.float32),
            poisoned((len(want), n), np.int32),
            poisoned((2, n), np.uint64),
        )
        arguments = [a[:n].copy(), f, s, *([longs_found] if name == "half" else []), n]
        run(kernel(version, f"{name}/{name}_to"), -(-n // 32), 32, *arguments)
        np.testing.assert_array_equal(f, singles[:n])
        np.testing.assert_array_equal(s, want[:, :n])
        if name == "half":
            assert longs_found.tolist() == [[v % 2**64 for v in row[:n]] for row in longs]
