"""Launches of cooperative.cu."""

import numpy as np

from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("cooperative")
right, race = SUBJECT.right, SUBJECT.race

MEET, COOPERATIVE = {"data": zeros(128), "y": zeros(128)}, {"cooperative": True}
right("a_grid_that_meets", 4, 32, MEET, {"y": 3 * np.arange(128)[::-1]}, settings=COOPERATIVE)
race("blocks", "data[", "blocks_that_meet_apart", 4, 32, MEET)
race("blocks", "data[", "a_grid_that_meets_too_seldom", 4, 32, MEET, settings=COOPERATIVE)

X, T = ints(64), np.arange(64)
right("tiles_of_eight_lanes", 1, 64, {"x": X, "y": zeros(64)}, {"y": X[T ^ 5] + X[T ^ 1]})
ODD = X[1:32:2]
right("lanes_of_one_arm", 1, 32, {"x": X[:32], "y": zeros(32)},
      {"y": np.stack([0 * ODD, ODD[::-1]], 1).reshape(-1)})  # fmt: skip
