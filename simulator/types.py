"""How PTX's types are held in NumPy arrays.

A register is untyped bits; the instruction's type says how to view them. Two kinds have no NumPy
type and stay raw: `bf16` (the upper half of a float32) and the packed pairs, lower element first.
"""

from typing import Any, TypeAlias

import numpy as np

Values: TypeAlias = Any  # an array [lanes], or a NumPy scalar if every lane holds the same value

DTYPES: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_),
    "b8": np.dtype(np.uint8),
    "u8": np.dtype(np.uint8),
    "s8": np.dtype(np.int8),
    "b16": np.dtype(np.uint16),
    "u16": np.dtype(np.uint16),
    "s16": np.dtype(np.int16),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),
    "b32": np.dtype(np.uint32),
    "u32": np.dtype(np.uint32),
    "s32": np.dtype(np.int32),
    "f32": np.dtype(np.float32),
    "tf32": np.dtype(np.float32),
    "f16x2": np.dtype(np.uint32),
    "bf16x2": np.dtype(np.uint32),
    "u16x2": np.dtype(np.uint32),
    "s16x2": np.dtype(np.uint32),
    "b64": np.dtype(np.uint64),
    "u64": np.dtype(np.uint64),
    "s64": np.dtype(np.int64),
    "f64": np.dtype(np.float64),
}

WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}  # the result type of mul.wide
SIGNED = {"s8", "s16", "s32", "s64"}
INTEGERS = SIGNED | {"b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64"}
FLOATS = {"f32", "f64"}
HALVES = {"f16", "bf16", "f16x2", "bf16x2"}
PAIRS = {"u16x2": np.dtype(np.uint16), "s16x2": np.dtype(np.int16)}  # what each half holds

_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def choose(condition: Values, yes: Values, no: Values) -> Values:
    """`np.where`, but scalars give a scalar."""
    chosen: Values = np.where(condition, yes, no)
    return chosen[()]


def unsigned(lanes: Values) -> Values:
    """The same bits as an unsigned integer of the same width."""
    return lanes.view(_UNSIGNED[lanes.dtype.itemsize])
