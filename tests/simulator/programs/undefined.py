"""Launches of undefined.cu."""

import numpy as np

from simulator import FaultKind
from tests.simulator.programs.program import Subject, empty, floats, ints, zeros

SUBJECT = Subject("undefined")
right, wrong = SUBJECT.right, SUBJECT.wrong
UNDEFINED = FaultKind.UNDEFINED_VALUE

FLOATS = zeros(64, dtype=np.float32)
MATRIX = {"x": floats(7, 7), "y": zeros(7, dtype=np.float32), "n": 7}
wrong(UNDEFINED, "a_sum_that_begins_with_anything", 1, 7, MATRIX, place="y[0]")
right("a_sum_that_begins_with_zero", 1, 7, MATRIX, {"y": floats(7, 7).sum(0)})

X, T = floats(64), np.arange(64)
ONE = {"x": X, "y": FLOATS}
wrong(UNDEFINED, "given_in_one_arm", 1, 64, ONE, place="y[0]")
right("given_and_used_in_one_arm", 1, 64, ONE, {"y": np.where(X > 8, X[::-1], 0)})
wrong(UNDEFINED, "four_sums_that_begin_with_anything", 1, 4, {"x": floats(20),
      "y": zeros(16, dtype=np.float32), "n": 5}, place="y[0]")  # fmt: skip

ORDER = np.array([3, 1, 4, 0, 5, 2, 6, 7], np.int32)
PLACES = {"order": ORDER, "y": zeros(16)}
wrong(UNDEFINED, "an_element_of_an_array_left_out", 1, 16, PLACES, place="y[7]")
right("an_array_written_in_another_order", 1, 16, PLACES, {"y": np.tile(np.argsort(ORDER), 2)})

PART = ONE | {"n": 40}
wrong(UNDEFINED, "undefined_in_a_tile", 1, 64, PART, place="y[0]")
right("undefined_in_a_tile_and_dropped", 1, 64, PART, {"y": np.where(63 - T < 40, X[::-1], -1)})
right("a_tile_filled_twice", 1, 64, PART, {"y": X[::-1]})

FLAGS = {"order": ints(64), "y": zeros(64)}
wrong(UNDEFINED, "an_index_from_anywhere", 1, 64, {"order": ints(64), "x": X, "y": FLOATS},
      place="an address")  # fmt: skip
wrong(UNDEFINED, "a_branch_on_anything", 1, 64, FLAGS, place="branches on")
right("a_branch_that_only_computes", 1, 64, PART, {"y": T < 40})
wrong(UNDEFINED, "chosen_by_anything", 1, 64, FLAGS, place="y[")

WARP = {"x": floats(32), "y": zeros(1, dtype=np.float32), "n": 20}
wrong(UNDEFINED, "a_warp_sum_of_anything", 1, 32, WARP, place="y[0]")
right("a_warp_sum_of_what_is_there", 1, 32, WARP, {"y": [19]})
wrong(UNDEFINED, "a_vote_of_anything", 1, 32, WARP, place="y[0]")

TOTAL = {"x": floats(64), "total": zeros(1, dtype=np.float32), "n": 40}
wrong(UNDEFINED, "anything_added_by_an_atomic", 1, 64, TOTAL, place="total[0]")
right("what_is_there_added_by_an_atomic", 1, 64, TOTAL, {"total": [X[:40].sum()]})
wrong(UNDEFINED, "anything_printed", 1, 64, {"x": X}, place="prints")
right("what_is_there_printed", 1, 64, {"x": X}, {})

HALVES = (np.arange(256) % 7).astype(np.float16)
SQUARE = HALVES.reshape(16, 16).astype(np.float32)
TENSOR = {"a": HALVES, "c": zeros(16, 16, dtype=np.float32), "rows": 12}
wrong(UNDEFINED, "rows_that_nobody_loaded", 1, 32, TENSOR, place="c[")
PRODUCT = np.where(np.arange(16)[:, None] < 12, SQUARE @ SQUARE, 0)
right("rows_that_nobody_loaded_nor_stores", 1, 32, TENSOR, {"c": PRODUCT})

FRESH = {"x": X, "y": empty(64)}
wrong(UNDEFINED, "added_to_what_nobody_wrote", 1, 64, FRESH, place="], which nobody has written")
right("written_before_it_is_added_to", 1, 64, FRESH, {"y": X + 6})
wrong(UNDEFINED, "counted_in_what_nobody_wrote", 1, 64, {"x": ints(64), "y": empty(4)},
      place="y[1], which nobody has written")  # fmt: skip
TWO = FRESH | {"z": empty(64)}
wrong(UNDEFINED, "exchanged_for_what_nobody_wrote", 1, 64, TWO, place="], which nobody has written")
right("exchanged_twice", 1, 64, TWO, {"y": 0 * X, "z": X})
PARTS = {"parts": empty(8), "y": empty(1), "n": 8}
wrong(UNDEFINED, "more_sums_than_blocks", 1, 32, PARTS,
      place=("parts[6], which nobody has", "parts[7], which nobody has"))  # fmt: skip
right("as_many_sums_as_blocks", 1, 32, PARTS, {"y": [28]})
