"""Launches of locks.cu."""

from simulator import FaultKind
from tests.simulator.programs.program import Subject, ints, zeros

SUBJECT = Subject("locks")
right, wrong, race = SUBJECT.right, SUBJECT.wrong, SUBJECT.race

LOCK = {"lock": zeros(1), "total": zeros(1)}
right("a_lock_with_fences", 2, 8, LOCK, {"total": [2 * 28]})
race("blocks", "total[0]", "a_lock_without_fences", 4, 32, LOCK)
race("blocks", "lock[0]", "a_lock_given_back_by_a_store", 4, 32, LOCK)
right("a_lock_by_tickets", 4, 32, {"ticket": zeros(1), "served": zeros(1), "order": zeros(5)},
      {"order": [4, 0, 1, 2, 3]})  # fmt: skip
wrong(FaultKind.DEADLOCK, "two_locks_in_two_orders", 2, 1, {"locks": zeros(2), "held": zeros(2)})
wrong(FaultKind.DEADLOCK, "a_lock_never_given_back", 2, 1, LOCK)
wrong(FaultKind.ENDLESS_LOOP, "a_loop_without_a_step", 1, 32,
      {"x": ints(4), "y": zeros(32), "n": 4})  # fmt: skip
