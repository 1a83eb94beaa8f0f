"""Launches of scopes.cu."""

import numpy as np

from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("scopes")
right, race = SUBJECT.right, SUBJECT.race

ONE = {"flag": zeros(1), "data": zeros(1), "y": zeros(1)}
CHAIN = {"flags": zeros(2), "data": zeros(1), "y": zeros(1)}
SEEN = {"y": [42]}

right("release_and_acquire", 2, 1, ONE, SEEN)
right("the_default_order", 2, 1, ONE, SEEN)
right("relaxed_with_fences", 2, 1, ONE, SEEN)
race("blocks", "data[0]", "relaxed_without_fences", 2, 1, ONE)
race("blocks", "data[0]", "released_and_not_acquired", 2, 1, ONE)
race("blocks", "data[0]", "acquired_and_not_released", 2, 1, ONE)
race("blocks", "flag[0]", "the_blocks_scope_between_blocks", 2, 1, ONE)
right("the_blocks_scope_within_a_block", 1, 64, {"x": 42 * ints(1), "y": zeros(1)},
      SEEN)  # fmt: skip
race("blocks", "count[0]", "a_counter_of_the_blocks_scope", 4, 32, {"count": zeros(1)})
right("a_counter_for_each_block", 4, 32, {"counts": zeros(4)}, {"counts": [31 * 16] * 4})

right("a_release_carried_by_an_addition", 3, 1, ONE, SEEN)
race("blocks", "data[0]", "a_release_ended_by_a_store", 3, 1, ONE)
right("a_chain_of_releases", 3, 1, CHAIN, SEEN)
race("blocks", "data[0]", "a_chain_that_is_relaxed_in_the_middle", 3, 1, CHAIN)

right("a_lock_acquired_and_released", 8, 1, {"lock": zeros(1), "total": zeros(1)},
      {"total": [36]})  # fmt: skip
X = (np.arange(128) ** 2 % 16).astype(np.int32)
right("relaxed_counters", 4, 32, {"x": X, "counts": zeros(16)},
      {"counts": np.bincount(X, minlength=16)})  # fmt: skip
