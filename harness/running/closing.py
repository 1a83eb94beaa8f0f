"""The last lines of a run: what was passed, what is next, and why something does not count."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.lessons.curriculum import Curriculum, Lesson
from harness.running import locking
from harness.running.verdict import LessonRun, Outcome
from harness.telling.invocation import typed
from harness.telling.place import shown

SHOWN_FILES = 3
TRIES_BEFORE_A_HINT = 3


def passed(lesson: Lesson, following: Lesson | None, on: str, root: Path, cwd: Path) -> list[str]:
    """The lines a learner reads on passing a lesson."""
    lines = [f"{lesson.label} is passed, on {_on(on)}."]
    if following is None:
        lines.append("That was the last open lesson: the whole path is yours.")
    else:
        lines.append(f"next: {following.label}, {shown(following.folder / 'README.md', cwd)}")
        lines.append(f"  {locking.command(following, cwd)}")
    solution = root / "solutions" / lesson.name
    if solution.is_dir():
        ours = shlex.quote(shown(lesson.folder, cwd))
        theirs = shlex.quote(shown(solution, cwd))
        lines.append("compare your answer with ours:")
        lines.append(f"  git diff --no-index {ours} {theirs}")
    return lines


def by_task(run: LessonRun, root: Path, cwd: Path) -> list[str]:
    """Where a lesson stands: one line a task, and the test to begin with."""
    failed = [test for test, how in run.outcomes.items() if how is Outcome.FAILED]
    rows = []
    for task in sorted(set(run.tasks.values())):
        tests = [test for test in run.outcomes if run.tasks.get(test) == task]
        wrong = [test for test in tests if test in failed]
        place = next((run.places[test] for test in wrong if test in run.places), "")
        state = f"{len(wrong)} of {len(tests)} fail" if wrong else f"all {len(tests)} pass"
        rows.append(f"  task {task}   {state:<16} {place.rpartition('edit ')[2]}".rstrip())
    if len(failed) < 2 or not rows:
        return []
    path, _, name = failed[0].partition("::")
    first = shlex.quote(f"{shown(root / path, cwd)}::{name}")
    return [*rows, f"begin with: pytest {first}"]


def stuck(lesson: Lesson, attempts: int) -> list[str]:
    """A hint is offered only to somebody who has tried."""
    if attempts < TRIES_BEFORE_A_HINT:
        return []
    return [f"stuck? {typed(f'hint {lesson.number}')} gives the next hint"]


def withheld(lesson: Lesson, reason: str, cwd: Path) -> list[str]:
    return [
        f"{lesson.label} is not recorded: {reason}.",
        f"  it counts when all of it passes: {locking.command(lesson, cwd)}",
    ]


def changed_files(changed: Sequence[str]) -> str:
    """The reason why a run over changed files does not count."""
    if list(changed) == ["curriculum/hashes.json"]:
        return "curriculum/hashes.json is missing or damaged (git restore curriculum/hashes.json)"
    names = ", ".join(changed[:SHOWN_FILES])
    more = f" and {len(changed) - SHOWN_FILES} more" if len(changed) > SHOWN_FILES else ""
    differ = "differs" if len(changed) == 1 else "differ"
    return f"{names}{more} {differ} from what came with the lessons (git restore {changed[0]})"


def unwritable(lesson: Lesson, problem: str) -> list[str]:
    return [f"{lesson.label}: every required test passed, but {problem}."]


def left_out(waiting: Mapping[str, int]) -> list[str]:
    """One line for each kind of test that this run left out."""
    texts = {"gpu": "for a GPU", "speed": "for --speed", "speed_gpu": "for a GPU and --speed"}
    return [
        f"{count} {'test waits' if count == 1 else 'tests wait'} {texts[kind]}"
        for kind, count in waiting.items()
        if count
    ]


def still_locked(count: int, curriculum: Curriculum) -> str:
    of = f"of {len(curriculum.lessons)} lessons"
    return f"1 {of} is still locked" if count == 1 else f"{count} {of} are still locked"


def _on(on: str) -> str:
    return "the simulator" if on == "simulator" else on
