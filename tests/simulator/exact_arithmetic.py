"""What the instructions should give, from Python's integers and fractions alone: no NumPy.

A number is its raw bits. Floats are decoded to fractions; a fraction is rounded by counting units
of the last place.
"""

import math
from fractions import Fraction

NAN = "nan"
# Width and significant digits of each format.
FORMATS = {"f16": (16, 11), "bf16": (16, 8), "f32": (32, 24), "f64": (64, 53)}


def width_of(type_name):
    return 1 if type_name == "pred" else int(type_name.lstrip("bfsu").split("x")[0])


def signed(raw, width):
    return raw - (1 << width) if raw >> (width - 1) else raw


def number(raw, type_name):
    """The integer that the bits stand for."""
    return signed(raw, width_of(type_name)) if type_name.startswith("s") else raw


def wrapped(value, type_name):
    """The bits of an integer that may have left the range of its type."""
    return value & ((1 << width_of(type_name)) - 1)


def integer_range(type_name):
    width = width_of(type_name)
    if type_name.startswith("s"):
        return -(1 << (width - 1)), (1 << (width - 1)) - 1
    return 0, (1 << width) - 1


def clamped(value, type_name):
    low, high = integer_range(type_name)
    return max(low, min(high, value))


def layout(type_name):
    """(digits, bits of infinity, exponent of the smallest normal)."""
    width, digits = FORMATS[type_name]
    exponent_bits = width - digits
    infinity = ((1 << exponent_bits) - 1) << (digits - 1)
    return digits, infinity, 2 - (1 << (exponent_bits - 1))


def sign_of(raw, type_name):
    return -1 if raw >> (FORMATS[type_name][0] - 1) else 1


def magnitude(raw, type_name):
    return raw & ((1 << (FORMATS[type_name][0] - 1)) - 1)


def value(raw, type_name):
    """A float's bits as a fraction, as an infinity (a Python float), or as NAN."""
    digits, infinity, smallest = layout(type_name)
    size, sign = magnitude(raw, type_name), sign_of(raw, type_name)
    if size > infinity:
        return NAN
    if size == infinity:
        return sign * math.inf
    exponent, fraction = size >> (digits - 1), size & ((1 << (digits - 1)) - 1)
    if exponent:
        exponent, fraction = exponent - 1, fraction | 1 << (digits - 1)
    return sign * fraction * Fraction(2) ** (smallest + exponent - digits + 1)


def is_subnormal(raw, type_name):
    return 0 < magnitude(raw, type_name) < 1 << (layout(type_name)[0] - 1)


def flushed(raw, type_name):
    return raw ^ magnitude(raw, type_name) if is_subnormal(raw, type_name) else raw


def rounded(exact, type_name, mode="rn", zero_sign=1):
    """The bits of a fraction, an infinity or NAN, rounded; `zero_sign` if it is exactly zero."""
    digits, infinity, smallest = layout(type_name)
    top = 1 << (FORMATS[type_name][0] - 1)
    if exact == NAN:
        return NAN
    negative = exact < 0 or (exact == 0 and zero_sign < 0)
    sign = top if negative else 0
    if exact in (math.inf, -math.inf):
        return sign | infinity
    size = abs(Fraction(exact))
    if size == 0:
        return sign
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, smallest)
    units = size / Fraction(2) ** (exponent - digits + 1)
    whole = math.floor(units)
    rest = units - whole
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2),
        "rna": rest >= Fraction(1, 2),
        "rz": False,
        "rm": rest and negative,
        "rp": rest and not negative,
    }[mode]
    bits = ((exponent - smallest) << (digits - 1)) + whole + bool(up)
    if bits >= infinity:
        to_infinity = mode in ("rn", "rna") or (mode == "rm" and negative)
        to_infinity = to_infinity or (mode == "rp" and not negative)
        bits = infinity if to_infinity else infinity - 1
    return sign | bits


def square_root(exact):
    """A fraction that rounds as the root does: 200 bits of it, and a trace of the rest."""
    scaled = exact * Fraction(4) ** 2000
    root = math.isqrt(scaled.numerator // scaled.denominator)
    trace = 0 if root * root == scaled else Fraction(1, 2)
    return (root + trace) / Fraction(2) ** 2000


def whole(exact, mode):
    """Round a fraction to an integer: rni (ties to even), rzi, rmi, rpi."""
    return {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](exact)
