"""A test that breaks its GPU context fails by name, and a new process goes on.

An illegal access ends a CUDA context for good, so every later test of the process would fail as
well. In a worker we write down the report and end the process; pytest-xdist replaces it. Without
workers the run stops.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.running import workers
from harness.running.devices import Device

STUCK = pytest.StashKey[bool]()
HANGS = (
    "Its kernel never came to an end: look for a loop whose condition no thread changes,\n"
    "or a barrier that not all threads reach."
)
NO_LIMIT = 600.0  # seconds, where no limit is set
SECONDS_TO_END = 2.0  # what a launch gets beyond its test


def loss(error: BaseException, device: Device) -> str | None:
    """What more to say when the context is gone after `error`; None when it is not.

    An exception may say that it is with `lost_device = True`.
    """
    if not device.is_gpu:
        return None
    from harness.launching.gpu_errors import is_sticky

    if isinstance(error, pytest.fail.Exception):  # such as a time limit
        return HANGS if _still_runs() else None
    cause: BaseException | None = error
    while cause is not None:
        if getattr(cause, "lost_device", False) or is_sticky(cause):
            return ""
        cause = cause.__cause__ or cause.__context__
    return None


def settle() -> None:
    """Wait for the launches of a test, so that what they break is this test's failure."""
    torch = _torch_on_gpu()
    if torch is not None:
        torch.cuda.synchronize()


def _still_runs() -> bool:
    """Whether a launch of this process does not come to an end."""
    torch = _torch_on_gpu()
    patience = time.monotonic() + SECONDS_TO_END
    try:
        while torch is not None and not torch.cuda.current_stream().query():
            if time.monotonic() > patience:
                return True
            time.sleep(0.01)
    except RuntimeError:
        return True
    return False


def _torch_on_gpu() -> Any:
    """torch, when it is there and has a GPU context."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_initialized() else None


def abandon(item: pytest.Item, report: str, loss: str, words: Path | None) -> None:
    """Leave a context that is lost."""
    if words is not None:
        workers.leave_word(words, item.nodeid, report)
        os._exit(70)
    item.session.shouldfail = (
        "the GPU context is lost after this failure; the tests after it did not run"
    )
    item.config.stash[STUCK] = loss == HANGS


def leave_stuck_gpu(config: pytest.Config) -> None:
    """End a process that would wait for a kernel that never ends, once all is said."""
    if config.stash.get(STUCK, False):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


@contextlib.contextmanager
def hold(
    item: pytest.Item, device: Device, words: Path | None, ended_late: Callable[[], None]
) -> Iterator[None]:
    """Share the GPU with other workers (a speed test has it alone), under a last time limit."""
    if not device.is_gpu or words is None:
        yield
        return
    alone = item.get_closest_marker("speed") is not None
    text = f"{item.name} went on past its time limit, and its process was ended.\n{HANGS}"
    with (
        workers.gpu_share(words, alone),
        workers.watched(words, item.nodeid, _limit(item), text, ended_late),
    ):
        yield


def crash_text(test: str) -> str:
    """What is said of a test whose process died without a word."""
    return (
        f"the process that ran {test.rpartition('::')[2]} died (a crash in native code, or memory "
        "ran out);\na new one went on with the tests after it"
    )


def _limit(item: pytest.Item) -> float:
    """The test's time limit, from its marker or pytest.ini."""
    marker = item.get_closest_marker("timeout")
    try:
        given = marker.args[0] if marker and marker.args else item.config.getini("timeout")
        return float(given) or NO_LIMIT
    except (TypeError, ValueError, KeyError):  # pytest-timeout is not there, or nothing is set
        return NO_LIMIT
