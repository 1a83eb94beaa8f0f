"""Launches of shuffles.cu."""

import numpy as np

from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("shuffles")
right, race = SUBJECT.right, SUBJECT.race

X, T = ints(32), np.arange(32)
ONE = {"x": X, "y": zeros(32)}

right("ordered_by_a_shuffle_alone", 1, 32, ONE, {"y": X[T ^ 1]})
for name in ("a_shuffle_behind_write_and_read", "a_vote_before_the_second_write",
             "a_shuffle_a_turn", "only_the_first_turn_reads",
             "read_again_behind_a_shuffle"):  # fmt: skip
    race("lanes", "tile[", name, 1, 32, ONE)
PAIR = {"x": ints(64), "y": zeros(64)}
race("lanes", "tile[", "shuffles_around_write_and_read", 1, 64, PAIR)
race("warps", "tile[", "a_shuffle_between_two_warps", 1, 64, PAIR)
right("a_shuffle_behind_a_syncwarp", 1, 32, ONE, {"y": np.full(32, 32 * 33 // 2)})
right("a_barrier_between_shuffles", 1, 64, {"x": ints(64), "y": zeros(2)},
      {"y": [64 * 65 // 2] * 2})  # fmt: skip
