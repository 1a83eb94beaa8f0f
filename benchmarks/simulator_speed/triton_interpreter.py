"""The process in which Triton's own interpreter runs: `TRITON_INTERPRET` is read at import.

Started by `triton_peers.py`. Reads the name of a task from each line of its input, runs the task
once, and writes one line of JSON: CPU seconds, how wrong the result is, or what went wrong.
"""

import json
import sys
import time
import warnings

warnings.simplefilter("ignore")

import torch  # noqa: E402

from benchmarks.simulator_speed.triton_tasks import TASKS, TritonTask  # noqa: E402


def main() -> None:
    torch.set_num_threads(1)
    made: dict[str, TritonTask] = {}
    for line in sys.stdin:
        name = line.rstrip("\n")
        task = made.get(name) or made.setdefault(name, TASKS[name]())
        task.clear()
        try:
            began = time.process_time()
            task.run()
            told = {"seconds": time.process_time() - began, "excess": task.excess()}
        except Exception as error:  # what it cannot do is a result too
            told = {"error": f"{type(error).__name__}: {error}".split("\n")[0][:200]}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
