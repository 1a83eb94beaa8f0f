"""What a learner reads when a test of a lesson fails: at most 25 lines.

The task and the place to edit, what was wrong, the lines of theirs and of the test that led there,
and one command to run it again. Frames of our own code are never shown. An exception that carries
`learner_report: str` says it better than a traceback would, and is printed instead of one.
"""

from __future__ import annotations

import linecache
import os
import re
import shlex
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.lessons.answer_module import TASK, AnswerError
from harness.lessons.answers import Source
from harness.telling.place import shown

MOST_LINES = 25
MOST_COLUMNS = 160
UNWRITTEN = "is not written yet"
TOLD_ABOVE = "told in full above"
PLACE = re.compile(r"(?:^|\s)([^\s:]+\.(?:cu|py)):\d+", re.MULTILINE)
MARK = re.compile(r"(?://|#)\s*TASK\s+(\d+)\b")
ADDRESS = re.compile(
    r"<(?:function|built-in function|bound method|class) '?([\w.<>]+?)'?"
    r"(?: (?:at 0x[0-9a-f]+|of .*?))?>"
)
WHERE_FROM = re.compile(r"^\s*\+\s+(?:where|and)\s+[\w.<>]+ = .*\.[\w]+$")


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


@dataclass(frozen=True, slots=True)
class Frame:
    """A line that led to the failure."""

    path: Path
    line: int
    is_test: bool

    @property
    def source(self) -> str:
        return linecache.getline(str(self.path), self.line).strip()

    @property
    def place(self) -> str:
        return f"{shown(self.path)}:{self.line}"


def failure_text(
    error: BaseException, test: FailedTest, source: Source, told: str | None = None
) -> str:
    """The report of one failure; `told` stands in for what the exception says of itself."""
    error = _first_leaf(error)
    frames = list(_frames(error, test, source))
    told = told or getattr(error, "learner_report", None)
    head = [_where_to_edit(error, frames, test, source, told or "")]
    tail = ["", f"rerun: {_rerun(test)}"]
    if isinstance(told, str):
        middle: list[str] = []
        body = _cut_columns(told.rstrip("\n").splitlines())
    else:
        body = _what(error, frames)
        middle = _lines(frames)
        if not middle or (not _is_verdict(error) and _raised_inside(error, frames)):
            tail.append("(every frame: add --tb=long)")
    room = MOST_LINES - len(head) - len(middle) - len(tail)
    body = _fit(body, room)
    table = _fit_table(test.counters, room - len(body) - 1)
    return "\n".join([*head, *body, *([""] if table else []), *table, *middle, *tail])


def short_form(text: str, test: FailedTest, first: str) -> str:
    """A failure of a kind that was told in full under the test called `first`."""
    head = text.splitlines()[:2]
    return "\n".join([*head, f"(as in {first}, {TOLD_ABOVE})", f"rerun: {_rerun(test)}"])


def is_short_form(text: str) -> bool:
    """Whether a report only points to another one."""
    return f", {TOLD_ABOVE})" in text


def is_unwritten(text: str) -> bool:
    """Whether a report says that a task is still to be done."""
    return any(line.endswith(UNWRITTEN) for line in text.splitlines()[1:2])


def kind_of_failure(text: str) -> str:
    """The first two lines without their numbers: what failures of one kind share."""
    return re.sub(r"-?\d[\d,.]*", "#", "\n".join(text.splitlines()[:2]))


def task_places(lesson_name: str, source: Source) -> dict[int, list[tuple[Path, int]]]:
    """Where each TASK of a lesson stands in the answer files."""
    places: dict[int, list[tuple[Path, int]]] = {}
    for path in source.files(lesson_name):
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for number, line in enumerate(lines, 1):
            if found := MARK.search(line):
                places.setdefault(int(found[1]), []).append((path, number))
    return places


def _where_to_edit(
    error: BaseException, frames: Sequence[Frame], test: FailedTest, source: Source, told: str
) -> str:
    """The first line: task, file and line."""
    task = _unwritten_task(error) or test.task
    place = _place_to_edit(error, frames, test, source, told)
    if place is None:
        return f"task {task}" if task else test.lesson_name
    return f"task {task}: edit {place}" if task else f"edit {place}"


