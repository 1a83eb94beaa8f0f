"""How many processes run the tests, what each may use, and what one leaves behind when it dies."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.running.devices import Device

WORKERS_A_GPU = 8
RESTARTS = 64  # a kernel that breaks every test of a lesson may cost a worker each time
THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
GRACE_SECONDS = 15  # what a test gets beyond its limit before its process is given up


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the command line says about processes."""

    given: bool  # -n was given
    in_process: bool  # --pdb, -s and such: a person wants to see the process
    solutions: bool


def cores() -> int:
    """Cores that this process may use, counting a container's quota."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()[:2]
        allowed = available if quota == "max" else max(1, round(int(quota) / int(period)))
    except (OSError, ValueError):
        allowed = available
    return max(1, min(available or 1, allowed or 1))


def automatic(device: Device, available: int) -> int:
    """What -n auto means: every core, and at most eight processes to a GPU."""
    return min(available, WORKERS_A_GPU * device.count) if device.is_gpu else available


def default(wishes: Wishes, device: Device, available: int) -> int | None:
    """How many workers when -n does not say; None: none, all in this process."""
    if wishes.given or wishes.in_process:
        return None
    if wishes.solutions:
        return automatic(device, available)
    return 1 if device.is_gpu else None


def limit_threads(environment: MutableMapping[str, str]) -> None:
    """One thread a worker; to be called before NumPy or torch are imported."""
    for name in THREAD_LIMITS:
        environment[name] = "1"


def assign_gpu(environment: MutableMapping[str, str], worker: int, count: int) -> None:
    """Worker i sees GPU i mod count alone, of those that this process was allowed."""
    allowed = environment.get("CUDA_VISIBLE_DEVICES", "")
    names = [name for name in allowed.split(",") if name] or [str(i) for i in range(count)]
    if count:
        environment["CUDA_VISIBLE_DEVICES"] = names[worker % count]


def number(worker_id: str) -> int:
    """gw3 → 3."""
    digits = worker_id.lstrip("abcdefghijklmnopqrstuvwxyz")
    return int(digits) if digits.isdigit() else 0


def leave_word(folder: Path, test: str, text: str) -> None:
    """Write down why this process ends in the middle of `test`."""
    path = folder / f"{os.getpid()}.json"
    path.write_text(json.dumps({"test": test, "text": text}), encoding="utf-8")


def last_word(folder: Path, test: str) -> str | None:
    """What the process that ended in the middle of `test` wrote down."""
    for path in folder.glob("*.json"):
        try:
            word = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if word.get("test") == test:
            path.unlink(missing_ok=True)
            return str(word["text"])
    return None


@contextmanager
def gpu_share(folder: Path, alone: bool) -> Iterator[None]:
    """Hold this worker's GPU together with others, or alone for a test that measures time."""
    import fcntl

    name = os.environ.get("CUDA_VISIBLE_DEVICES", "all").replace(",", "-")
    with open(folder / f"gpu-{name}.lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


@contextmanager
def watched(
    folder: Path, test: str, limit_seconds: float, text: str, ended_late: Callable[[], None]
) -> Iterator[None]:
    """End this process if a test outlives its limit inside native code, where no signal reaches."""

    def give_up() -> None:
        ended_late()
        leave_word(folder, test, text)
        os._exit(70)

    timer = threading.Timer(limit_seconds + GRACE_SECONDS, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
