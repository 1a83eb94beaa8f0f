"""`lesson hint` gives a lesson's hints one at a time, and records which were read."""

import json

import pytest

from harness.telling import invocation
from tests.harness.miniature_checkout import KERNEL, lesson, make_checkout, write


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(invocation, "_program", lambda: "python -m harness")  # not installed
    return make_checkout(tmp_path)


def test_hints_come_one_at_a_time(checkout):
    first, second = (lesson(checkout, "hint", "1").stdout for _ in range(2))
    assert "task 1 · hint 1 of 2" in first and "third thread" in first
    assert "its own element" not in first
    assert "task 1 · hint 2 of 2" in second and "its own element" in second


def test_a_hint_is_for_a_task_that_is_not_written_yet(checkout):
    write(checkout, "kernel.cu", KERNEL)
    assert "task 2 · hint 1 of 1" in lesson(checkout, "hint", "1").stdout


def test_a_hint_can_be_asked_for_by_task_and_level(checkout):
    assert "129" in lesson(checkout, "hint", "1", "--task", "2").stdout
    again = lesson(checkout, "hint", "1", "--task", "1", "--level", "2")
    assert "its own element" in again.stdout


def test_hints_that_were_read_are_recorded_once(checkout):
    for _ in range(2):
        lesson(checkout, "hint", "1", "--task", "1", "--level", "1")
    record = json.loads((checkout / ".progress.json").read_text())["lessons"]["copy"]
    assert record["hints"] == ["task 1 hint 1"]


def test_the_last_hint_says_how_to_read_one_again(checkout):
    for _ in range(3):
        assert lesson(checkout, "hint", "1").returncode == 0
    result = lesson(checkout, "hint", "1")
    assert result.returncode == 1
    assert "python -m harness hint 1 --task 1 --level 1" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("2",), "no README.md"),
        (("7",), "they are numbered 1 to 2"),
        (("x",), "say its number"),
        (("1", "--task", "5"), "no hints for task 5"),
        (("1", "--level", "5"), "there are: 1, 2"),
    ],
)
def test_a_hint_that_does_not_exist_is_refused_in_plain_words(checkout, words, said):
    result = lesson(checkout, "hint", *words)
    assert result.returncode != 0
    shown = " ".join((result.stdout + result.stderr).split())
    assert said in shown
    assert "Traceback" not in shown
