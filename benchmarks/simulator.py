"""How fast the simulator is on this CPU, beside Numba's CUDA simulator, Triton's interpreter and
plain NumPy.

    python benchmarks/simulator.py [--output FILE] [--rounds N]

Everything is timed in one process and in turns, in CPU seconds: medians, with the fastest and the
slowest round as a share of the median. Each result is checked after it has been timed.

A lane instruction is one instruction of one thread, as the counter `thread_instructions` has it.
Numba's simulator starts an operating system's thread for each CUDA thread, so it gets a small size,
and ours runs that same size beside it; the rates of the large size stand next to both. Triton's
interpreter has a process of its own and takes its turns there.
"""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # not this folder, in which `simulator` would be this very file
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # Numba and the BLAS read these when they are imported
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

from benchmarks.simulator_speed import report, sections, triton_peers, triton_report  # noqa: E402


def processor() -> str:
    """The CPU's model, where Linux tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    default = ROOT / "benchmarks" / "results" / "simulator.json"
    parser.add_argument("--output", type=Path, default=default)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    machine = {
        "processor": processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    results = {"machine": machine, "rounds": arguments.rounds} | sections.all_of(arguments.rounds)
    results["triton"] = triton_peers.all_of(arguments.rounds)
    results["bars"] = report.bars(results) + triton_report.bars(results["triton"])
    report.print_all(results)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
