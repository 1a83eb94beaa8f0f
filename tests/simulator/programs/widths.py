"""Launches of widths.cu."""

import numpy as np

from tests.simulator.programs.program import Subject, floats, ints, zeros

SUBJECT = Subject("widths")
right, race = SUBJECT.right, SUBJECT.race

BYTES = ints(64).astype(np.uint8)
right("bytes_side_by_side", 1, 64, {"x": BYTES, "y": zeros(64, dtype=np.uint8)}, {"y": BYTES + 1})
right("two_halves_of_a_word", 2, 32, {"y": zeros(2, dtype=np.int16)}, {"y": [1, 2]})
race("warps", "y[0]", "two_bits_of_a_byte", 1, 64, {"y": zeros(1, dtype=np.uint8)})

MIXED = {"x": floats(64), "y": zeros(64, dtype=np.float32)}
right("wide_and_narrow_side_by_side", 1, 40, MIXED, {"y": floats(64)})
race("any", "y[31]", "wide_and_narrow_that_overlap", 1, 40, MIXED)

X = ints(64)
FOUR = {"x": X, "y": zeros(16)}
race("warps", "tile[", "a_wide_read_of_a_narrow_write", 1, 64, FOUR)
right("a_wide_read_behind_a_barrier", 1, 64, FOUR, {"y": X.reshape(16, 4).sum(1)})

for shared, place in ((1, "tile["), (0, "y[")):
    generic = {"x": X, "y": zeros(128), "shared": shared}
    space = "shared" if shared else "global"
    race("warps", place, f"a_race_in_{space}_memory_through_a_generic_pointer", 1, 64, generic,
         kernel="a_race_through_a_generic_pointer")  # fmt: skip
    right(f"a_barrier_for_{space}_memory_and_a_generic_pointer", 1, 64, generic,
          {"y": np.concatenate([0 * X if shared else X, X[np.arange(64) ^ 32]])},
          kernel="a_barrier_and_a_generic_pointer")  # fmt: skip
race("lanes", "x[", "half_of_a_double", 1, 32,
     {"x": zeros(32, dtype=np.float64), "y": zeros(32)})  # fmt: skip
