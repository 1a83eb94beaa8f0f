"""Launches of asynchronous.cu."""

import numpy as np

from simulator import FaultKind
from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("asynchronous")
right, wrong, race = SUBJECT.right, SUBJECT.wrong, SUBJECT.race
UNFINISHED = FaultKind.UNFINISHED_COPY

X = ints(64)
ONE = {"x": X, "y": zeros(64)}
right("a_copy_waited_for", 1, 64, ONE, {"y": X[::-1]})
right("a_copy_for_its_own_thread", 1, 64, ONE, {"y": X + 1})
wrong(UNFINISHED, "a_copy_not_waited_for", 1, 64, ONE)
race("any", "tile[", "a_copy_waited_for_by_its_own_thread", 1, 64, ONE)
STAGES = {"x": ints(5, 64), "y": zeros(64), "tiles": 5}
right("two_stages", 1, 64, STAGES, {"y": ints(5, 64).sum(0)[::-1]})
wrong(UNFINISHED, "two_stages_and_a_wait_too_weak", 1, 64, STAGES)
race("any", "tile[", "two_stages_without_the_barrier_behind", 1, 64, STAGES)
wrong(UNFINISHED, "a_source_changed_too_early", 1, 64, ONE)

HALVES = (np.arange(256) % 5).astype(np.float16)
A = HALVES.reshape(16, 16).astype(np.float32)
MATRIX = {"a": HALVES, "c": zeros(16, 16, dtype=np.float32)}
right("a_matrix_filled_by_the_block", 1, 64, MATRIX, {"c": A @ A.T})
race("warps", "tile[", "a_matrix_read_too_early", 1, 64, MATRIX)
wrong(FaultKind.DIVERGENT_WARP, "half_a_warp_at_the_tensor_cores", 1, 32, MATRIX)
