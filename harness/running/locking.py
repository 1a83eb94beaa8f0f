"""Which lesson is open, which are locked, and what a learner is told at a locked door."""

from __future__ import annotations

import re
import shlex
from enum import Enum
from pathlib import Path

from harness.lessons.curriculum import Curriculum, Lesson
from harness.lessons.progress import Progress
from harness.telling.place import shown


class Standing(Enum):
    PASSED = "passed"
    OPEN = "open"
    LOCKED = "locked"


def open_lesson(curriculum: Curriculum, progress: Progress) -> Lesson | None:
    """The first lesson that is not passed; None when all are."""
    return next((row for row in curriculum.lessons if not progress.passed(row.id)), None)


def standing(lesson: Lesson, curriculum: Curriculum, progress: Progress) -> Standing:
    if progress.passed(lesson.id):
        return Standing.PASSED
    return Standing.OPEN if lesson == open_lesson(curriculum, progress) else Standing.LOCKED


def locked_lessons(curriculum: Curriculum, progress: Progress) -> list[Lesson]:
    return [
        lesson
        for lesson in curriculum.lessons
        if standing(lesson, curriculum, progress) is Standing.LOCKED
    ]


def command(lesson: Lesson, cwd: Path) -> str:
    """What to type in `cwd` to run a lesson."""
    return f"pytest {shlex.quote(shown(lesson.folder, cwd))}"


def refusal(lesson: Lesson, first: Lesson, cwd: Path) -> str:
    """What stands at the door of `lesson` while `first` is open: at most five lines."""
    return (
        f"{lesson.label} is locked: {first.label} comes first.\n"
        f"  {command(first, cwd)}\n"
        f"Passing a lesson opens the next. (--unlocked opens them all, and is recorded.)"
    )


def no_such_lesson(path: Path, curriculum: Curriculum, cwd: Path) -> str:
    """What to say of an absent path that looks like a lesson's folder; empty if it does not."""
    looks = re.fullmatch(r"(?:lesson[_-]?)?(\d{1,3})", path.name, re.IGNORECASE)
    if looks is None or not curriculum.lessons:
        return ""
    lesson = curriculum.by_number(int(looks[1]))
    if lesson is not None:
        return f"there is no {path.name}: did you mean {shown(lesson.folder, cwd)}?"
    last = curriculum.lessons[-1]
    return f"there is no {path.name}; the last lesson is {shown(last.folder, cwd)}"
