"""The last lines of a run: what was passed, what is next, and why something does not count."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.lessons.curriculum import Curriculum, Lesson
from harness.running import locking
from harness.running.verdict import SPEED, STRETCH, LessonRun, Outcome
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


def beyond(run: LessonRun) -> list[str]:
    """Why a lesson counts as passed though tests of it fail."""
    failed = [
        test
        for test, how in run.outcomes.items()
        if how is Outcome.FAILED and run.kinds.get(test) in (STRETCH, SPEED)
    ]
    if not failed:
        return []
    kinds = " and ".join(sorted({run.kinds[test] for test in failed}, reverse=True))
    tasks = sorted({run.tasks[test] for test in failed if test in run.tasks})
    of = f" of task{'s' * (len(tasks) > 1)} {', '.join(map(str, tasks))}" if tasks else ""
    count = "The test that fails is" if len(failed) == 1 else f"The {len(failed)} that fail are"
    return [f"{count} {kinds}{of}: worth a mark, and never needed to pass."]


def by_task(run: LessonRun, root: Path, cwd: Path) -> list[str]:
    """Where a lesson stands: one line a task, and the test to begin with."""
    failed = [test for test, how in run.outcomes.items() if how is Outcome.FAILED]
    states: dict[int, str] = {}
    places: dict[int, str] = {}
    for task in sorted(set(run.tasks.values())):
        tests = [test for test in run.outcomes if run.tasks.get(test) == task]
        wrong = [test for test in tests if test in failed]
        states[task], places[task] = _state(run, wrong, tests), _place(run, task, wrong)
    if len(failed) < 2 or not states:
        return []
    width = max(15, *map(len, states.values()))
    rows = [
        f"  task {task}   {state:<{width}}  {places[task]}".rstrip()
        for task, state in states.items()
    ]
    first = next((test for test in failed if test not in run.not_run), failed[0])
    path, _, name = first.partition("::")
    command = shlex.quote(f"{shown(root / path, cwd)}::{name}")
    return [*rows, f"begin with: pytest {command}"]


def _state(run: LessonRun, wrong: Sequence[str], tests: Sequence[str]) -> str:
    """How a task's tests ended."""
    waited = sum(test in run.not_run for test in wrong)
    if waited:
        return f"{len(wrong) - waited} of {len(tests)} fail, {waited} not run"
    return f"{len(wrong)} of {len(tests)} fail" if wrong else f"all {len(tests)} pass"


def _place(run: LessonRun, task: int, wrong: Sequence[str]) -> str:
    """Where the task itself stands, and which task to do first if all its tests point there."""
    place = next((run.own_places[test] for test in wrong if test in run.own_places), "")
    told = [run.places[test] for test in wrong if test in run.places]
    heads = [head.partition(":")[0] for head in told]
    if not heads or f"task {task}" in heads:
        own = next((head for head in told if head.startswith(f"task {task}: edit ")), "")
        places = [run.own_places.get(test, "") for test in wrong if run.places.get(test) == own]
        return next(filter(None, places), place)
    return f"{place}   ({heads[0]} first)" if heads[0].startswith("task ") else place


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


def changed_files(root: Path, changed: Sequence[str]) -> str:
    """The reason why a run over changed files does not count, with the command that mends it."""
    if list(changed) == ["curriculum/hashes.json"]:
        return "curriculum/hashes.json is missing or damaged (git restore curriculum/hashes.json)"
    missing = [name for name in changed if not (root / name).is_file()]
    others = [name for name in changed if name not in missing]
    clauses = []
    if others:
        differ = "differs" if len(others) == 1 else "differ"
        clauses.append(f"{_names(others)} {differ} from what came with the lessons")
    if missing:
        clauses.append(f"{_names(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    return f"{'; '.join(clauses)} (git restore {changed[0]})"


def _names(files: Sequence[str]) -> str:
    more = f" and {len(files) - SHOWN_FILES} more" if len(files) > SHOWN_FILES else ""
    return ", ".join(files[:SHOWN_FILES]) + more


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
