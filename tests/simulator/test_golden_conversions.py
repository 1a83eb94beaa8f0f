"""Stored PTX of conversions gives what C++ and the PTX ISA say of every pair of types."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.exact_arithmetic import rounded
from tests.simulator.golden.stored import (
    MOST,
    SIZES,
    VERSIONS,
    assert_same_bits,
    floats,
    integers,
    kernel,
    poisoned,
    with_specials,
)

pytestmark = pytest.mark.parametrize("version", VERSIONS)

INTEGERS = {"s8": np.int8, "u8": np.uint8, "s16": np.int16, "u16": np.uint16, "s32": np.int32,
            "u32": np.uint32, "s64": np.int64, "u64": np.uint64}  # fmt: skip
FLOATS = {"f32": np.float32, "f64": np.float64}
WHOLE = {"rn": round, "rz": math.trunc, "rp": math.ceil, "rm": math.floor}


def to_integer(number, type_name, source, mode="rz"):
    """A number as an integer: out of range the nearest; NaN as the PTX ISA says of `cvt`."""
    info = np.iinfo(INTEGERS[type_name])
    if math.isnan(number):
        return 1 << (info.bits - 1) if source == "f64" or info.bits == 64 else 0
    if math.isinf(number):
        return info.max if number > 0 else info.min
    return max(info.min, min(info.max, WHOLE[mode](number)))


def to_float(number, type_name, mode="rn"):
    """A number as raw bits of a float, from an integer or a float."""
    if isinstance(number, float) and not math.isfinite(number):
        raw = rounded("nan" if math.isnan(number) else number, type_name, mode)
        return {"f32": 0x7FC00000, "f64": 0x7FF8 << 48}[type_name] if raw == "nan" else raw
    return rounded(Fraction(number), type_name, mode, math.copysign(1, number))


def integer_array(values, dtype):
    bits = np.iinfo(dtype).bits
    return np.array([int(v) % (1 << bits) for v in values], f"u{bits // 8}").view(dtype)


def float_array(values, dtype):
    return np.array(values, f"u{np.dtype(dtype).itemsize}").view(dtype)


def input_of(name):
    if name in INTEGERS:
        return integers(INTEGERS[name], 1)
    values = floats(FLOATS[name], 2, low=-3, high=66)
    values[::2] = floats(FLOATS[name], 3, low=-3, high=8)[::2]
    return values


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_every_type_becomes_every_other(version, name):
    """To 8 and 16 bits C++ promises nothing out of range: the numbers stay inside there."""
    x = input_of(name)
    numbers = [float(v) if name in FLOATS else int(v) for v in x]
    for n in SIZES:
        outputs = {t: poisoned(n, d) for t, d in (INTEGERS | FLOATS).items()}
        run(
            kernel(version, f"conversions/convert_{name}"),
            -(-n // 32),
            32,
            x[:n].copy(),
            *outputs.values(),
            n,
        )
        for type_name, got in outputs.items():
            if type_name in FLOATS:
                want = float_array([to_float(v, type_name) for v in numbers[:n]], FLOATS[type_name])
                assert_same_bits(got, want, type_name)
            elif name in INTEGERS:
                assert_same_bits(got, integer_array(numbers[:n], INTEGERS[type_name]), type_name)
            else:
                info = np.iinfo(INTEGERS[type_name])
                inside = [
                    k
                    for k, v in enumerate(numbers[:n])
                    if info.bits > 16 or info.min <= v <= info.max
                ]
                want = [to_integer(numbers[k], type_name, name) for k in inside]
                assert_same_bits(got[inside], integer_array(want, INTEGERS[type_name]), type_name)
                assert n < MOST or len(inside) > 20


def test_floats_rounded_to_integers(version):
    f, d = with_specials(input_of("f32"), 1), with_specials(input_of("f64"), 2)
    p, q = [float(v) for v in f], [float(v) for v in d]
    modes = ("rn", "rz", "rp", "rm")
    words = [[to_integer(v, "s32", "f32", m) for v in p] for m in modes]
    words += [[to_integer(v, "u32", "f32", m) for v in p] for m in modes]
    words += [[to_integer(v, "s32", "f64", m) for v in q] for m in modes]
    words += [[to_integer(v, "u32", "f64", m) for v in q] for m in ("rn", "rz")]
    words.append([to_integer(v, "s64", "f32", "rn") for v in p])  # lrintf, cut to 32 bits
    longs = [[to_integer(v, "s64", "f32", m) for v in p] for m in modes]
    longs += [[to_integer(v, "u64", "f32", m) for v in p] for m in ("rn", "rz")]
    longs += [[to_integer(v, "s64", "f64", m) for v in q] for m in modes]
    longs += [[to_integer(v, "u64", "f64", m) for v in q] for m in ("rn", "rm")]
    for n in SIZES:
        y32, y64 = poisoned((16, n), np.int32), poisoned((12, n), np.int64)
        run(
            kernel(version, "conversions/rounded_to_integer"),
            -(-n // 32),
            32,
            f[:n].copy(),
            d[:n].copy(),
            y32,
            y64,
            n,
        )
        for k, row in enumerate(words):
            assert_same_bits(y32[k], integer_array(row[:n], np.int32), f"word {k}")
        for k, row in enumerate(longs):
            assert_same_bits(y64[k], integer_array(row[:n], np.int64), f"long {k}")
        small = np.abs(f[:n]) < 2**31
        away = [
            math.copysign(math.floor(abs(Fraction(v)) + Fraction(1, 2)), v)
            for v in f[:n][small].tolist()
        ]
        np.testing.assert_array_equal(y32[15][small], np.array(away))  # lroundf


def test_numbers_rounded_to_floats(version):
    s, w = integers(np.int32, 3), integers(np.int64, 4)
    d = with_specials(floats(np.float64, 5, low=-160, high=140), 5)
    modes = ("rn", "rz", "rp", "rm")

    def singles(s, w, d):
        sources = (s, s % 2**32, w, w % 2**64, d)
        return [to_float(v, "f32", mode) for v in sources for mode in modes]

    def doubles(s, w):
        row = [to_float(s, "f64"), to_float(s % 2**32, "f64")]
        return row + [to_float(v, "f64", mode) for v in (w, w % 2**64) for mode in modes]

    columns = [(int(a), int(b), float(c)) for a, b, c in zip(s, w, d, strict=True)]
    want32 = [list(row) for row in zip(*(singles(*c) for c in columns), strict=True)]
    want64 = [list(row) for row in zip(*(doubles(*c[:2]) for c in columns), strict=True)]
    for n in SIZES:
        y32, y64 = poisoned((20, n), np.float32), poisoned((10, n), np.float64)
        run(
            kernel(version, "conversions/rounded_to_float"),
            -(-n // 32),
            32,
            s[:n].copy(),
            w[:n].copy(),
            d[:n].copy(),
            y32,
            y64,
            n,
        )
        assert_same_bits(y32, float_array([row[:n] for row in want32], np.float32))
        assert_same_bits(y64, float_array([row[:n] for row in want64], np.float64))


def test_the_same_bits_as_another_type(version):
    s, w = integers(np.int32, 6), integers(np.int64, 7)
    for n in SIZES:
        f, d, sy, ly = (poisoned(n, t) for t in (np.float32, np.float64, np.int32, np.int64))
        run(
            kernel(version, "conversions/same_bits"),
            -(-n // 32),
            32,
            s[:n].copy(),
            w[:n].copy(),
            f,
            d,
            sy,
            ly,
            n,
        )
        np.testing.assert_array_equal(f.view(np.int32), s[:n])
        np.testing.assert_array_equal(d.view(np.int64), w[:n])
        np.testing.assert_array_equal(sy, s[:n] ^ 1)
        np.testing.assert_array_equal(ly, [int(v) << 32 | int(~v) & 0xFFFFFFFF for v in s[:n]])
