"""Stored PTX of the two formats of 8 bits: nearest numbers by trying all of them."""

import math
from bisect import bisect_left
from fractions import Fraction

import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import MOST, SIZES, VERSIONS, kernel, poisoned

pytestmark = pytest.mark.parametrize("version", VERSIONS)

MANTISSA = {"e4m3": 3, "e5m2": 2}  # bits
BIAS = {"e4m3": 7, "e5m2": 15}
LARGEST = {"e4m3": 0x7E, "e5m2": 0x7B}
NAN = 0x7F
INFINITY_E5M2 = 0x7C


def decoded(bits, name):
    """What a byte stands for; the OCP formats: e4m3 has no infinity and one NaN of each sign."""
    size, sign = bits & 0x7F, -1.0 if bits >> 7 else 1.0
    if name == "e4m3" and size == 0x7F:
        return math.nan
    if name == "e5m2" and size >= 0x7C:
        return sign * math.inf if size == 0x7C else math.nan
    exponent, fraction = size >> MANTISSA[name], size & (1 << MANTISSA[name]) - 1
    whole = fraction + (1 << MANTISSA[name]) * bool(exponent)
    return sign * math.ldexp(whole, max(exponent, 1) - BIAS[name] - MANTISSA[name])


FINITE = {name: [Fraction(decoded(b, name)) for b in range(LARGEST[name] + 1)] for name in MANTISSA}


def encoded(number, name, saturates=True):
    """The byte nearest to a float; a tie goes to the even one."""
    if math.isnan(number):
        return NAN
    sign = 0x80 if math.copysign(1, number) < 0 else 0
    ladder, largest = FINITE[name], LARGEST[name]
    over = INFINITY_E5M2 if not saturates else largest
    if math.isinf(number):
        return sign | over
    size = abs(Fraction(number))
    if size >= ladder[-1]:
        half_a_step = (ladder[-1] - ladder[-2]) / 2
        return sign | (over if size >= ladder[-1] + half_a_step else largest)
    above = bisect_left(ladder, size)
    if ladder[above] == size:
        return sign | above
    below, down, up = above - 1, size - ladder[above - 1], ladder[above] - size
    return sign | (below if down < up or (down == up and below % 2 == 0) else above)


def numbers():
    random = np.random.default_rng(1)
    f = (
        random.uniform(1, 2, MOST)
        * np.exp2(random.integers(-18, 18, MOST))
        * random.choice([-1, 1], MOST)
    ).astype(np.float32)
    f[:24] = [0, -0.0, np.inf, -np.inf, np.nan, 448, 449, 464, 465, 57344, 61439, 61440, 1e30,
    2.0**-9, 2.0**-10,
              2.0**-16, 2.0**-17, 1.0625, 1.1875, 1.125, 1.375, -448, -1e9,
              3 * 2.0**-11]  # fmt: skip
    return f


def test_floats_to_bytes(version):
    f = numbers()
    d = f.astype(np.float64)
    d[30:34] = [1.0625 + 2.0**-45, 1.0625 - 2.0**-45, 1.1875 + 2.0**-45, 3 * 2.0**-11 + 2.0**-60]
    for n in SIZES:
        y = poisoned((4, n), np.uint8)
        run(
            kernel(version, "float8/float8_from"), -(-n // 32), 32, f[:n].copy(), d[:n].copy(), y, n
        )
        want = [[encoded(float(v), name) for v in f[:n]] for name in ("e4m3", "e5m2")]
        want.append([encoded(float(v), "e4m3") for v in d[:n]])
        want.append([encoded(float(v), "e5m2", saturates=False) for v in f[:n]])
        for got, wanted, name in zip(
            y.tolist(), want, ("e4m3", "e5m2", "e4m3", "e5m2"), strict=True
        ):
            for k, (g, w) in enumerate(zip(got, wanted, strict=True)):
                assert g == w or (math.isnan(decoded(g, name)) and w == NAN), (
                    name,
                    k,
                    f[k],
                    hex(g),
                    hex(w),
                )


def test_all_bytes_to_floats(version):
    raw = np.arange(256, dtype=np.uint8)
    y, h = poisoned((2, 256), np.float32), poisoned((2, 256), np.float16)
    run(kernel(version, "float8/float8_to"), 4, 64, raw, y, h, 256)
    for k, name in enumerate(("e4m3", "e5m2")):
        want = np.array([decoded(b, name) for b in range(256)])
        np.testing.assert_array_equal(y[k], want.astype(np.float32))
        np.testing.assert_array_equal(h[k], want.astype(np.float16))
        np.testing.assert_array_equal(np.signbit(y[k][[0, 128]]), [False, True])


def test_a_dot_product_of_four_bytes_each(version):
    random = np.random.default_rng(2)
    a, b = (random.integers(0, 0x60, (MOST, 4)).astype(np.uint8) for _ in range(2))
    y = poisoned(MOST, np.float32)
    run(kernel(version, "float8/float8_dot"), -(-MOST // 32), 32, a, b, y, MOST)
    values = np.array([decoded(v, "e4m3") for v in range(256)])
    np.testing.assert_allclose(y, (values[a] * values[b]).sum(axis=1), rtol=1e-6)
