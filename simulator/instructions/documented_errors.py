"""The errors that the PTX ISA documents for approximate instructions.

Source: PTX ISA 9.0, chapters "Floating Point Instructions" and "Half Precision Floating Point
Instructions", the accuracy notes of each instruction. Ranges are of the magnitude of the operand.
Where it gives an exponent to one decimal, what rounds to that is within.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest error of an approximate instruction.

    kind       "ulp", "relative", "absolute", or "either": absolute or relative, as is larger
    error      in units of that kind; relative errors of subnormal results are relative to the
               smallest normal number, for below it the last place gets no finer
    low, high  of |the last operand|: the range that the document speaks of
    """

    kind: str
    error: float
    low: float = 0.0
    high: float = math.inf


_SINGLE = {
    "rcp": Bound("ulp", 1),
    "sqrt": Bound("relative", 2.0**-23),
    "rsqrt": Bound("relative", 2.0**-22.9),
    "div.approx": Bound("ulp", 2, 2.0**-126, 2.0**126),  # beyond it a quotient may be 0
    "div.full": Bound("ulp", 2),
    "sin": Bound("absolute", 2.0**-20.45, 0, 2 * math.pi),
    "cos": Bound("absolute", 2.0**-20.45, 0, 2 * math.pi),
    "lg2": Bound("either", 2.0**-22),
    "ex2": Bound("ulp", 2),
    "tanh": Bound("relative", 2.0**-11),
}
_HALF = {
    ("ex2", "f16"): Bound("relative", 2.0**-9.9),
    ("ex2", "bf16"): Bound("relative", 2.0**-7),
    ("tanh", "f16"): Bound("absolute", 2.0**-10.987),
    ("tanh", "bf16"): Bound("absolute", 2.0**-8),
}
# The result keeps 20 fraction bits, in its upper word; the ISA calls it a gross approximation.
_DOUBLE = {"rcp": Bound("relative", 2.0**-19), "rsqrt": Bound("relative", 2.0**-19)}


def bound_of(opcode: str) -> Bound | None:
    """None: the instruction is exact. KeyError: PTX has no such approximation."""
    name, *parts = opcode.split(".")
    if "approx" not in parts and "full" not in parts:
        return None
    type_name = parts[-1]
    if type_name == "f32":
        key = f"div.{'full' if 'full' in parts else 'approx'}" if name == "div" else name
        return _SINGLE[key]
    if type_name == "f64":
        return _DOUBLE[name]
    return _HALF[name, type_name.removesuffix("x2")]
