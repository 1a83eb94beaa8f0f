"""Approximate instructions, moved within the error that the PTX ISA documents for them.

The simulator rounds ex2, sin, rsqrt … correctly; hardware does not. A kernel or a test that rests
on the last bits passes here and fails there, so the suite also runs with every approximate result
moved, by an amount that depends on the result's own bits alone: the same program gives the same
answer every time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from simulator.instructions.rows import Operation

# Largest relative error, PTX ISA 8.5, "Floating Point Instructions" and "ex2 … tanh". Where the
# ISA gives an absolute bound (lg2, sin, cos) it is read as one, by the second figure.
_RELATIVE = {
    "ex2": 2.0**-22,
    "rcp": 2.0**-23,
    "sqrt": 2.0**-23,
    "rsqrt": 2.0**-22.4,
    "div": 2.0**-22,
    "tanh": 2.0**-11,
}
_ABSOLUTE = {"lg2": 2.0**-22, "sin": 2.0**-20.9, "cos": 2.0**-20.9}


def is_approximate(opcode: str) -> bool:
    parts = opcode.split(".")
    return (
        ("approx" in parts or "full" in parts)
        and parts[-1] == "f32"
        and (parts[0] in _RELATIVE or parts[0] in _ABSOLUTE)
    )


def perturbed(opcode: str, operation: Operation) -> Callable[..., Any]:
    """The operation's function with its float32 results moved."""
    name = opcode.split(".")[0]

    def compute(*operands: Any) -> Any:
        exact = operation.compute(*operands)
        wide = np.asarray(exact, np.float64)
        bits = np.asarray(exact).view(np.uint32)
        # -1 .. 1, from a multiplicative hash of the result's bits
        share = ((bits * np.uint32(2654435761)) >> np.uint32(16)).astype(np.float64) / 32768 - 1
        error = np.abs(wide) * _RELATIVE[name] if name in _RELATIVE else _ABSOLUTE[name]
        moved = (wide + share * error).astype(np.float32)
        settled = np.where(np.isfinite(wide) & (wide != 0), moved, exact)
        return settled if np.ndim(exact) else settled[()]

    return compute
