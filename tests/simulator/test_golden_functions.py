"""Stored PTX of mathematical functions stays within the error that NVIDIA documents for each.

The oracle is mpmath, at 200 bits. The bounds are those of the CUDA C++ Programming Guide,
"Mathematical Functions": units in the last place of the true result.
"""

from functools import cache

import mpmath
import numpy as np
import pytest

from tests.simulator.compiled import run
from tests.simulator.golden.stored import MOST, SIZES, VERSIONS, kernel, poisoned, results, rows

pytestmark = pytest.mark.parametrize("version", VERSIONS)

mpmath.mp.prec = 200


def random(low, high, seed=0):
    return np.random.default_rng(seed).uniform(low, high, MOST)


def magnitudes(low, high, seed=0, signed=True):
    """Powers of two from low to high, and all between them."""
    drawn = np.random.default_rng(seed)
    return np.exp2(drawn.uniform(low, high, MOST)) * (drawn.choice([-1, 1], MOST) if signed else 1)


def with_ones(values):
    return np.concatenate([[0.0, 1.0, -1.0, 0.5], values])[:MOST]


POSITIVE = magnitudes(-120, 120, signed=False)
UNIT = random(-1, 1)
# Up to 105615 Cody and Waite's reduction serves; above it Payne and Hanek's, through a table.
ANGLES = np.concatenate([random(-4, 4)[:40], magnitudes(10, 120)[:60]])
LARGE_ANGLES = np.concatenate([ANGLES[:60], magnitudes(40, 1000)[:40]])

# fmt: off
OF_FLOAT = {
    #  name      true value                            inputs                         ulp
    "expf":     (mpmath.exp,                           with_ones(random(-100, 88)),   1),
    "exp2f":    (lambda x: mpmath.mpf(2) ** x,         with_ones(random(-140, 127)),  2),
    "exp10f":   (lambda x: mpmath.mpf(10) ** x,        with_ones(random(-40, 38)),    2),
    "expm1f":   (mpmath.expm1,                         magnitudes(-20, 6.4),          1),
    "logf":     (mpmath.log,                           POSITIVE,                      1),
    "log2f":    (lambda x: mpmath.log(x, 2),           POSITIVE,                      1),
    "log10f":   (mpmath.log10,                         POSITIVE,                      2),
    "log1pf":   (mpmath.log1p,                         magnitudes(-20, 60, signed=False), 1),
    "sinf":     (mpmath.sin,                           ANGLES,                        2),
    "cosf":     (mpmath.cos,                           ANGLES,                        2),
    "tanf":     (mpmath.tan,                           ANGLES,                        4),
    "sinpif":   (mpmath.sinpi,                         random(-300, 300),             2),
    "cospif":   (mpmath.cospi,                         random(-300, 300),             2),
    "asinf":    (mpmath.asin,                          UNIT,                          2),
    "acosf":    (mpmath.acos,                          UNIT,                          2),
    "atanf":    (mpmath.atan,                          magnitudes(-20, 60),           2),
    "sinhf":    (mpmath.sinh,                          random(-88, 88),               3),
    "coshf":    (mpmath.cosh,                          random(-88, 88),               2),
    "tanhf":    (mpmath.tanh,                          magnitudes(-20, 5),            2),
    "asinhf":   (mpmath.asinh,                         magnitudes(-20, 60),           3),
    "acoshf":   (mpmath.acosh,                         1 + magnitudes(-20, 60, signed=False), 4),
    "atanhf":   (mpmath.atanh,                         UNIT * 0.999,                  3),
    "erff":     (mpmath.erf,                           magnitudes(-20, 3),            2),
    "erfcf":    (mpmath.erfc,                          random(-5, 9),                 4),
    "erfinvf":  (mpmath.erfinv,                        UNIT * 0.999,                  2),
    "normcdff": (mpmath.ncdf,                          random(-5, 5),                 5),
    "tgammaf":  (mpmath.gamma,                         random(-30, 34),               5),
    "lgammaf":  (lambda x: mpmath.log(abs(mpmath.gamma(x))), random(0.01, 500),       6),
    "rsqrtf":   (lambda x: 1 / mpmath.sqrt(x),         POSITIVE,                      2),
    "cbrtf":    (mpmath.cbrt,                          POSITIVE,                      1),
}
OF_DOUBLE = {
    "exp":      (mpmath.exp,                           with_ones(random(-740, 709)),  1),
    "exp2":     (lambda x: mpmath.mpf(2) ** x,         with_ones(random(-1060, 1023)), 1),
    "expm1":    (mpmath.expm1,                         magnitudes(-40, 9),            1),
    "log":      (mpmath.log,                           magnitudes(-1000, 1000, signed=False), 1),
    "log2":     (lambda x: mpmath.log(x, 2),           magnitudes(-1000, 1000, signed=False), 1),
    "log10":    (mpmath.log10,                         magnitudes(-1000, 1000, signed=False), 1),
    "log1p":    (mpmath.log1p,                         magnitudes(-50, 900, signed=False), 1),
    "sin":      (mpmath.sin,                           np.concatenate([ANGLES[:60], magnitudes(40,
    1000)[:40]]), 2),
    "cos":      (mpmath.cos,                           np.concatenate([ANGLES[:60], magnitudes(40,
    1000)[:40]]), 2),
    "tan":      (mpmath.tan,                           np.concatenate([ANGLES[:60], magnitudes(40,
    1000)[:40]]), 2),
    "asin":     (mpmath.asin,                          UNIT,                          2),
    "atan":     (mpmath.atan,                          magnitudes(-40, 60),           2),
    "sinh":     (mpmath.sinh,                          random(-700, 700),             2),
    "tanh":     (mpmath.tanh,                          magnitudes(-40, 6),            1),
    "erf":      (mpmath.erf,                           magnitudes(-40, 3),            2),
    "erfc":     (mpmath.erfc,                          random(-5, 26),                5),
    "rsqrt":    (lambda x: 1 / mpmath.sqrt(x),         magnitudes(-1000, 1000, signed=False), 1),
    "cbrt":     (mpmath.cbrt,                          magnitudes(-1000, 1000, signed=False), 1),
}
# fmt: on
OF_TWO = {
    "float_functions/k_powf": (
        mpmath.power,
        magnitudes(-20, 20, 1, signed=False),
        random(-5, 5),
        4,
    ),
    "float_functions/k_atan2f": (mpmath.atan2, magnitudes(-20, 20, 1), magnitudes(-20, 20, 2), 3),
    "float_functions/k_hypotf": (mpmath.hypot, magnitudes(-80, 80, 1), magnitudes(-80, 80, 2), 3),
    "double_functions/k_pow": (
        mpmath.power,
        magnitudes(-60, 60, 1, signed=False),
        random(-9, 9),
        2,
    ),
    "double_functions/k_atan2": (mpmath.atan2, magnitudes(-50, 50, 1), magnitudes(-50, 50, 2), 2),
    "double_functions/k_hypot": (
        mpmath.hypot,
        magnitudes(-700, 700, 1),
        magnitudes(-700, 700, 2),
        2,
    ),
}


