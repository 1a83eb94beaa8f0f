"""Whether a run passes a lesson, and when it does not although nothing failed, why.

Fed with what was collected and how each test ended; it does not ask who ran them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

REQUIRED, STRETCH, SPEED = "required", "stretch", "speed"
WAITING = "waiting"  # for another device


class Outcome(Enum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"  # a skip or an expected failure


class Judgement(Enum):
    PASSED = "passed"
    FAILED = "failed"
    WITHHELD = "not recorded"  # nothing failed, and yet it does not count
    NOTHING = "not run"


@dataclass(frozen=True, slots=True)
class Verdict:
    judgement: Judgement
    reason: str = ""  # of a WITHHELD, one clause
    marks: tuple[str, ...] = ()  # stretch tests that passed
    medals: tuple[str, ...] = ()  # speed tests that passed


@dataclass(slots=True)
class LessonRun:
    """What one run did with one lesson. Tests are named by node id."""

    kinds: dict[str, str] = field(default_factory=dict)  # every test collected, before -k and such
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    tasks: dict[str, int] = field(default_factory=dict)  # the task that a test judges
    places: dict[str, str] = field(default_factory=dict)  # of a failed test, the first line told
    own_places: dict[str, str] = field(default_factory=dict)  # and where its own task stands
    not_run: set[str] = field(default_factory=set)  # failed, since another test did not end

    def ended(self, test: str, outcome: Outcome) -> None:
        """Note how a phase of a test ended; the worst phase counts."""
        before = self.outcomes.get(test, Outcome.PASSED)
        worst = [Outcome.FAILED, Outcome.SKIPPED, Outcome.PASSED]
        self.outcomes[test] = min(before, outcome, key=worst.index)

    def failing_tasks(self) -> tuple[int, ...]:
        """The tasks that tests failed in, those of required tests first."""
        wrong = [test for test, how in self.outcomes.items() if how is Outcome.FAILED]
        ranked = {
            (self.kinds.get(test) != REQUIRED, self.tasks[test])
            for test in wrong
            if test in self.tasks
        }
        return tuple(dict.fromkeys(task for _, task in sorted(ranked)))

    def required(self) -> list[str]:
        return [test for test, kind in self.kinds.items() if kind == REQUIRED]

    def _passed(self, kind: str) -> tuple[str, ...]:
        """The tests of a kind that passed with every set of parameters they have."""
        passed: dict[str, bool] = {}
        for test, its_kind in self.kinds.items():
            if its_kind == kind:
                name = test.partition("::")[2].partition("[")[0]
                case_passed = self.outcomes.get(test) is Outcome.PASSED
                passed[name] = passed.get(name, True) and case_passed
        return tuple(name for name, every_case in passed.items() if every_case)

    def judge(self, obstacles: Iterable[str], test_files: Iterable[str]) -> Verdict:
        """`obstacles`: what keeps this run from counting whatever its tests say, worst first.

        `test_files`: the lesson's test files as node ids name them; each must have taken part.
        """
        marks, medals = self._passed(STRETCH), self._passed(SPEED)
        if not self.outcomes:
            return Verdict(Judgement.NOTHING)
        required = self.required()
        known = set(self.kinds)
        if any(
            outcome is Outcome.FAILED and (test in required or test not in known)
            for test, outcome in self.outcomes.items()
        ):
            return Verdict(Judgement.FAILED, marks=marks, medals=medals)
        reason = next(iter([*obstacles, *self._gaps(required, test_files)]), "")
        judgement = Judgement.WITHHELD if reason else Judgement.PASSED
        return Verdict(judgement, reason, marks, medals)

    def _gaps(self, required: list[str], test_files: Iterable[str]) -> list[str]:
        gaps = []
        if not required:
            gaps.append("no required test was collected")
        for file in test_files:
            if not any(test.partition("::")[0] == file for test in self.kinds):
                gaps.append(f"no test of {file} was collected")
        absent = [test for test in required if test not in self.outcomes]
        if absent:
            gaps.append(f"{_tests(len(absent))} of {len(required)} did not run")
        skipped = [test for test in required if self.outcomes.get(test) is Outcome.SKIPPED]
        if skipped:
            gaps.append(f"{skipped[0].rpartition('::')[2]} was skipped or expected to fail")
        return gaps


def _tests(count: int) -> str:
    return "1 required test" if count == 1 else f"{count} required tests"
