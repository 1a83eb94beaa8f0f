"""What is known of a failed test: which one, what was raised, and the lines that led there."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.lessons.answer_module import TASK, AnswerError
from harness.lessons.answers import Source
from harness.telling.place import shown


@dataclass(frozen=True, slots=True)
class FailedTest:
    """Which test failed, and what it judges."""

    node_id: str
    file: Path
    lesson_name: str
    task: int | None  # of @pytest.mark.task(n)
    root: Path
    options: Sequence[str] = ()  # of ours, that the next run needs again
    counters: Sequence[str] = ()  # lines of the tables of what it profiled
    notes: Sequence[str] = ()  # the simulator's, of its launches


@dataclass(frozen=True, slots=True)
class Frame:
    """A line that led to the failure."""

    path: Path
    line: int
    is_test: bool
    function: str = ""

    @property
    def source(self) -> str:
        return linecache.getline(str(self.path), self.line).strip()

    @property
    def place(self) -> str:
        return f"{shown(self.path)}:{self.line}"


def frames_of(error: BaseException, test_file: Path, source: Source) -> Iterator[Frame]:
    """The frames of the test and of the learner's files, outermost first."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path == test_file:
            yield Frame(path, line, True, frame.f_code.co_name)
        elif source.owns(path):
            yield Frame(path, line, False, frame.f_code.co_name)


def raised_inside(error: BaseException, frames: Sequence[Frame]) -> bool:
    """Whether code that is neither the test's nor the learner's raised it."""
    last = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
    if not last or not frames:
        return True
    return Path(last[0].f_code.co_filename) != frames[-1].path


def is_verdict(error: BaseException) -> bool:
    """Whether the exception is a test's own word, whatever helper raised it."""
    return isinstance(error, AssertionError) or hasattr(error, "pytrace")


def unwritten_task(error: BaseException) -> int | None:
    """The task whose stub was called."""
    cause = error.__cause__ if isinstance(error, AnswerError) else error
    if not isinstance(cause, NotImplementedError):
        return None
    found = TASK.search(str(cause))
    return int(found[1]) if found else None


def first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
