"""How floats and pairs lie in words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.instructions.half_arithmetic import from_bfloat, to_bfloat

Words = NDArray[Any]

FORMATS = {"f16": (16, 10), "bf16": (16, 7), "f32": (32, 23), "f64": (64, 52)}  # bits, fraction
PAIRS = {"f16x2": "f16", "bf16x2": "bf16", "u16x2": "u16", "s16x2": "s16"}


def numbers(type_name: str, words: Words) -> Words:
    """Words as float64; of pairs [lanes, 2]."""
    if type_name in PAIRS:
        return numbers(PAIRS[type_name], words.astype(np.uint32).view(np.uint16).reshape(-1, 2))
    with np.errstate(invalid="ignore"):  # a signalling NaN
        if type_name == "bf16":
            wide: Words = from_bfloat(words).astype(np.float64)
            return wide
        dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[type_name]
        return words.view(dtype).astype(np.float64)


def bits_of(type_name: str, values: Words) -> Words:
    """float64 rounded to a format, as words."""
    if type_name == "bf16":
        halves: Words = to_bfloat(values.astype(np.float32))
        return halves
    size = FORMATS[type_name][0] // 8
    return values.astype(f"f{size}").view(f"u{size}")
