"""What half and bfloat16 should give, from fractions: everything is raw bits, uint16.

NumPy has no bfloat16, and bits tell zeros and NaNs apart.
"""

import math
from fractions import Fraction

import numpy as np

from tests.simulator.exact_arithmetic import NAN, rounded, value
from tests.simulator.golden.stored import MOST

FORMATS = {"half": ("f16", 0x7C00), "bfloat": ("bf16", 0x7F80)}


def raw_numbers(type_name, seed, specials=True, count=MOST):
    """Numbers of moderate size; with specials, zeros, infinities, NaNs and extremes too."""
    random = np.random.default_rng(seed)
    drawn = (
        random.uniform(1, 2, count)
        * np.exp2(random.integers(-6, 7, count))
        * random.choice([-1, 1], count)
    )
    found = [rounded(Fraction(v), type_name) for v in drawn]
    if specials:
        infinity = 0x7C00 if type_name == "f16" else 0x7F80
        edges = [0, infinity, infinity | 1, 1, 5, infinity - 1, rounded(Fraction(1), type_name)]
        edges += [edge | 0x8000 for edge in edges]
        for place, edge in zip(random.permutation(count), edges + edges, strict=False):
            found[place] = edge
    return np.array(found, np.uint16)


def extended(function, type_name, zero_sign=1):
    """A function of fractions as one of bits: infinities and NaN as Python's floats have them."""

    def on_bits(*raw):
        values = [value(int(r), type_name) for r in raw]
        if all(isinstance(v, Fraction | int) for v in values):
            try:
                return rounded(
                    function(*values),
                    type_name,
                    zero_sign=zero_sign(*raw) if callable(zero_sign) else zero_sign,
                )
            except ZeroDivisionError:
                pass
        numbers = [
            math.nan if v == NAN else math.copysign(float(v), -1 if r >> 15 else 1)
            for v, r in zip(values, raw, strict=True)
        ]
        try:
            result = function(*numbers)
        except ZeroDivisionError:
            top, bottom = numbers if len(numbers) == 2 else (1.0, numbers[0])
            result = (
                math.nan
                if top == 0 or math.isnan(top)
                else math.copysign(math.inf, top) * math.copysign(1, bottom)
            )
        if math.isnan(result):
            return NAN
        if math.isinf(result):
            return rounded(result, type_name)
        return rounded(Fraction(result), type_name, zero_sign=math.copysign(1, result))

    return on_bits


def negative(raw):
    return bool(int(raw) >> 15)


def sign_of_sum(p, q):
    return -1 if negative(p) and negative(q) else 1


def sign_of_difference(p, q):
    return -1 if negative(p) and not negative(q) else 1


def sign_of_product(p, q):
    return -1 if negative(p) != negative(q) else 1


def sign_of_fused(p, q, r):
    return -1 if sign_of_product(p, q) < 0 and negative(r) else 1


def check_bits(got, want, type_name, what=""):
    """Bits as they should be; NAN where any NaN will do."""
    infinity = 0x7C00 if type_name == "f16" else 0x7F80
    wrong = [
        (k, hex(g), w if w == NAN else hex(w))
        for k, (g, w) in enumerate(zip(map(int, got), want, strict=True))
        if (g & 0x7FFF <= infinity if w == NAN else g != w)
    ]
    assert not wrong, f"{what}: {len(wrong)} differ, (place, got, want): {wrong[:5]}"


def is_nan(raw, type_name):
    return value(int(raw), type_name) == NAN


def ordered(p, type_name):
    """Bits as an integer that orders as the numbers do, -0 before +0."""
    return -(int(p) & 0x7FFF) - 1 if negative(p) else int(p)


def smaller(p, q, type_name, keeps_nan=False, larger=False):
    if is_nan(p, type_name) or is_nan(q, type_name):
        both = is_nan(p, type_name) and is_nan(q, type_name)
        if keeps_nan or both:
            return NAN
        return int(q) if is_nan(p, type_name) else int(p)
    pick = max if larger else min
    return pick(int(p), int(q), key=lambda v: ordered(v, type_name))


def saturated(raw, type_name):
    """Clamped to [0, 1]; NaN gives zero."""
    if raw == NAN or negative(raw):
        return 0
    return min(raw, rounded(Fraction(1), type_name))


def relu(raw):
    return raw if raw == NAN else 0 if negative(raw) else raw
