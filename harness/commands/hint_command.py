"""`lesson hint`: the next hint of a lesson, one at a time, and a record of those that were read."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.lessons import integrity, progress
from harness.lessons.curriculum import Lesson
from harness.lessons.hints import Hint, Key, hints_of, next_hint
from harness.stubs.regions import open_tasks_of
from harness.telling.invocation import typed


def hint_command(root: Path, lesson: Lesson, task: int | None, level: int | None) -> int:
    """Print a hint and record that it was read; the exit status."""
    readme = lesson.folder / "README.md"
    try:
        hints = hints_of(readme.read_text(encoding="utf-8"))
    except FileNotFoundError:
        print(f"Lesson {lesson.number:02} has no README.md; see: {typed('status')}")
        return 1
    tasks = sorted({hint.task for hint in hints})
    if not hints or (task is not None and task not in tasks):
        of_task = "" if task is None else f" for task {task}"
        print(f"Lesson {lesson.number:02} has no hints{of_task}.")
        if tasks:
            print(f"It has some for: {', '.join(f'task {one}' for one in tasks)}")
        return 1
    done = progress.load(root)
    for note in done.notes:
        print(note)
    seen = [key for text in done.record(lesson.id).hints if (key := _key(text))]
    hint = next_hint(hints, seen, unwritten_tasks(root, lesson), task, level)
    if hint is None:
        _say_all_seen(lesson, hints, task, level)
        return 1
    _show(lesson, hint, [one for one in hints if one.task == hint.task])
    if hint.key not in seen:
        _record(root, lesson, hint)
    return 0


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
    if place < len(of_task):
        again = typed(f"hint {lesson.number} --task {hint.task}")
        print(f"\nThe next one, when you need it:  {again}")


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
    print("The task's tests say what is still wrong; the README tells the idea from the start.")


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
