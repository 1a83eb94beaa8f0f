"""A task whose test was stopped by its time limit: its other tests would only wait as long.

They fail at once and say so. Workers tell one another by files in the folder of last words.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.running.session import Session

SUFFIX = ".stopped"
TIME_LIMIT = "Timeout (>"  # how pytest-timeout begins


class NotRun(Exception):
    """A test that was not run; `headline` is where the stopped one told to look."""

    def __init__(self, learner_report: str, headline: str) -> None:
        super().__init__(learner_report)
        self.learner_report = learner_report
        self.headline = headline


@dataclass(slots=True)
class StoppedTasks:
    """The tasks that were stopped in this run, by lesson and number."""

    folder: Path | None = None  # None: this process runs all tests
    stops: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)

    def note(self, item: pytest.Item, session: Session, headline: str = "") -> None:
        """Remember that the test of a task did not end."""
        key = _key(item, session)
        if key is None or self._stop(key) is not None:
            return
        self.stops[key] = item.name, headline
        if self.folder is not None:
            path = self._path(self.folder, key)
            draft = path.with_suffix(f".{id(self)}")
            draft.write_text(json.dumps(self.stops[key]), encoding="utf-8")
            draft.replace(path)  # another worker never reads half of it

    def refuse(self, item: pytest.Item, session: Session) -> None:
        """Raise NotRun if another test of the item's task did not end."""
        key = _key(item, session)
        stop = self._stop(key) if key is not None else None
        if key is not None and stop is not None:
            test, headline = stop
            raise NotRun(f"not run: task {key[1]} did not end in {test}; mend that first", headline)

    def _stop(self, key: tuple[str, int]) -> tuple[str, str] | None:
        if key not in self.stops and self.folder is not None:
            path = self._path(self.folder, key)
            if path.is_file():
                test, headline = json.loads(path.read_text(encoding="utf-8"))
                self.stops[key] = test, headline
        return self.stops.get(key)

    @staticmethod
    def _path(folder: Path, key: tuple[str, int]) -> Path:
        return folder / f"{key[0]}-{key[1]}{SUFFIX}"


def is_time_limit(error: BaseException) -> bool:
    return isinstance(error, pytest.fail.Exception) and str(error).startswith(TIME_LIMIT)


def task_of(item: pytest.Item) -> int | None:
    """The task that a test judges."""
    marker = item.get_closest_marker("task")
    return int(marker.args[0]) if marker and marker.args else None


def _key(item: pytest.Item, session: Session) -> tuple[str, int] | None:
    """The lesson and task of a test of the learner's own answers."""
    lesson, task = session.lesson_of(item.nodeid), task_of(item)
    if lesson is None or task is None or session.answers is not None:
        return None
    return lesson.name, task
