"""Launches of bounds.cu."""

import numpy as np

from simulator import FaultKind
from tests.simulator.programs.program import Subject, floats, ints, zeros

SUBJECT = Subject("bounds")
right, wrong = SUBJECT.right, SUBJECT.wrong
UNWRITTEN, OUTSIDE = FaultKind.UNINITIALISED_READ, FaultKind.OUT_OF_BOUNDS

X, Y = floats(100), zeros(100, dtype=np.float32)
wrong(OUTSIDE, "past_the_end", 4, 32, {"x": X, "y": Y}, place="x[100]")
wrong(OUTSIDE, "one_past_the_end", 4, 32, {"x": X, "y": Y, "n": 100}, place="y[100]")
wrong(OUTSIDE, "before_the_beginning", 3, 32, {"x": X, "y": Y}, place="x[-1]")
wrong(OUTSIDE, "outside_shared_memory", 1, 64, {"x": X, "y": Y}, shared_bytes=256)
wrong(FaultKind.MISALIGNED, "four_floats_from_the_second", 1, 16, {"x": X, "y": Y}, place="of x")
wrong(FaultKind.WRITE_TO_CONST, "written_through_a_cast", 1, 32, {"x": X}, place="to x")

ONE = {"x": floats(64), "y": zeros(64, dtype=np.float32)}
wrong(UNWRITTEN, "never_written", 1, 64, ONE | {"n": 33}, place=("tile[33]", "byte 132"))
wrong(UNWRITTEN, "written_by_another_block", 2, 32, ONE, place=("scale", "byte 0"))
wrong(UNWRITTEN, "a_halo_never_written", 1, 64, ONE,
      place=("tile[0]", "tile[65]", "byte 0", "byte 260"))  # fmt: skip
PADDED = np.pad(floats(64), 1)
right("a_halo_of_zeros", 1, 64, ONE, {"y": PADDED[:-2] + PADDED[1:-1] + PADDED[2:]})
right("a_tile_that_is_not_full", 1, 64, ONE | {"n": 33},
      {"y": np.pad(floats(33)[::-1], (0, 31))})  # fmt: skip

SIGNED = np.where(np.arange(32) == 20, -1, ints(32)).astype(np.int32)
for kind, name in ((FaultKind.ASSERTION, "an_assertion"), (FaultKind.TRAP, "a_trap")):
    wrong(kind, name, 1, 32, {"x": SIGNED, "y": zeros(32)})
wrong(FaultKind.STACK_OVERFLOW, "a_recursion_without_an_end", 1, 32,
      {"x": zeros(32), "y": zeros(32)})  # fmt: skip
wrong(FaultKind.ILLEGAL_CALL, "a_call_of_nothing", 1, 32,
      {"x": ints(32) % 3, "y": zeros(32)})  # fmt: skip
