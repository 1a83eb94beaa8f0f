"""What a command line asks for: which lessons, whole or in part, and whether they may run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.lessons.curriculum import Curriculum, Lesson
from harness.lessons.progress import Progress
from harness.running import locking
from harness.telling.place import shown


@dataclass(frozen=True, slots=True)
class Request:
    """The command line, as far as lessons go."""

    arguments: tuple[str, ...]  # paths and test ids as typed; empty for a bare `pytest`
    cwd: Path
    everything_open: bool = False  # --unlocked
    answers: Path | None = None  # the folder of --answers or --solutions: locks do not apply


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing runs; `text` says why and what to type, and pytest exits with `status`."""

    text: str
    status: int = 4  # pytest's status for a command line it cannot serve


@dataclass(frozen=True, slots=True)
class Selection:
    """What pytest is to collect."""

    arguments: tuple[str, ...]
    hidden: tuple[str, ...] = ()  # folder names of lessons that a wide argument passes over
    named: tuple[str, ...] = ()  # folder names of lessons that an argument names
    whole: tuple[str, ...] = ()  # folder names of lessons of which every test is asked for
    locked: int = 0  # how many locked lessons a wide argument passed over


def select(curriculum: Curriculum, progress: Progress, request: Request) -> Selection | Refusal:
    """Turn a request into what to collect, or into the reason why nothing is."""
    arguments = request.arguments or _bare(curriculum, progress, request)
    if isinstance(arguments, Refusal):
        return arguments
    paths = [_path(argument, request.cwd) for argument in arguments]
    absent = next((path for path in paths if not path.exists()), None)
    if absent is not None and (text := locking.no_such_lesson(absent, curriculum, request.cwd)):
        return Refusal(text)
    named = [lesson for path in paths if (lesson := curriculum.containing(path))]
    free = request.everything_open or request.answers is not None
    locked = [] if free else locking.locked_lessons(curriculum, progress)
    first = locking.open_lesson(curriculum, progress)
    for lesson in named:
        if lesson in locked and first is not None:
            return Refusal(locking.refusal(lesson, first, request.cwd))
    wide = any(curriculum.folder.resolve().is_relative_to(path) for path in paths)
    return Selection(
        arguments=tuple(arguments),
        hidden=tuple(lesson.name for lesson in locked),
        named=tuple(dict.fromkeys(lesson.name for lesson in named)),
        whole=tuple(
            lesson.name
            for lesson in curriculum.lessons
            if lesson not in locked and _is_whole(lesson, arguments, request.cwd)
        ),
        locked=len(locked) if wide else 0,
    )


def _bare(
    curriculum: Curriculum, progress: Progress, request: Request
) -> tuple[str, ...] | Refusal:
    """`pytest` without a path: where we stand decides, else the open lesson."""
    here = request.cwd
    tests = curriculum.root / "tests"
    lesson = curriculum.containing(here)
    if lesson is not None:
        return (str(lesson.folder),)
    if here.resolve().is_relative_to(tests.resolve()):
        return (str(here),)
    if request.answers is not None:
        return _answered(curriculum, request.answers, tests)
    lesson = locking.open_lesson(curriculum, progress)
    if lesson is None:
        again = shown(curriculum.folder, here)
        return Refusal(f"Every lesson is passed. Run them all again: pytest {again}", 0)
    return (str(lesson.folder),)


def _answered(curriculum: Curriculum, answers: Path, tests: Path) -> tuple[str, ...]:
    """--solutions runs all there is; --answers DIR runs the lessons that DIR answers."""
    if answers == curriculum.solutions:
        return tuple(str(folder) for folder in (tests, curriculum.folder) if folder.is_dir())
    answered = [row for row in curriculum.lessons if (answers / row.name).is_dir()]
    return tuple(str(lesson.folder) for lesson in answered) or (str(curriculum.folder),)


def _path(argument: str, cwd: Path) -> Path:
    return (cwd / argument.partition("::")[0]).resolve()


def _is_whole(lesson: Lesson, arguments: Sequence[str], cwd: Path) -> bool:
    paths = [_path(argument, cwd) for argument in arguments if "::" not in argument]
    files = lesson.test_files()
    return bool(files) and all(
        any(file.is_relative_to(path) for path in paths) for file in (f.resolve() for f in files)
    )
