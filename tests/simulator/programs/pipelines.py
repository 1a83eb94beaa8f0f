"""Launches of pipelines.cu."""

import numpy as np

from tests.simulator.programs.program import Subject, zeros

SUBJECT = Subject("pipelines")
right, race = SUBJECT.right, SUBJECT.race

CHAIN = {"flags": zeros(2), "data": zeros(1), "y": zeros(1)}
right("a_chain_of_three_blocks", 3, 1, CHAIN, {"y": [42]})
race("blocks", "data[0]", "a_chain_without_its_middle_fence", 3, 1, CHAIN)
right("a_progress_that_only_grows", 2, 1,
      {"done": zeros(1), "data": zeros(9), "y": zeros(9), "n": 9},
      {"y": np.arange(9) ** 2})  # fmt: skip
right("flag_and_value_in_one_word", 2, 1, {"word": zeros(1, dtype=np.uint64), "y": zeros(1)},
      {"y": [42]})  # fmt: skip
race("blocks", "data[0]", "a_slot_filled_before_it_was_read", 2, 1,
     {"flag": zeros(1), "data": zeros(1), "y": zeros(1)})  # fmt: skip
SLOT = {"flags": zeros(2), "data": zeros(1), "y": zeros(4)}
right("a_slot_that_is_handed_back", 2, 1, SLOT, {"y": [0, 10, 20, 30]})
race("blocks", "data[0]", "a_slot_handed_back_before_it_is_read", 2, 1, SLOT)

COUNT = {"count": zeros(1), "data": zeros(4), "y": zeros(4)}
right("many_writers_and_one_counter", 5, 1, COUNT, {"y": [0, 10, 20, 30]})
race("blocks", "data[0]", "a_writer_that_is_not_counted", 5, 1, COUNT)
RING = {"full": zeros(1), "freed": zeros(1), "data": zeros(2), "y": zeros(7), "n": 7}
right("a_ring_of_two_slots", 2, 1, RING, {"y": np.arange(7) ** 2})

WHOLE = {"flag": zeros(1), "data": zeros(64), "y": zeros(64)}
right("a_release_for_the_whole_block", 2, 64, WHOLE, {"y": 10 * np.arange(64)[::-1]})
ONE = {"flag": zeros(1), "data": zeros(1), "y": zeros(1)}
race("blocks", "data[0]", "a_fence_of_another_thread", 2, 32, ONE)
race("blocks", "data[0]", "a_fence_behind_the_flag", 2, 1, ONE)
race("blocks", "data[0]", "cleared_without_a_fence", 2, 1, ONE)

LOCK = {"lock": zeros(1), "totals": zeros(64)}
right("a_lock_for_a_whole_block", 4, 64, LOCK, {"totals": 4 * np.arange(64) + 6})
race("blocks", "totals[", "a_lock_given_back_too_early", 4, 64, LOCK)
right("claimed_by_one_thread", 4, 64, {"claimed": zeros(1), "y": zeros(1)}, {"y": [7]})
