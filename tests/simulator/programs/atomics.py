"""Launches of atomics.cu."""

import numpy as np

from simulator import FaultKind
from tests.simulator.programs.program import Subject, floats, ints, zeros

SUBJECT = Subject("atomics")
right, wrong, race = SUBJECT.right, SUBJECT.wrong, SUBJECT.race

X = np.random.default_rng(2).integers(0, 16, 256).astype(np.int32)
BINS = {"x": X, "counts": zeros(16)}
right("histogram_in_shared_memory", 4, 64, BINS, {"counts": np.bincount(X, minlength=16)})
race("any", "bins[", "histogram_cleared_too_late", 4, 64, BINS)
race("any", "bins[", "histogram_merged_too_early", 4, 64, BINS)
wrong(FaultKind.UNINITIALISED_READ, "histogram_never_cleared", 4, 64, BINS,
      place=("bins[", "byte "))  # fmt: skip
race("any", "bins[", "histogram_without_atomics", 4, 64, BINS)
race("blocks", "counts[", "histogram_stored_and_not_merged", 4, 64, BINS)

TOTAL = {"x": floats(64), "sum": zeros(1, dtype=np.float32)}
race("any", "sum[0]", "a_sum_without_atomics", 1, 64, TOTAL)
race("blocks", "sum[0]", "an_update_lost_between_blocks", 4, 32, TOTAL)

right("greatest_by_its_bits", 4, 32, {"x": floats(128), "bits": zeros(1)},
      {"bits": np.float32([128]).view(np.int32)})  # fmt: skip
LOOK = {"x": ints(128) * 37 % 128, "best": zeros(1)}
right("a_look_before_the_atomic", 4, 32, LOOK, {"best": [127]})
right("a_plain_look_before_the_atomic", 4, 32, LOOK, {"best": [127]})
right("a_product_by_compare_and_swap", 4, 1,
      {"x": floats(4), "bits": np.float32([1]).view(np.int32)},
      {"bits": np.float32([24]).view(np.int32)})  # fmt: skip
race("blocks", "count[0]", "a_counter_reset_by_a_store", 4, 32, {"count": ints(1)})
right("read_by_the_one_who_added", 1, 64, {"x": ints(64), "y": zeros(64)}, {"y": ints(64) + 1})

SIGNED = np.where(np.arange(128) % 3, 1, -1).astype(np.int32)
FOUND = (SIGNED > 0).sum()
right("places_from_a_counter", 4, 32, {"x": SIGNED, "count": zeros(1), "y": zeros(128)},
      {"count": [FOUND], "y": np.arange(128) < FOUND})  # fmt: skip
QUEUE = {"head": zeros(1), "y": zeros(9, 64), "n": 9 * 64}
right("work_from_a_queue", 2, 64, QUEUE, {"y": np.repeat(np.arange(9), 64).reshape(9, 64)})
race("any", "item", "work_from_a_queue_drawn_too_early", 2, 64, QUEUE)