@cache
def exact(name):
    """(inputs, true values, ulp) of a kernel, as its source spells it: k_expf."""
    if name in OF_TWO:
        function, x, z, ulp = OF_TWO[name]
        dtype = np.float32 if name.startswith("float") else np.float64
        inputs = [x.astype(dtype), z.astype(dtype)]
    else:
        source, function_name = name.split("/k_")
        dtype = np.float32 if source == "float_functions" else np.float64
        function, x, ulp = (OF_FLOAT if dtype is np.float32 else OF_DOUBLE)[function_name]
        inputs = [x.astype(dtype)]
    values = [function(*map(mpmath.mpf, map(float, args))) for args in zip(*inputs, strict=True)]
    return inputs, values, ulp


def errors_in_ulp(got, true):
    """How far each result lies from the true value, in units of the true value's last place."""
    digits, least = (24, -149) if got.dtype == np.float32 else (53, -1074)
    found = []
    for value, wanted in zip(got.tolist(), true, strict=True):
        exponent = max(mpmath.frexp(wanted)[1] - digits, least)
        found.append(abs(mpmath.mpf(value) - wanted) / mpmath.mpf(2) ** exponent)
    return [float(error) for error in found]


NAMES = [f"float_functions/k_{name}" for name in OF_FLOAT]
NAMES += [f"double_functions/k_{name}" for name in OF_DOUBLE] + list(OF_TWO)


@pytest.mark.parametrize("name", NAMES)
def test_functions_stay_within_their_documented_error(version, name):
    inputs, true, ulp = exact(name)
    whole = results(version, name, inputs, inputs[0].dtype, 1)[0]
    errors = errors_in_ulp(whole, true)
    worst = int(np.argmax(errors))
    assert np.isfinite(errors).all()
    # The guide measures from the correctly rounded result, half a unit from the true one.
    assert errors[worst] <= ulp + 0.5, f"{name}({[x[worst] for x in inputs]}): {errors[worst]} ulp"
    for n, y in rows(version, name, inputs, inputs[0].dtype, 1, sizes=SIZES[:-1]):
        np.testing.assert_array_equal(y[0], whole[:n])


def test_sine_and_cosine_at_once(version):
    x = ANGLES.astype(np.float32)
    y = results(version, "float_functions/k_sincosf", [x], np.float32, 2)
    for got, function in zip(y, (mpmath.sin, mpmath.cos), strict=True):
        assert max(errors_in_ulp(got, [function(mpmath.mpf(float(v))) for v in x])) <= 2.5


def test_a_cube_and_a_sigmoid(version):
    x = random(-30, 30).astype(np.float32)
    y = results(version, "float_functions/k_powif", [x], np.float32, 1)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(y[0], wide**3 + 1 / (1 + np.exp(-wide)), rtol=4e-7)


