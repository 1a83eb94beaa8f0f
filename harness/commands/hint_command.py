"""`lesson hint`: the next hint of a lesson, one at a time, and a record of those that were read."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from harness.lessons import integrity, progress
from harness.lessons.curriculum import Curriculum, Lesson
from harness.lessons.progress import Record
from harness.lessons.readme_hints import Hint, Key, hints_of, next_hint
from harness.running.locking import Standing, open_lesson, standing
from harness.stubs.regions import open_tasks_of
from harness.telling.invocation import typed


def hint_command(path: Curriculum, lesson: Lesson, task: int | None, level: int | None) -> int:
    """Print a hint and record that it was read; the exit status."""
    done = progress.load(path.root)
    for note in done.notes:
        print(note)
    record = done.record(lesson.id)
    first = open_lesson(path, done)
    closed = standing(lesson, path, done) is Standing.LOCKED and not record.opened_by_override
    if closed and first is not None:
        print(f"{lesson.label} is locked; its hints wait with it. {first.label} comes first:")
        print(f"  {typed(f'hint {first.number}')}")
        return 1
    readme = lesson.folder / "README.md"
    try:
        hints = hints_of(readme.read_text(encoding="utf-8"))
    except FileNotFoundError:
        print(f"Lesson {lesson.number:02} has no README.md; see: {typed('status')}")
        return 1
    tasks = sorted({hint.task for hint in hints})
    if not hints or (task is not None and task not in tasks):
        return _say_none(lesson, tasks, task)
    if task is None:
        task = _task_at_hand(path.root, lesson, record, tasks)
    if task is None and level is None and record.passed:
        return _say_passed(lesson, tasks)
    seen = [key for text in record.hints if (key := _key(text))]
    hint = next_hint(hints, seen, task, level)
    if hint is None:
        _say_all_seen(lesson, hints, task, level)
        return 1
    _show(lesson, hint, [one for one in hints if one.task == hint.task])
    if hint.key not in seen:
        _record(path.root, lesson, hint)
    return 0


def _task_at_hand(root: Path, lesson: Lesson, record: Record, tasks: list[int]) -> int | None:
    """The first task that failed when it last ran; before any run, the first to be written.

    After a pass one that was left open, as a stretch task may be; None if there is none.
    """
    candidates: Sequence[int] = record.failing
    if not record.attempts:
        candidates = sorted(unwritten_tasks(root, lesson)) or tasks
    elif record.passed and not candidates:
        candidates = sorted(unwritten_tasks(root, lesson))
    return next((task for task in candidates if task in tasks), None)


def unwritten_tasks(root: Path, lesson: Lesson) -> set[int]:
    """The tasks whose TODO still stands in the learner's files."""
    tasks: set[int] = set()
    for name in integrity.editable_files(root).get(lesson.name, []):
        path = lesson.folder / name
        if path.suffix in (".cu", ".cuh", ".py") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            tasks |= {task.number for task in open_tasks_of(text)}
    return tasks


def _show(lesson: Lesson, hint: Hint, of_task: list[Hint]) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    place = [one.level for one in of_task].index(hint.level) + 1
    print(f"Lesson {lesson.number:02} · task {hint.task} · hint {place} of {len(of_task)}\n")
    console.print(Markdown(hint.text))
    again = typed(f"hint {lesson.number} --task {hint.task}")
    if place < len(of_task):
        print(f"\nThe next one, when you need it:  {again}")
    else:
        print(f"\nThat was the last hint of task {hint.task}. {_what_else(lesson)}")


def _what_else(lesson: Lesson) -> str:
    """Where help is when the hints are over."""
    name = lesson.name
    return (
        "What else there is:\n"
        f"  pytest --counters curriculum/{name}   your source with the counts beside each line\n"
        f"  pytest -s curriculum/{name}           shows what a printf in the kernel prints\n"
        f"  git diff --no-index curriculum/{name} solutions/{name}   ours, once yours passes"
    )


def _say_passed(lesson: Lesson, tasks: list[int]) -> int:
    print(f"Lesson {lesson.number:02} is passed, and none of its tasks failed when it last ran.")
    numbers = ", ".join(map(str, tasks))
    print(
        f"A hint all the same (task {numbers}): {typed(f'hint {lesson.number} --task {tasks[0]}')}"
    )
    return 0


def _say_none(lesson: Lesson, tasks: list[int], task: int | None) -> int:
    of_task = "" if task is None else f" for task {task}"
    print(f"Lesson {lesson.number:02} has no hints{of_task}.")
    if tasks:
        print(f"It has some for: {', '.join(f'task {one}' for one in tasks)}")
    return 1


def _say_all_seen(
    lesson: Lesson, hints: Iterable[Hint], task: int | None, level: int | None
) -> None:
    if level is not None:
        levels = sorted({hint.level for hint in hints if task in (None, hint.task)})
        print(f"There is no hint {level} here; there are: {', '.join(map(str, levels))}")
        return
    where = f"task {task}" if task is not None else f"lesson {lesson.number:02}"
    print(f"You have read every hint of {where}. To read one again:")
    print(f"  {typed(f'hint {lesson.number} --task {task or 1} --level 1')}")
    others = sorted({hint.task for hint in hints} - {task})
    if task is not None and others:
        print(f"Another task's, such as: {typed(f'hint {lesson.number} --task {others[0]}')}")
    print(_what_else(lesson))


def _key(text: str) -> Key | None:
    """A recorded hint, such as "task 2 hint 1"; anything else is skipped."""
    words = text.split()
    if len(words) == 4 and words[1].isdecimal() and words[3].isdecimal():
        return int(words[1]), int(words[3])
    return None


def _record(root: Path, lesson: Lesson, hint: Hint) -> None:
    name = f"task {hint.task} hint {hint.level}"

    def add(before: progress.Progress) -> progress.Progress:
        record = before.record(lesson.id)
        return before.with_record(lesson.id, replace(record, hints=(*record.hints, name)))

    try:
        progress.update(root, add)
    except progress.ProgressUnwritable as error:
        print(f"\n({error}; the hint is not recorded)")
