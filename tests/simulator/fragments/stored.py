"""Fragments as another library has them (`benchmarks/record_fragments.py`), filled and read."""

import json
from pathlib import Path

import numpy as np

from tests.simulator.matrices import HELD

FOLDER = Path(__file__).parent
LANES = 32
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32} | {
    "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1
}  # fmt: skip
PRODUCTS = json.loads((FOLDER / "mma.json").read_text())
TILES = json.loads((FOLDER / "ldmatrix.json").read_text())


def offsets(layout):
    """[lanes, values]"""
    steps = [*layout["value_bits"], *layout["lane_bits"]]
    found = np.zeros(1, np.int64)
    for step in steps:
        found = np.concatenate([found, found + step])
    return found.reshape(LANES, -1)


def place(layout, shape, which):
    """(row, column) [lanes, values] of the elements of matrix a, b or c."""
    m, n, k = shape
    found = offsets(layout)
    if which == "b":
        return found // n, found % n
    return found % m, found // m


def registers(matrix, layout, shape, which, type_):
    """[lanes, registers] the bits that hold a matrix: uint32, or uint64 for f64."""
    row, column = place(layout, shape, which)
    values = matrix[row, column]
    bits = BITS[type_]
    if bits >= 32:
        return values.view(f"u{bits // 8}")
    if bits >= 8:
        return np.ascontiguousarray(values).view(np.uint32)
    per = 32 // bits
    parts = (values.astype(np.uint32) & (2**bits - 1)).reshape(LANES, -1, per)
    return (parts << (np.arange(per, dtype=np.uint32) * bits)).sum(axis=2, dtype=np.uint32)


def matrix_of(held, layout, shape, which, type_):
    """The matrix [rows, columns] whose bits [lanes, registers] are given, of 16 bits or more."""
    m, n, _ = shape
    row, column = place(layout, shape, which)
    made = np.zeros((m, n), HELD[type_])
    made[row, column] = held.view(HELD[type_]).reshape(row.shape)
    return made