def test_edges_of_the_functions(version):
    """Where the guide promises exact results: at zero, at infinity, outside the domain."""
    inf, nan = np.inf, np.nan
    edges = {
        "expf": {0.0: 1.0, inf: inf, -inf: 0.0, nan: nan, 200.0: inf, -200.0: 0.0},
        "logf": {1.0: 0.0, 0.0: -inf, inf: inf, -1.0: nan, nan: nan},
        "sinf": {0.0: 0.0, inf: nan, -inf: nan, nan: nan},
        "cosf": {0.0: 1.0, inf: nan},
        "tanhf": {0.0: 0.0, inf: 1.0, -inf: -1.0, 40.0: 1.0},
        "erff": {0.0: 0.0, inf: 1.0, -inf: -1.0},
        "rsqrtf": {1.0: 1.0, 0.0: inf, inf: 0.0, -1.0: nan, 4.0: 0.5},
        "acosf": {1.0: 0.0, 2.0: nan},
        "cbrtf": {0.0: 0.0, inf: inf, -inf: -inf, 27.0: 3.0},
    }
    for name, cases in edges.items():
        x = np.array(list(cases), np.float32)
        y = poisoned(len(x), np.float32)
        run(kernel(version, f"float_functions/k_{name}"), 1, 32, x, y, len(x))
        np.testing.assert_array_equal(y, np.array(list(cases.values()), np.float32), name)


def test_fast_functions_stay_within_their_documented_error(version):
    """The guide's table of intrinsics: absolute errors near one and in [-pi, pi], else ulp."""
    x = random(-3.1, 3.1, 5).astype(np.float32)
    z = magnitudes(-30, 30, 6, signed=False).astype(np.float32)
    z[:40] = random(0.5, 2, 7)[:40]
    y = results(version, "fast_functions/fast_functions", [x, z], np.float32, 14)
    with mpmath.workprec(100):
        p, q = [mpmath.mpf(float(v)) for v in x], [mpmath.mpf(float(v)) for v in z]
        near_one = (z >= 0.5) & (z <= 2)

        def ulps(row, true):
            return np.array(errors_in_ulp(y[row], true))

        def distances(row, true):
            return np.array(
                [float(abs(mpmath.mpf(g) - t)) for g, t in zip(y[row].tolist(), true, strict=True)]
            )

        assert (ulps(0, [mpmath.exp(v) for v in p]) <= 2.5 + np.floor(np.abs(1.173 * x))).all()
        assert (ulps(1, [mpmath.mpf(10) ** v for v in p]) <= 2.5 + np.floor(np.abs(2.97 * x))).all()
        logs = [
            (2, mpmath.log, -21.41, 3),
            (3, lambda v: mpmath.log(v, 2), -22, 2),
            (4, mpmath.log10, -24, 3),
        ]
        for row, function, absolute, ulp in logs:
            true = [function(v) for v in q]
            assert (distances(row, true)[near_one] <= 2.0**absolute).all()
            assert (ulps(row, true)[~near_one] <= ulp + 0.5).all()
        sines, cosines = [mpmath.sin(v) for v in p], [mpmath.cos(v) for v in p]
        for row, true, absolute in (
            (5, sines, -21.41),
            (6, cosines, -21.19),
            (12, sines, -21.41),
            (13, cosines, -21.19),
        ):
            assert (distances(row, true) <= 2.0**absolute).all()
        away = np.abs(np.cos(x)) > 0.1
        tangents = np.array([float(s / c) for s, c in zip(sines, cosines, strict=True)])
        np.testing.assert_allclose(y[7][away], tangents[away], rtol=2e-5, atol=1e-6)
        # __powf(q, p) is exp2(p log2 q): the error of the product grows with its size.
        powers = np.array([float(b**e) for b, e in zip(q, p, strict=True)])
        np.testing.assert_allclose(y[8], powers, rtol=2e-5)
        assert (ulps(9, [a / b for a, b in zip(p, q, strict=True)]) <= 2.5).all()
        roots = [1 / mpmath.sqrt(v) for v in q]
        assert (ulps(10, roots) <= 0.5).all()
        assert (ulps(11, roots) <= 2.5).all()


def test_approximate_instructions_by_inline_assembly(version):
    x = random(-20, 20, 8).astype(np.float32)
    y = results(version, "fast_functions/approximate_instructions", [x], np.float32, 6)
    wide = x.astype(np.float64)
    size = np.abs(wide)
    want = [
        np.tanh(wide),
        np.exp2(wide),
        np.log2(size),
        1 / wide,
        np.sqrt(size),
        wide / (x + np.float32(3)),
    ]
    for got, true, relative in zip(
        y, want, (2.0**-10.9, 4e-7, 4e-7, 2e-7, 3e-7, 3e-7), strict=True
    ):
        np.testing.assert_allclose(got, true, rtol=relative, atol=1e-7)
