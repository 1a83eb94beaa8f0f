"""Launches of barriers.cu."""

import numpy as np

from simulator import FaultKind
from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("barriers")
right, wrong, race = SUBJECT.right, SUBJECT.wrong, SUBJECT.race
DIVERGENT = FaultKind.DIVERGENT_BARRIER

X, T = ints(64), np.arange(64)
ONE = {"x": X, "y": zeros(64)}

right("return_before_a_barrier", 2, 64, {"x": ints(128), "y": zeros(128), "n": 100},
      {"y": np.where(np.arange(128) < 100, ints(128)[np.arange(128) & ~1], 0)})  # fmt: skip
right("a_barrier_in_a_loop", 1, 64, ONE | {"turns": 3}, {"y": X[(T + 3 * 33) % 64]})
TWO = np.arange(128)
right("a_barrier_for_even_blocks", 2, 64, {"x": ints(128), "y": zeros(128)},
      {"y": ints(128)[np.where(TWO < 64, 63 - TWO, TWO)]})  # fmt: skip
SUM = X.sum()
right("a_barrier_in_a_function", 1, 64, ONE, {"y": np.full(64, 64 * SUM + T.sum())})
race("any", "scratch[", "scratch_reused_too_early", 1, 64, ONE)

WIDE = {"x": ints(128), "y": zeros(128)}
right("a_named_barrier_for_each_half", 1, 128, WIDE, {"y": ints(128)[np.arange(128) ^ 32]})
race("warps", "tile[", "a_named_barrier_of_the_wrong_half", 1, 128, WIDE)
TILES = {"x": ints(3, 32), "y": zeros(3, 32), "tiles": 3}
right("a_warp_that_fills_and_one_that_empties", 1, 64, TILES, {"y": ints(3, 32)[:, ::-1]})
race("warps", "tile[", "a_warp_that_fills_without_waiting", 1, 64, TILES)

wrong(DIVERGENT, "a_barrier_in_a_branch", 1, 64, ONE)
wrong(DIVERGENT, "a_barrier_in_a_loop_of_each_thread", 1, 64, ONE)
wrong(DIVERGENT, "a_barrier_with_the_wrong_count", 1, 64, ONE)
wrong(DIVERGENT, "a_barrier_in_each_arm", 1, 64, ONE)
right("global_memory_of_one_block", 2, 64,
      {"x": ints(128), "y": zeros(128), "z": zeros(128)}, {"z": ints(128)[TWO ^ 63]})  # fmt: skip

FALLING = ints(64)[::-1].copy()
right("until_nothing_changes", 1, 64, {"x": FALLING}, {"x": np.minimum.accumulate(FALLING)})
MIXED = FALLING * 37 % 64
race("any", "tile[", "until_nothing_changes_too_early", 1, 64, {"x": MIXED})
race("warps", "tile[", "a_named_barrier_without_those_who_left", 1, 64, ONE)

FOUR, NEXT = np.arange(4)[:, None], (T // 4 + 5) % 16
TURNS = {"x": X, "y": zeros(4, 64)}
right("blocks_that_turn_more_and_more", 4, 64, TURNS,
      {"y": (FOUR + 1) * X[NEXT] + FOUR * (FOUR + 1) // 2})  # fmt: skip
race("any", "part[", "blocks_that_turn_too_early", 4, 64, TURNS)
race("lanes", "part[", "one_of_four_writes_again", 1, 64, ONE)
race("lanes", "part[", "four_that_disagree", 2, 64, {"x": X, "y": zeros(2, 64)})
