"""State machines whose failure reads as a story: the steps that led there, in plain words."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

MOST_STEPS = 12  # told; Hypothesis finds short stories, and a report has 25 lines


class Story(RuleBasedStateMachine):
    """A Hypothesis state machine that says what it does.

    A rule calls `step` with what it is about to do, and asserts as any test does.
    """

    latest: Story

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[str] = []
        Story.latest = self

    def step(self, words: str) -> None:
        self.steps.append(words)

    def outcome(self, words: str) -> None:
        """Add to the latest step what came of it."""
        self.steps[-1] += f" → {words}"

    def told(self) -> str:
        """The steps so far, numbered; the first ones are left out where there are many."""
        numbered = [f"  {k:>2}  {words}" for k, words in enumerate(self.steps, start=1)]
        left_out = len(numbered) - MOST_STEPS
        if left_out > 0:
            numbered = [f"      … {left_out + 1} steps …", *numbered[left_out + 1 :]]
        return "\n".join(["the steps that led there:", *numbered])


def play(machine: type[Story], stories: int = 40, steps: int = 25) -> None:
    """Let Hypothesis make up `stories` of up to `steps` steps, the same on each run.

    What fails is the shortest it finds; its steps are the exception's note.
    """
    __tracebackhide__ = True
    chosen: Any = settings(
        max_examples=stories, stateful_step_count=steps, report_multiple_bugs=False
    )
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except Exception as error:
        error.__notes__ = [Story.latest.told()]  # instead of Hypothesis' own, which is Python
        raise
