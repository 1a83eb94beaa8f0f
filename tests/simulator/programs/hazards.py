"""Launches of hazards.cu."""

import numpy as np

from tests.simulator.programs.program import Subject, floats, ints, zeros

SUBJECT = Subject("hazards")
right, race = SUBJECT.right, SUBJECT.race

for order in ("read_after_write", "write_after_read"):
    race("lanes", "tile[", f"{order}_between_lanes", 1, 32, {"x": ints(32), "y": zeros(32)})
    race("warps", "tile[", f"{order}_between_warps", 1, 64, {"x": ints(64), "y": zeros(64)})
race("lanes", "word", "write_after_write_between_lanes", 1, 32, {"x": ints(32), "y": zeros(32)})
race("warps", "word", "write_after_write_between_warps", 1, 64, {"x": ints(64), "y": zeros(64)})
race("blocks", "middle[", "read_after_write_between_blocks", 2, 32,
     {"x": ints(64), "middle": zeros(64), "y": zeros(64)})  # fmt: skip
race("blocks", "x[", "write_after_read_between_blocks", 2, 32, {"x": ints(64), "y": zeros(64)})
race("blocks", "y[0]", "write_after_write_between_blocks", 2, 32, {"x": ints(2), "y": zeros(1)})
race("blocks", "y[0]", "writes_of_blocks_of_different_waves", 2, 32,
     {"x": ints(2), "y": zeros(1)}, kernel="write_after_write_between_blocks",
     settings={"resident_blocks": 1})  # fmt: skip
race("blocks", "x[", "a_write_of_what_an_earlier_wave_read", 2, 32,
     {"x": ints(64), "y": zeros(64)}, kernel="write_after_read_between_blocks",
     settings={"resident_blocks": 1})  # fmt: skip
race("blocks", "y[", "an_index_without_the_block", 4, 32, {"x": ints(128), "y": zeros(32)})

race("blocks", "x[", "blur_in_place_by_many_blocks", 4, 64, {"x": floats(256), "n": 256})
race("blocks", "x[", "blur_in_place_by_blocks_of_different_waves", 4, 64,
     {"x": floats(256), "n": 256}, kernel="blur_in_place_by_many_blocks",
     settings={"resident_blocks": 1})  # fmt: skip
right("doubled_where_the_blocks_fit", 3, 32, {"x": floats(96), "n": 96}, {"x": 2 * floats(96)},
      kernel="doubled_with_a_step_back")  # fmt: skip
race("blocks", "x[", "doubled_with_a_step_back", 4, 32, {"x": floats(100), "n": 100})
right("changed_by_its_own_thread", 2, 32, {"x": floats(200), "n": 200}, {"x": 2 * floats(200) + 1})
right("read_by_all", 2, 32, {"x": ints(8), "y": zeros(64), "n": 8},
      {"y": 36 + np.arange(64) % 32})  # fmt: skip

TO = np.random.default_rng(4).permutation(128).astype(np.int32)
right("scattered_by_a_permutation", 4, 32, {"to": TO, "y": zeros(128)}, {"y": np.argsort(TO)})
TWICE = np.where(np.arange(128) == 100, TO[3], TO).astype(np.int32)
race("blocks", f"y[{TO[3]}]", "scattered_to_one_place_twice", 4, 32,
     {"to": TWICE, "y": zeros(128)})  # fmt: skip

MANY = np.random.default_rng(5).permutation(600 * 256).astype(np.int32)  # more than one wave
right("many_scattered_by_a_permutation", 600, 256, {"to": MANY, "y": zeros(600 * 256)},
      {"y": np.argsort(MANY)}, kernel="scattered_by_a_permutation")  # fmt: skip
TWICE = np.where(np.arange(600 * 256) == 150_000, MANY[3], MANY).astype(np.int32)
race("blocks", f"y[{MANY[3]}]", "two_of_many_scattered_to_one_place", 600, 256,
     {"to": TWICE, "y": zeros(600 * 256)}, kernel="scattered_to_one_place_twice")  # fmt: skip

right("two_launches", 4, 32, {"x": ints(128), "y": zeros(128), "z": zeros(128)},
      {"z": 2 * ints(128)[::-1] + ints(128)}, kernel="first_of_two_launches",
      then="second_of_two_launches")  # fmt: skip
race("blocks", "visits", "a_module_variable", 4, 32, {"y": zeros(4)})
race("blocks", "y[", "inside_a_function", 4, 32, {"y": zeros(2)})

SAME = ints(64)
race("any", ("x[", "y["), "shifted_through_a_second_name", 1, 64, {"x": SAME, "y": SAME, "n": 64})
right("changed_through_a_second_name", 2, 32, {"x": SAME, "y": SAME}, {"y": SAME + 1})
race("blocks", "x[", "a_grid_stride_that_is_too_short", 2, 32, {"x": ints(128), "n": 128})
ROOM = np.zeros((2, 64), np.int32)
for t in range(64):
    for k in range(16):
        if (k + 1 + t) % 16 == 4:  # x[k] = k + 1
            ROOM[:, t] = k * t
right("local_memory_of_each_thread", 2, 64, {"x": ints(16), "y": zeros(2, 64)}, {"y": ROOM})
