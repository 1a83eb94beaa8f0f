"""Triton's kernels on the simulator beside Triton's own interpreter, in turns.

The interpreter runs in a process of its own: it replaces the compiler for a whole process. Both
take CPU seconds of their process for one launch, argument handling and all, of a kernel that has
been launched before. Faults and counters are as a lesson has them: faults are always looked for,
counters are on only where a test asks. Both ways are shown.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import torch
import triton

import harness.triton_driver  # noqa: F401  (runs kernels on the simulator from here on)
from benchmarks.simulator_speed.triton_tasks import BARRED, FIRST, TASKS, TritonTask
from harness.launching.recording import recording

Result = dict[str, Any]
_ROOT = Path(__file__).resolve().parents[2]
_PIPE = subprocess.PIPE
_LONG = 4.0  # seconds: a call that takes longer is made fewer times
_SHORT = 0.05  # seconds that ours are repeated for, since the clock is coarse


def all_of(rounds: int) -> Result:
    torch.set_num_threads(1)
    with interpreter() as peer:
        kernels = [_beside(name, make(), peer, rounds) for name, make in TASKS.items()]
    return {
        "versions": {"triton": triton.__version__, "torch": torch.__version__},
        "kernels": kernels,
        "first_launches": first_launches(),
    }


def first_launches() -> Result:
    """Wall seconds in two new processes: with empty caches, and with those that the first left."""
    with TemporaryDirectory() as folder:
        ours, tritons = Path(folder, "ours"), Path(folder, "triton")
        ours.mkdir()
        module = "benchmarks.simulator_speed.triton_first_launch"
        command = [sys.executable, "-m", module, str(ours), *FIRST]
        environment = os.environ | {"TRITON_CACHE_DIR": str(tritons)}
        found = {}
        for caches in ("empty", "kept"):
            told = subprocess.run(
                command, env=environment, cwd=_ROOT, text=True, check=True, stdout=_PIPE
            )
            found[caches] = [json.loads(line) for line in told.stdout.splitlines()]
    return found


@contextmanager
def interpreter() -> "Iterator[subprocess.Popen[str]]":
    command = [sys.executable, "-m", "benchmarks.simulator_speed.triton_interpreter"]
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    with subprocess.Popen(
        command,
        text=True,
        env=environment,
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            with suppress(BrokenPipeError):  # it has ended: its own words stand above
                _pipe(process.stdin).close()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def _asked(peer: "subprocess.Popen[str]", name: str) -> Result:
    _pipe(peer.stdin).write(name + "\n")
    _pipe(peer.stdin).flush()
    told: Result = json.loads(_pipe(peer.stdout).readline())
    return told


def _beside(name: str, task: TritonTask, peer: "subprocess.Popen[str]", rounds: int) -> Result:
    """One kernel in both; the first call of each does not count."""
    _seconds(task, 1)
    first = _asked(peer, name)
    repeats = max(1, int(_SHORT / _seconds(task, 1)))
    turns = rounds if first.get("seconds", 0.0) < _LONG else min(rounds, 2)
    ours, counted, theirs = [], [], []
    told = first
    for _ in range(turns):
        ours.append(_seconds(task, repeats))
        wrong = task.excess()
        with recording():
            counted.append(_seconds(task, repeats))
        told = _asked(peer, name)
        theirs.append(told.get("seconds", float("nan")))
    result: Result = {
        "name": name,
        "barred": name in BARRED,
        "milliseconds": 1000 * statistics.median(ours),
        "spread": _spread(ours),
        "milliseconds_counted": 1000 * statistics.median(counted),
        "right": wrong <= 1,
        "error_over_allowed": wrong,
        "interpreter_milliseconds": 1000 * statistics.median(theirs),
        "interpreter_spread": _spread(theirs),
        "interpreter_right": told.get("excess", float("inf")) <= 1,
        "interpreter_error": told.get("error", told.get("excess")),
    }
    pairs = zip(theirs, ours, counted, strict=True)
    ratios = [(peer_time / own, peer_time / counting) for peer_time, own, counting in pairs]
    result["times_as_fast"] = statistics.median(r for r, _ in ratios)
    result["times_as_fast_counted"] = statistics.median(r for _, r in ratios)
    return result


def _seconds(task: TritonTask, repeats: int) -> float:
    """CPU seconds of one launch."""
    taken = 0.0
    for _ in range(repeats):
        task.clear()
        began = time.process_time()
        task.run()
        taken += time.process_time() - began
    return taken / repeats


def _spread(seconds: list[float]) -> tuple[float, float]:
    """(fastest, slowest) over the median."""
    middle = statistics.median(seconds)
    return min(seconds) / middle, max(seconds) / middle
