"""A kernel's first launch, in a new process: compile, read, translate, run.

    python -m benchmarks.simulator_speed.triton_first_launch NAME ...

Started by `triton_peers.py` twice in folders of its own for Triton's cache and ours: first both are
empty, then both hold what the first process left. Writes one line of JSON for each task: wall
seconds of the first launch and of the second. The first task named pays for what a process does
once (the compiler's libraries are loaded), so the caller names it twice.
"""

import json
import sys
import time

import torch

import harness.triton_driver  # noqa: F401  (runs kernels on the simulator from here on)
from benchmarks.simulator_speed.triton_tasks import TASKS


def main() -> None:
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        task = TASKS[name]()
        seconds = []
        for _ in range(2):
            task.clear()
            began = time.perf_counter()
            task.run()
            seconds.append(time.perf_counter() - began)
        print(
            json.dumps({"name": name, "seconds": seconds, "right": task.excess() <= 1}), flush=True
        )


if __name__ == "__main__":
    main()
