"""Launches of warps.cu."""

import numpy as np

from simulator import FaultKind
from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("warps")
right, wrong, race = SUBJECT.right, SUBJECT.wrong, SUBJECT.race
ABSENT = FaultKind.ABSENT_LANES

X, T = ints(32), np.arange(32)
ONE = {"x": X, "y": zeros(32)}
SUM = {"x": ints(64), "y": zeros(1)}

right("sum_by_shuffles", 2, 64, {"x": ints(128), "y": zeros(4)},
      {"y": ints(4, 32).sum(1)})  # fmt: skip
SIGNED = np.where(T % 3, X, -X).astype(np.int32)
right("compacted_by_a_vote", 1, 32, {"x": SIGNED, "y": zeros(32)},
      {"y": np.pad(SIGNED[SIGNED > 0], (0, 11))})  # fmt: skip

right("tail_with_every_syncwarp", 1, 32, SUM, {"y": [64 * 65 // 2]})
race("lanes", "tile[", "tail_with_one_syncwarp_a_step", 1, 32, SUM)
right("tail_with_a_guard", 1, 32, {"x": X, "y": zeros(1)}, {"y": [32 * 33 // 2]})
race("lanes", "tile[", "tail_without_syncwarp", 1, 32, SUM)
race("lanes", "tile[", "volatile_tail_without_syncwarp", 1, 32, SUM)
race("lanes", "tile[", "one_syncwarp_of_three_is_missing", 1, 32, ONE)


def grouped(x):
    """Group g of eight lanes adds, g + 1 times, what its mirrored lane has."""
    v = x.reshape(4, 8).copy()
    for group in range(4):
        for _ in range(group + 1):
            v[group] += v[group][::-1]
    return v.reshape(-1)


right("groups_of_eight_lanes", 1, 32, ONE, {"y": grouped(X)})
race("lanes", "tile[", "groups_that_look_next_door", 1, 32, ONE)
right("halves_in_two_arms", 1, 32, ONE, {"y": np.where(T < 16, X[15 - T], 2 * X[T ^ 1])})
right("a_syncwarp_met_from_two_arms", 1, 32, ONE, {"y": np.where(T == 9, 0, 1 + T)})
right("a_shuffle_met_from_two_arms", 1, 32, ONE,
      {"y": np.where(T % 2, 5 * X[T ^ 1] + 1, 3 * X[T ^ 1])})  # fmt: skip
race("warps", "tile[", "a_syncwarp_for_two_warps", 1, 64, {"x": ints(64), "y": zeros(64)})
right("a_shuffle_after_some_returned", 1, 32, ONE, {"y": np.where(T < 24, X[T ^ 7], 0)})

TAIL = {"x": X, "y": zeros(32), "n": 20}
wrong(ABSENT, "a_full_mask_in_a_branch", 1, 32, TAIL)
right("a_mask_of_those_that_come", 1, 32, TAIL, {"y": np.where(T < 20, X[T ^ 1], 0)})
wrong(ABSENT, "a_mask_that_names_absent_lanes", 1, 32, ONE)
wrong(ABSENT, "a_lane_outside_its_own_mask", 1, 32, ONE)
wrong(ABSENT, "a_shuffle_from_an_unnamed_lane", 1, 32, ONE)
wrong(ABSENT, "a_syncwarp_in_a_branch", 1, 32, {"y": zeros(32)})

ROWS = {"x": ints(4, 32), "y": zeros(4, 32)}
right("rows_that_are_warps", 1, (32, 4), ROWS, {"y": ints(4, 32)[:, ::-1]})
race("warps", "tile[", "rows_that_are_half_warps", 1, (16, 4), {"x": ints(64), "y": zeros(64)})
right("a_warp_of_sixteen_lanes", 1, 48, {"x": ints(48), "y": zeros(48)},
      {"y": ints(48)[np.arange(48) ^ 15]})  # fmt: skip
MANY = np.where(np.arange(128) % 3, 1, -1).astype(np.int32)
right("one_atomic_for_a_warp", 1, 128, {"x": MANY, "count": zeros(1), "y": zeros(128)},
      {"y": np.arange(128) < (MANY > 0).sum()})  # fmt: skip
