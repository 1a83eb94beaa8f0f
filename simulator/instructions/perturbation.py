"""Approximate instructions, moved within the error that the PTX ISA documents for them.

The simulator rounds ex2, sin, rsqrt … correctly; hardware does not. A kernel or a test that rests
on the last bits passes here and fails there, so the suite also runs with every approximate result
moved, by an amount that depends on the result's own bits alone: the same program gives the same
answer every time. float64 has no approximation but seeds of iterations, which stay.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.instructions.documented_errors import Bound, bound_of
from simulator.instructions.half_arithmetic import READ, WRITE
from simulator.instructions.rows import Operation
from simulator.types import Values

# Fraction bits, and the exponent of the smallest normal number.
_FORMATS = {"f16": (10, -14), "bf16": (7, -126), "f32": (23, -126)}


def is_approximate(opcode: str) -> bool:
    parts = opcode.split(".")
    return ("approx" in parts or "full" in parts) and parts[-1].removesuffix("x2") in _FORMATS


def perturbed(opcode: str, operation: Operation) -> Callable[..., Any]:
    """The operation's function with its results moved."""
    bound = bound_of(opcode)
    (type_name,) = operation.results
    if bound is None or not is_approximate(opcode):
        raise ValueError(f"{opcode} is no approximation of float32 or of a half")
    read = READ.get(type_name, np.positive)
    write = WRITE.get(type_name, lambda values: values.astype(np.float32))

    def compute(*operands: Any) -> Any:
        result = operation.compute(*operands)
        exact = np.atleast_1d(read(result))  # [lanes], of pairs [lanes, 2]; float32
        # -1 .. 1, from a multiplicative hash of the result's bits
        hashed = exact.view(np.uint32) * np.uint32(2654435761) >> np.uint32(16)
        share = hashed.astype(np.float64) / 32768 - 1
        moved = (exact + share * _room(bound, type_name, exact)).astype(np.float32)
        kept = ~np.isfinite(exact) | (exact == 0) | ~np.isfinite(moved)
        settled = write(np.where(kept, exact, moved))
        return settled if np.ndim(result) else np.atleast_1d(settled)[0]

    return compute


def _room(bound: Bound, type_name: str, exact: Values) -> Values:
    """The documented error of each result, float64."""
    fraction, smallest = _FORMATS[type_name.removesuffix("x2")]
    size = np.abs(exact).astype(np.float64)
    exponent = np.maximum(np.frexp(np.where(np.isfinite(size), size, 0))[1] - 1, smallest)
    relative = bound.error * np.maximum(size, 2.0**smallest)
    return {
        "ulp": bound.error * np.ldexp(1.0, exponent - fraction),
        "relative": relative,
        "absolute": np.full(size.shape, bound.error),
        "either": np.maximum(bound.error, relative),
    }[bound.kind]
