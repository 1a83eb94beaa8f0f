"""Keeps what the compiler's C++ part prints from the terminal, and hands it on where it stops."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

_STDERR = 2


class CompilerStopped(Exception):
    """A pass of the compiler failed; log: what it printed."""

    def __init__(self, log: str) -> None:
        self.log = log
        super().__init__(log)


def quiet(stage: Callable[..., Any]) -> Callable[..., Any]:
    """The stage, its words caught. Raises CompilerStopped where it fails."""

    def caught(*args: Any, **kwargs: Any) -> Any:
        with _stderr_to_file() as file:
            try:
                return stage(*args, **kwargs)
            except RuntimeError as error:
                file.seek(0)
                log = file.read().decode(errors="replace")
                raise CompilerStopped(log or str(error)) from error

    return caught


@contextmanager
def _stderr_to_file() -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        kept = os.dup(_STDERR)
        os.dup2(file.fileno(), _STDERR)
        try:
            yield file
        finally:
            os.dup2(kept, _STDERR)
            os.close(kept)
