"""Carries what each report says of a lesson's test to the session that judges."""

from __future__ import annotations

import pytest

from harness.running.session import Session
from harness.running.verdict import Outcome


class Listener:
    """Hears how each test ended; a report does not say which run it belongs to."""

    def __init__(self, run: Session) -> None:
        self.run = run

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            outcome = Outcome.FAILED
        elif report.skipped or hasattr(report, "wasxfail"):
            outcome = Outcome.SKIPPED
        elif report.when == "call":
            outcome = Outcome.PASSED
        else:
            return
        if getattr(report, "lesson_repeats", False) and self.run.answers is None:
            report._pdbshown = True  # type: ignore[attr-defined] # so pytest prints it no more
        self.run.ended(
            report.nodeid,
            outcome,
            task=getattr(report, "lesson_task", None),
            place=getattr(report, "lesson_place", ""),
            own_place=getattr(report, "lesson_own_place", ""),
            not_run=getattr(report, "lesson_not_run", False),
        )
        self.run.counted(report.nodeid, getattr(report, "lesson_counters", []))
