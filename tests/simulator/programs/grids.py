"""Launches of grids.cu."""

import numpy as np

from simulator import FaultKind
from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("grids")
right, wrong, race = SUBJECT.right, SUBJECT.wrong, SUBJECT.race
DEADLOCK = FaultKind.DEADLOCK

X = ints(6, 32)
BACK = {"x": X, "y": zeros(6, 32), "sums": zeros(6), "state": zeros(6)}
BEFORE = (np.cumsum(X.sum(1)) - X.sum(1))[:, None]
right("look_back", 6, 32, BACK, {"y": BEFORE + X})
right("look_back_by_one_block_at_a_time", 6, 32, BACK, {"y": BEFORE + X}, kernel="look_back",
      settings={"resident_blocks": 1, "order": "forward"})  # fmt: skip
race("blocks", "sums[", "look_back_without_a_fence", 6, 32, BACK)

LAST = {"x": X, "sums": zeros(6), "ticket": zeros(1), "y": zeros(1)}
right("sum_by_the_last_block", 6, 32, LAST, {"y": [X.sum()]})
right("sum_by_the_last_block_one_at_a_time", 6, 32, LAST, {"y": [X.sum()]},
      kernel="sum_by_the_last_block", settings={"resident_blocks": 1})  # fmt: skip
right("sum_by_the_last_block_through_volatile", 6, 32, LAST, {"y": [X.sum()]})
race("blocks", "sums[", "no_fence_before_the_ticket", 6, 32, LAST)
race("blocks", "sums[", "no_fence_after_the_ticket", 6, 32, LAST)

MEET = {"count": zeros(1), "data": zeros(128), "y": zeros(128)}
MIRRORED = {"y": 3 * np.arange(128)[::-1]}
right("a_grid_barrier_by_hand", 4, 32, MEET, MIRRORED)
race("blocks", "data[", "a_grid_barrier_without_fences", 4, 32, MEET)
wrong(DEADLOCK, "a_grid_barrier_of_more_blocks_than_fit", 4, 32, MEET,
      kernel="a_grid_barrier_by_hand", settings={"resident_blocks": 2})  # fmt: skip
wrong(DEADLOCK, "a_wait_for_a_later_block", 4, 32, {"flags": zeros(4)},
      settings={"resident_blocks": 2, "order": "forward"})  # fmt: skip
wrong(DEADLOCK, "a_flag_that_nobody_raises", 2, 32, {"flag": zeros(1), "y": zeros(32)})
