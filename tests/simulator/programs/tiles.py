"""Launches of tiles.cu."""

import numpy as np

from tests.simulator.programs.program import Subject, floats, ints, zeros

SUBJECT = Subject("tiles")
right, race = SUBJECT.right, SUBJECT.race

A, B = floats(16, 16) % 7, floats(16, 16) % 5
FACTORS = {"a": A, "b": B, "c": zeros(16, 16, dtype=np.float32), "n": 16}
right("product_by_tiles", (2, 2), (8, 8), FACTORS, {"c": A @ B})
race("any", ("left[", "right["), "product_without_the_barrier_before", (2, 2), (8, 8), FACTORS)
race("any", ("left[", "right["), "product_without_the_barrier_behind", (2, 2), (8, 8), FACTORS)

SUM = {"x": floats(4, 64), "y": zeros(4, dtype=np.float32)}
right("sum_by_tree", 4, 64, SUM, {"y": floats(4, 64).sum(1)})
race("warps", "tile[", "tree_without_the_first_barrier", 4, 64, SUM)
SUM = {"x": floats(2, 128), "y": zeros(2, dtype=np.float32)}
race("any", "tile[", "tree_without_the_barrier_in_the_loop", 2, 128, SUM)

STREAM = {"x": floats(5, 64), "y": zeros(64, dtype=np.float32), "tiles": 5}
right("double_buffer", 1, 64, STREAM, {"y": floats(5, 64).sum(0)[::-1]})
race("any", "tile[", "double_buffer_with_half_its_barriers", 1, 64, STREAM)

X, T = ints(64), np.arange(64)
ONE = {"x": X, "y": zeros(64)}
right("memory_used_twice", 1, 64, {"x": floats(64), "y": zeros(64)}, {"y": X[::-1][T ^ 32]})
right("scratch_of_each_thread", 1, 64, ONE, {"y": 28 * X})
race("any", "scratch[", "scratch_one_too_long", 1, 64, ONE)
TWO = {"x": X, "y": zeros(128)}
right("prepared_by_one_thread", 2, 64, TWO, {"y": np.tile(T, 2)})
race("any", "scale", "replaced_without_a_barrier", 2, 64, TWO)
race("any", "scale", "prepared_anew_too_early", 1, 64, TWO)
SIGNED = np.where(T % 3, X, -X).astype(np.int32)
right("ordered_by_a_barrier_that_counts", 1, 64, {"x": SIGNED, "y": zeros(64)},
      {"y": SIGNED[T ^ 32] + 1000 * (SIGNED > 0).sum()})  # fmt: skip

EDGES = np.pad(floats(64), 1, mode="edge")
right("blur_in_place_by_one_block", 1, 64, {"x": floats(64)},
      {"x": (EDGES[:-2] + EDGES[1:-1] + EDGES[2:]) / np.float32(3)})  # fmt: skip
race("any", "x[", "blur_in_place_without_a_barrier", 1, 64, {"x": floats(64)})

right("dynamic_memory_in_two_parts", 1, 64, ONE, {"y": 11 * X[::-1]}, shared_bytes=512)
race("any", "memory[63]", "dynamic_memory_in_parts_that_overlap", 1, 64, ONE, shared_bytes=508)

LAST = "reversed_without_a_barrier_in_the_last_block"
right("reversed_where_every_block_is_full", 2, 64, {"x": ints(128), "y": zeros(128), "n": 128},
      {"y": np.concatenate([ints(128)[63::-1], ints(128)[:63:-1]])}, kernel=LAST)  # fmt: skip
race("lanes", "tile[", LAST, 3, 64, {"x": ints(160), "y": zeros(160), "n": 160})

race("warps", "word", "three_parties", 1, 96, {"x": ints(2), "y": zeros(1)})
right("the_same_value_from_all", 1, 64, {"x": SIGNED, "y": zeros(64)}, {"y": np.ones(64)})
race("any", "found", "the_same_value_read_too_early", 1, 64, {"x": SIGNED, "y": zeros(64)})
