"""`lesson status`: the path, what is passed on what and when, what is open, and what to type."""

import os
from collections.abc import Iterator
from pathlib import Path

import typer

from harness.lessons import curriculum, progress
from harness.lessons.curriculum import Curriculum, Lesson
from harness.lessons.progress import Progress, Record
from harness.running.locking import Standing, command, open_lesson, standing

_SIGNS = {Standing.PASSED: "✓", Standing.OPEN: "▸", Standing.LOCKED: " "}
_COLOURS = {
    Standing.PASSED: typer.colors.GREEN,
    Standing.OPEN: typer.colors.YELLOW,
    Standing.LOCKED: typer.colors.BRIGHT_BLACK,
}


def status_command(root: Path, cwd: Path) -> int:
    """Print the path; the exit status."""
    path = curriculum.load(root)
    done = progress.load(root)
    for note in done.notes:
        typer.secho(note, fg=typer.colors.YELLOW)
    part = ""
    for lesson in path.lessons:
        if lesson.part != part:
            part = lesson.part
            typer.secho(f"\n{_titled(part)}", bold=True)
        place = standing(lesson, path, done)
        typer.secho(_row(lesson, place, done.record(lesson.id)), fg=_COLOURS[place])
    typer.echo()
    for line in _ending(path, done, cwd):
        typer.echo(line)
    return 0


def _titled(part: str) -> str:
    return part if len(part) > len("VIII") else f"Part {part}"


def _row(lesson: Lesson, place: Standing, record: Record) -> str:
    text = f" {_SIGNS[place]} {lesson.number:02}  {lesson.title:<34} "
    return (text + ", ".join(_history(place, record))).rstrip()


def _history(place: Standing, record: Record) -> Iterator[str]:
    """What a row says after the title: passed on what and when, or how far it has come."""
    if place is Standing.PASSED:
        yield "passed on " + " and ".join(f"{one.on} ({one.date[:10]})" for one in record.passes)
    elif place is Standing.OPEN:
        yield "open"
    if place is not Standing.PASSED and record.attempts:
        yield _plural(record.attempts, "run")
    if record.hints:
        yield _plural(len(record.hints), "hint")
    if record.marks:
        yield _plural(len(record.marks), "stretch mark")
    if record.medals:
        yield _plural(len(record.medals), "medal")
    if any(one.by_override for one in record.passes):
        yield "out of order"


def _ending(path: Curriculum, done: Progress, cwd: Path) -> Iterator[str]:
    passed = sum(done.passed(lesson.id) for lesson in path.lessons)
    yield f"{passed} of {_plural(len(path.lessons), 'lesson')} passed"
    lesson = open_lesson(path, done)
    if lesson is None:
        yield "The whole path is yours."
        return
    readme = os.path.relpath(lesson.folder / "README.md", cwd)
    minutes = f"   (about {lesson.minutes} minutes)" if lesson.minutes else ""
    yield f"Read:  {readme}{minutes}"
    yield f"Run:   {command(lesson, cwd)}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
