"""Launches of flags.cu."""

import numpy as np

from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("flags")
right, race = SUBJECT.right, SUBJECT.race

ONE = {"flag": zeros(1), "data": zeros(2), "y": zeros(1)}
right("a_flag_between_blocks", 2, 1, ONE, {"y": [42]})
race("blocks", "data[0]", "no_fence_before_the_flag", 2, 1, ONE)
race("blocks", "data[0]", "no_fence_after_the_flag", 2, 1, ONE)
race("blocks", "data[0]", "a_fence_of_the_block_between_blocks", 2, 1, ONE)
race("blocks", "flag[0]", "a_plain_flag", 2, 1, ONE)
race("blocks", "flag[0]", "a_flag_volatile_on_one_side", 2, 1, {"flag": zeros(1), "y": zeros(1)})
race("blocks", "data[1]", "written_after_the_flag", 2, 1, ONE)

WHOLE = {"flag": zeros(1), "data": zeros(64), "y": zeros(64)}
BACKWARDS = {"y": 10 * np.arange(64)[::-1]}
right("a_flag_and_barriers", 2, 64, WHOLE, BACKWARDS)
right("a_fence_of_each_thread", 2, 64, WHOLE, BACKWARDS)
race("blocks", "data[", "no_barrier_before_the_flag", 2, 64, WHOLE)
race("blocks", "data[", "no_barrier_after_the_flag", 2, 64, WHOLE)

BLOCK = {"x": 42 * ints(1), "y": zeros(1)}
right("a_flag_between_warps", 1, 64, BLOCK, {"y": [42]})
race("warps", "data", "a_flag_between_warps_without_fences", 1, 64, BLOCK)
right("a_flag_raised_by_an_exchange", 2, 1, ONE, {"y": [42]})
