"""Numbers and places in variables, as an operand spells them."""

import re
from typing import Any

import numpy as np

from simulator.reading.variables import integer

_PLACE = re.compile(r"([A-Za-z_$][\w$]*)\+(-?\d+)$")


def place_in_variable(operand: str) -> tuple[str, int]:
    """(variable, offset in bytes) of an address written as an operand: `tile+8`."""
    found = _PLACE.match(operand)
    return (found[1], int(found[2])) if found else (operand, 0)


def literal(text: str, dtype: np.dtype[Any]) -> Any:
    """A number in PTX's spelling: 12, -1, 0x1FU, 0f3F800000, 0d3FF0000000000000."""
    sign = -1 if text.startswith("-0f") or text.startswith("-0d") else 1
    body = text.lstrip("-") if sign < 0 else text
    if body[:2].lower() == "0f":
        value = np.uint32(int(body[2:], 16)).view(np.float32)
        return (sign * value).astype(dtype) if dtype.kind == "f" else value.view(dtype)
    if body[:2].lower() == "0d":
        wide = np.uint64(int(body[2:], 16)).view(np.float64)
        return sign * wide if dtype.kind == "f" else wide.view(dtype)
    number = integer(text)
    if dtype.kind == "b":
        return np.bool_(number)
    masked = number & ((1 << 8 * dtype.itemsize) - 1)
    return np.array(masked, f"u{dtype.itemsize}").view(dtype)[()]