def _place_to_edit(
    error: BaseException, frames: Sequence[Frame], test: FailedTest, source: Source, told: str
) -> str | None:
    """The line that the exception names or came from, else where the task stands."""
    unwritten = _unwritten_task(error)
    theirs = [frame for frame in frames if not frame.is_test]
    if isinstance(error, AnswerError):
        return f"{shown(error.path)}:{error.line}" if error.line else shown(error.path)
    for found in PLACE.finditer(told):
        if source.owns(Path(os.path.abspath(found[1]))):
            return found[0].strip()
    raised_here = not _is_verdict(error) and not hasattr(error, "learner_report")
    if theirs and (unwritten or raised_here):
        return theirs[-1].place
    marks = task_places(test.lesson_name, source).get(unwritten or test.task or 0, [])
    touched = {frame.path for frame in theirs}
    best = next((mark for mark in marks if mark[0] in touched), marks[0] if marks else None)
    if best is not None:
        return f"{shown(best[0])}:{best[1]}"
    return theirs[-1].place if theirs else None


def _what(error: BaseException, frames: Sequence[Frame]) -> list[str]:
    """What went wrong, in the words of the exception."""
    unwritten = _unwritten_task(error)
    if unwritten and any(not frame.is_test for frame in frames):
        return [f"task {unwritten} {UNWRITTEN}"]
    name = type(error).__name__
    message = str(error).rstrip()
    if isinstance(error, AssertionError):
        text = message or "the assertion does not hold"
    elif name in {"Failed", "Skipped", "XFailed"} or hasattr(error, "pytrace"):
        text = message
        if found := re.match(r"Timeout \(>([\d.]+)s\)", message):
            text = f"the test took longer than its limit of {float(found[1]):g} s and was stopped"
    else:
        text = f"{name}: {message}" if message else name
    notes = [line for note in getattr(error, "__notes__", []) for line in note.splitlines()]
    return _cut_columns([*_plain(text), *notes])


def _plain(text: str) -> list[str]:
    """pytest's own words without addresses and without where each function came from."""
    kept = []
    for line in text.splitlines():
        line = ADDRESS.sub(lambda found: found[1].rpartition(".")[2], line)
        if not WHERE_FROM.match(line):
            kept.append(line)
    return kept


def _frames(error: BaseException, test: FailedTest, source: Source) -> Iterator[Frame]:
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path == test.file:
            yield Frame(path, line, True)
        elif source.owns(path):
            yield Frame(path, line, False)


def _lines(frames: Sequence[Frame]) -> list[str]:
    """The innermost line of the test and the innermost line of the learner's."""
    chosen = [
        next((frame for frame in reversed(frames) if frame.is_test is is_test), None)
        for is_test in (False, True)
    ]
    known = [frame for frame in chosen if frame is not None]
    if not known:
        return []
    width = max(len(frame.place) for frame in known)
    return ["", *(_column(f"  {frame.place:<{width}}   {frame.source}") for frame in known)]


def _raised_inside(error: BaseException, frames: Sequence[Frame]) -> bool:
    last = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__)][-1:]
    if not last or not frames:
        return True
    return Path(last[0][0].f_code.co_filename) != frames[-1].path


def _is_verdict(error: BaseException) -> bool:
    """Whether the exception is a test's own word, whatever helper raised it."""
    return isinstance(error, AssertionError) or hasattr(error, "pytrace")


def _unwritten_task(error: BaseException) -> int | None:
    cause = error.__cause__ if isinstance(error, AnswerError) else error
    if not isinstance(cause, NotImplementedError):
        return None
    found = TASK.search(str(cause))
    return int(found[1]) if found else None


def _first_leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _rerun(test: FailedTest) -> str:
    path, _, rest = test.node_id.partition("::")
    node = f"{shown(test.root / path)}::{rest}" if rest else shown(test.root / path)
    return " ".join(["pytest", shlex.quote(node), *test.options])


def _fit(lines: list[str], room: int) -> list[str]:
    """The first and the last lines, when all are too many."""
    if len(lines) <= room:
        return lines
    tail = min(4, room // 3)
    left_out = len(lines) - (room - 1)
    return [*lines[: room - 1 - tail], f"… {left_out} lines left out …", *lines[-tail:]]


def _fit_table(lines: Sequence[str], room: int) -> list[str]:
    """A counter table, or its head, the lines it points at, and its foot."""
    if len(lines) > room:
        pointed = [line for line in lines[2:-2] if line.startswith(">")]
        lines = [*lines[:2], *pointed, *lines[-2:]]
    return _cut_columns(lines) if len(lines) <= room else []


def _cut_columns(lines: Sequence[str]) -> list[str]:
    return [_column(line) for line in lines]


def _column(line: str) -> str:
    return line if len(line) <= MOST_COLUMNS else line[: MOST_COLUMNS - 1] + "…"
