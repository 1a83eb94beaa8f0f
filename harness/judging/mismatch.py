"""The failures that speak to the learner: a report in place of a traceback."""

from __future__ import annotations


class Mismatch(AssertionError):
    """An answer that is not right, or a call that did not do what a test needs."""

    def __init__(self, learner_report: str) -> None:
        super().__init__(learner_report)
        self.learner_report = learner_report
