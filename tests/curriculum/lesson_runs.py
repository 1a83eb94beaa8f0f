"""Runs a lesson's tests in this process, on any answers, and keeps what they reported."""

from __future__ import annotations

import shutil
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest

from harness.lessons.answers import answers_from
from harness.lessons.curriculum import load
from harness.stubs.cutting import stub_of, tasks_of, without_region

ROOT = Path(__file__).resolve().parents[2]
CURRICULUM = load(ROOT)
LESSONS = [lesson.name for lesson in CURRICULUM.lessons]


@dataclass(frozen=True)
class Outcome:
    """What became of one test."""

    test: str  # its name with its parameters
    passed: bool
    text: str  # what a learner reads
    task: int | None


@dataclass
class Collector:
    """The plugin of an inner run."""

    task: int | None = None  # only the tests that judge it; None is all
    outcomes: list[Outcome] = field(default_factory=list)
    tasks: dict[str, int | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        for item in items:
            marker = item.get_closest_marker("task")
            self.tasks[item.nodeid] = marker.args[0] if marker else None
        if self.task is not None:
            items[:] = [item for item in items if self.tasks[item.nodeid] == self.task]

    def pytest_collectreport(self, report):
        if report.failed:
            self.problems.append(str(report.longrepr))

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            sections = "\n".join(text for _, text in report.sections)
            self.outcomes.append(
                Outcome(
                    test=report.nodeid.split("::", 1)[1],
                    passed=report.passed,
                    text=f"{report.longreprtext}\n{sections}",
                    task=self.tasks[report.nodeid],
                )
            )


def run(answers: Path, tests: list[str], task: int | None = None) -> list[Outcome]:
    """Run tests (paths or ids) on the answers in `answers`/lesson_NN, on the simulator."""
    collector = Collector(task)
    options = ["--answers", str(answers), "--device", "cpu", "-n", "0", "-o", "timeout=0"]
    options += ["-m", "not speed and not gpu", "-p", "no:cacheprovider"]
    options += ["-p", "no:unraisableexception"]  # its garbage collection is half of a short run
    with answers_from(None, ROOT), redirect_stdout(StringIO()):
        pytest.main(
            [*tests, *options, f"--rootdir={ROOT}", "-c", str(ROOT / "pytest.ini")], [collector]
        )
    assert not collector.problems, "\n".join(collector.problems)
    return collector.outcomes


def lesson_tests(lesson: str) -> list[str]:
    return [str(ROOT / "curriculum" / lesson)]


def id_of(lesson: str, name: str) -> str:
    """The id of a test from its name, whichever file of the lesson holds it."""
    function = name.partition("[")[0]
    folder = ROOT / "curriculum" / lesson
    holders = [path for path in folder.glob("test_*.py") if f"def {function}(" in path.read_text()]
    assert len(holders) == 1, f"{function} is in {len(holders)} test files of {lesson}"
    return f"{holders[0]}::{name}"


def solution_files(lesson: str) -> dict[str, str]:
    """The text of each file of the solution, by name."""
    folder = ROOT / "solutions" / lesson
    return {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(folder.iterdir())
        if path.suffix in (".py", ".cu")
    }


def tasks(lesson: str) -> list[int]:
    """The numbers of a lesson's tasks."""
    texts = solution_files(lesson).values()
    return sorted({task.number for text in texts for task in tasks_of(text)})


def answer_folder(where: Path, lesson: str, files: dict[str, str]) -> Path:
    """A folder for --answers that holds one answer."""
    shutil.rmtree(where / lesson, ignore_errors=True)
    (where / lesson).mkdir(parents=True)
    for name, text in files.items():
        (where / lesson / name).write_text(text, encoding="utf-8")
    return where


def stub(lesson: str) -> dict[str, str]:
    """What a learner starts from."""
    files = solution_files(lesson)
    return {name: stub_of(text, Path(name).suffix) for name, text in files.items()}


def solution_without(lesson: str, task: int) -> dict[str, str]:
    """The solution with the answers to one task taken out of every file that has some."""
    return {
        name: without_region(text, task)
        if any(found.number == task for found in tasks_of(text))
        else text
        for name, text in solution_files(lesson).items()
    }
