"""Launches of departures.cu."""

import numpy as np

from simulator import FaultKind
from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("departures")
right, wrong = SUBJECT.right, SUBJECT.wrong
ABSENT, DIVERGENT = FaultKind.ABSENT_LANES, FaultKind.DIVERGENT_BARRIER
UNINITIALISED = FaultKind.UNINITIALISED_READ

T = np.arange(64)
WARP = {"x": ints(32), "y": zeros(32)}
ONE = {"x": ints(64), "y": zeros(64)}

wrong(ABSENT, "a_shuffle_from_a_lane_that_returned", 1, 32, WARP | {"n": 20},
      place="thread 4 of block 0 reads from lane 20 of its warp, which has returned")  # fmt: skip
wrong(ABSENT, "a_shuffle_from_a_lane_that_never_was", 1, 48, {"x": ints(48), "y": zeros(48)},
      place="lane 16 of its warp, which does not exist: the block has 48 threads")  # fmt: skip
right("a_shuffle_down_past_who_returned", 1, 32, {"x": ints(32), "y": zeros(4), "n": 24},
      {"y": [*ints(24).reshape(3, 8).sum(1), 0]})  # fmt: skip
right("a_vote_after_some_returned", 1, 32, WARP | {"n": 20},
      {"y": np.where(T[:32] < 20, 18, 0)})  # fmt: skip
wrong(UNINITIALISED, "a_return_before_the_tiles", 1, 64, ONE | {"n": 40, "tiles": 3},
      place=("which no thread of its block has written; thread 63 of the same block had returned",
             "thread 40 of the same block had returned"))  # fmt: skip

GONE_ROUND = "threads wait at line"
wrong(DIVERGENT, "a_barrier_in_an_if", 1, 64, ONE, place="and 32 go round it (the condition of")
wrong(DIVERGENT, "a_barrier_in_an_if_of_a_loop", 1, 64, ONE | {"turns": 3}, place=GONE_ROUND)
SUMS = sum(ints(64)[63 - T if turn % 2 == 0 else T] + turn for turn in range(4))
right("a_barrier_under_a_condition_of_the_block", 1, 64, ONE | {"turns": 4}, {"y": SUMS})
