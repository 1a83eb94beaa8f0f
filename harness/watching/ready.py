"""An interpreter that has torch imported and waits for one run of pytest.

Half of a small lesson's loop is spent on importing torch. So while a learner edits, a child process
imports what every lesson imports, none of it the learner's, and waits; at a save it runs pytest as
`python -m pytest` would, and ends. The next one is started when it has ended: no run sees what
another left behind.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_COURSE = Path(__file__).resolve().parents[2]
# What pytest must import itself is not among these: plugins, whose assertions it rewrites.
_IMPORTED_AHEAD = (
    "numpy",
    "torch",
    "harness.cuda",
    "harness.judging.comparison",
    "harness.judging.poison",
    "harness.telling.failed_test",
    "simulator.launching",
)
_CHILD = "import sys; sys.path.insert(1, {!r}); from harness.watching.ready import main; main()"


class Interpreter:
    """One child: it gets ready, runs pytest once, and ends."""

    def __init__(self, cwd: Path) -> None:
        reading, self._words = os.pipe()
        command = [sys.executable, "-c", _CHILD.format(str(_COURSE)), str(reading)]
        # The child takes over what is blocked; a Ctrl-C of this moment reaches us behind it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(command, cwd=cwd, pass_fds=(reading,))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(reading)

    def run(self, arguments: Sequence[str]) -> None:
        """Run pytest with these arguments; returns at once."""
        with contextlib.suppress(BrokenPipeError), os.fdopen(self._words, "w") as words:
            self._words = -1  # closed behind this block
            words.write(json.dumps(list(arguments)))

    def status(self) -> int | None:
        """The exit status; None while it waits or runs."""
        return self._process.poll()

    def end(self, grace_seconds: float = 0.0) -> None:
        """Wait so long for the child to end by itself, then kill it."""
        try:
            self._process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._words >= 0:
            os.close(self._words)
            self._words = -1


def main() -> None:
    """The child: import, wait for arguments, run."""
    for name in _IMPORTED_AHEAD:
        with contextlib.suppress(Exception):  # pytest will say it better
            __import__(name)
    with os.fdopen(int(sys.argv[1])) as words:
        given = words.read()
    if not given:  # the parent has ended
        return
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # it was the parent's alone
        import pytest

        sys.argv = ["pytest", *json.loads(given)]
        sys.exit(pytest.console_main())
    except KeyboardInterrupt:  # before pytest minded it, or behind
        sys.exit(2)
