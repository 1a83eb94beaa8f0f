"""A kernel's first launch in a new process: compile, read, translate, run. And many launches.

    python -m benchmarks.simulator_speed.triton_first_launch FOLDER NAME ...

Started by `triton_peers.py` twice with a folder for our cache and, in `TRITON_CACHE_DIR`, for
Triton's: first both are empty, then both hold what the first process left. Writes one line of JSON
for each task: wall seconds of the first launch and of the second. The first task pays for what a
process does once, such as loading the compiler. The last line tells of many launches of a small
kernel.
"""

import json
import sys
import time
from pathlib import Path

import torch

import harness.triton_driver  # noqa: F401  (runs kernels on the simulator from here on)
from benchmarks.simulator_speed.triton_tasks import TASKS, TritonTask, add
from harness.launching import ptx_cache

LAUNCHES = 100
SMALL = 1000  # elements of the small kernel


def main() -> None:
    torch.set_num_threads(1)
    ptx_cache.keep_in(Path(sys.argv[1]))
    for name in sys.argv[2:]:
        task = TASKS[name]()
        first, second = _seconds(task), _seconds(task)
        _tell(name=name, first=first, second=second, right=task.excess() <= 1)
    small = add(SMALL)
    small.run()
    _tell(name=f"{LAUNCHES} launches", seconds=sum(_seconds(small) for _ in range(LAUNCHES)))


def _seconds(task: TritonTask) -> float:
    task.clear()
    began = time.perf_counter()
    task.run()
    return time.perf_counter() - began


def _tell(**what: str | float | bool) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
