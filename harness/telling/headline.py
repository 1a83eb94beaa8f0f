"""The first line of a failure: the task, and the file and line to edit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.lessons.answer_module import AnswerError
from harness.lessons.answers import Source
from harness.telling.asked import named_by_test, reached
from harness.telling.definitions import Definition, around, definitions_in
from harness.telling.failure import FailedTest, Frame, is_verdict, unwritten_task
from harness.telling.place import shown

PLACE = re.compile(r"(?:^|\s)([^\s:]+\.(?:cu|py)):(\d+)", re.MULTILINE)
MARK = re.compile(r"(?://|#)\s*TASK\s+(\d+)\b")


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """A TASK line in an answer file, and the function or kernel around it."""

    task: int
    path: Path
    line: int
    function: str

    @property
    def place(self) -> str:
        return f"{shown(self.path)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Headline:
    """What to edit, and for the summary the place of the test's own task."""

    text: str
    own_place: str = ""


def headline(
    error: BaseException, frames: Sequence[Frame], test: FailedTest, source: Source, told: str
) -> Headline:
    """Where a learner should look first."""
    places = task_places(test.lesson_name, source)
    own = [place for place in places if place.task == test.task]
    asked = _asked(frames, places, test, source)
    fallback = _chosen(own, frames, asked)
    own_place = fallback.place if fallback else ""
    if given := getattr(error, "headline", ""):
        return Headline(given, own_place)

    task = unwritten_task(error) or test.task
    found = _raised_at(error, frames, source, told)
    if found is None:
        others = [place for place in places if place.task != task]
        best = _chosen([place for place in places if place.task == task], frames, asked)
        if (asked is None or asked not in own) and asked in others and test.task == task:
            best = asked  # the test never asks for what its own task is about
        if best is not None:
            return _line(best.task, best.place, own_place if best.task != test.task else best.place)
        theirs = [frame for frame in frames if not frame.is_test]
        return _line(task, theirs[-1].place if theirs else None, own_place)

    path, line = found
    if isinstance(error, AnswerError) or hasattr(error, "complaints"):  # the file as a whole
        task = unwritten_task(error) or _owner(path, line, test.task, places)
    where = f"{shown(path)}:{line}" if line else shown(path)
    is_own = task == test.task and any(place.path == path for place in own)
    return _line(task, where, where if is_own else own_place or where)


def task_places(lesson_name: str, source: Source) -> list[TaskPlace]:
    """Where each TASK of a lesson stands in the answer files."""
    places: list[TaskPlace] = []
    for path in source.files(lesson_name):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        definitions: list[Definition] | None = None
        for number, line in enumerate(lines, 1):
            if mark := MARK.search(line):
                definitions = definitions_in(path) if definitions is None else definitions
                inside = around(definitions, number)
                places.append(TaskPlace(int(mark[1]), path, number, inside.name if inside else ""))
    return places


def _line(task: int | None, place: str | None, own_place: str) -> Headline:
    if place is None:
        return Headline(f"task {task}" if task else "", own_place)
    return Headline(f"task {task}: edit {place}" if task else f"edit {place}", own_place)


def _raised_at(
    error: BaseException, frames: Sequence[Frame], source: Source, told: str
) -> tuple[Path, int | None] | None:
    """The line that the exception names or came from; None for a verdict of the test's."""
    if isinstance(error, AnswerError):
        return error.path, error.line
    for found in PLACE.finditer(told):
        path = Path(os.path.abspath(found[1]))
        if source.owns(path):
            return path, int(found[2])
    theirs = [frame for frame in frames if not frame.is_test]
    raised_here = not is_verdict(error) and not hasattr(error, "learner_report")
    if theirs and (unwritten_task(error) or raised_here):
        return theirs[-1].path, theirs[-1].line
    return None


def _chosen(
    places: Sequence[TaskPlace], frames: Sequence[Frame], asked: TaskPlace | None
) -> TaskPlace | None:
    """Of a task's places the one in a function that ran last, else the one that was asked for."""
    for frame in reversed([frame for frame in frames if not frame.is_test]):
        for place in places:
            if (place.path, place.function) == (frame.path, frame.function):
                return place
    if asked in places:
        return asked
    touched = {frame.path for frame in frames}
    return next((place for place in places if place.path in touched), next(iter(places), None))


def _asked(
    frames: Sequence[Frame], places: Sequence[TaskPlace], test: FailedTest, source: Source
) -> TaskPlace | None:
    """The place of the function or kernel that the test names or reaches.

    One of its own task, else of the last task it reaches: the earlier ones were passed before.
    """
    names = list(named_by_test(frames))
    if not names:
        return None
    used: dict[str, tuple[str, ...]] = {}
    for one in _definitions([test.file, *source.files(test.lesson_name)]):
        used[one.name] = used.get(one.name, ()) + one.words
    own = [place for place in places if place.task == test.task]
    others = list(_by_task_backwards(places, test.task))
    for candidates in [own, *(others if all(one.function for one in own) else [])]:
        found = reached(names, {place.function for place in candidates} - {""}, used)
        if found is not None:
            matching = [place for place in candidates if place.function == found]
            return next((place for place in matching if place.path.stem in names), matching[0])
    return None


def _by_task_backwards(places: Sequence[TaskPlace], own: int | None) -> Iterator[list[TaskPlace]]:
    for task in sorted({place.task for place in places} - {own}, reverse=True):
        if own is None or task < own:
            yield [place for place in places if place.task == task]


def _definitions(files: Sequence[Path]) -> Iterator[Definition]:
    for path in files:
        yield from definitions_in(path)


def _owner(
    path: Path, line: int | None, own: int | None, places: Sequence[TaskPlace]
) -> int | None:
    """The task that a line of an answer file belongs to."""
    here = [place for place in places if place.path == path]
    inside = around(definitions_in(path), line or 1)
    same = [place for place in here if inside and place.function == inside.name]
    for candidates in (same, here):
        if candidates:
            tasks = [place.task for place in candidates]
            above = [place.task for place in candidates if place.line <= (line or 1)]
            return own if own in tasks else (above or tasks[:1])[-1]
    return own
