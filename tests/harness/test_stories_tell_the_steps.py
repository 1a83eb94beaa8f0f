"""A state machine that fails tells the steps that led there; a call that must fail says so."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from harness.judging.hypothesis_profile import load
from harness.judging.returned import refused
from harness.judging.story import MOST_STEPS, Story, play


class Bucket(Story):
    """A rule pours in, and nothing larger than 2 passes."""

    def __init__(self):
        super().__init__()
        self.held = 0

    @rule(amount=st.integers(1, 4))
    def pour(self, amount):
        self.step(f"pour {amount}")
        self.held += amount
        self.outcome(f"{self.held} held")
        assert amount <= 2, "it runs over"


class Calm(Story):
    @rule()
    def wait(self):
        self.step("wait")


class Broken(Story):
    @rule(amount=st.integers(0, 3))
    def divide(self, amount):
        self.step(f"divide by {amount}")
        print(1 // amount)


@pytest.fixture(autouse=True)
def _the_lessons_profile():
    load()


def test_the_shortest_story_is_the_note_of_the_failure():
    with pytest.raises(AssertionError, match="it runs over") as caught:
        play(Bucket)
    (told,) = caught.value.__notes__
    head, *steps = told.splitlines()
    assert head == "the steps that led there:"
    assert steps == ["   1  pour 3 → 3 held"], "what came before it does not matter"


def test_each_run_tells_the_same():
    told = []
    for _ in range(2):
        with pytest.raises(AssertionError) as caught:
            play(Bucket)
        told += caught.value.__notes__
    assert told[0] == told[1]


def test_any_other_error_has_its_story_too():
    with pytest.raises(ZeroDivisionError) as caught:
        play(Broken)
    assert caught.value.__notes__ == ["the steps that led there:\n   1  divide by 0"]


def test_what_holds_is_silent():
    play(Calm, stories=3)


def test_a_long_story_begins_late():
    story = Calm()
    for k in range(30):
        story.step(f"step {k}")
    lines = story.told().splitlines()
    assert len(lines) == 1 + MOST_STEPS
    assert lines[1].strip() == "… 19 steps …" and lines[2] == "  20  step 19"


def test_a_call_that_should_have_failed_is_named():
    refused("int('x')", ValueError, lambda: int("x"))
    with pytest.raises(pytest.fail.Exception, match=r"int\('1'\) passes, and should raise Value"):
        refused("int('1')", ValueError, lambda: int("1"))
    with pytest.raises(TypeError):
        refused("int([])", ValueError, lambda: int([]))
