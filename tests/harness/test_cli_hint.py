"""`lesson hint` gives a lesson's hints one at a time, and records which were read."""

import json

import pytest

from harness.lessons import progress
from harness.telling import invocation
from tests.harness.miniature_checkout import HOST, KERNEL, README, lesson, make_checkout, write


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


def fails(checkout, *tasks):
    """The last run left these tasks failing."""
    progress.update(checkout, lambda now: now.changed("copy", attempts=1, failing=tasks))


def test_a_hint_follows_the_first_task_that_failed_when_it_last_ran(checkout):
    fails(checkout, 2)
    assert "task 2 · hint 1 of 1" in lesson(checkout, "hint", "1").stdout
    fails(checkout, 1, 2)
    assert "task 1 · hint 1 of 2" in lesson(checkout, "hint", "1").stdout


def passes(checkout, *failing):
    done = progress.Pass(on="simulator", date="2026-01-01T00:00:00+00:00")
    progress.update(
        checkout, lambda now: now.changed("copy", attempts=1, failing=failing, passes=(done,))
    )


def test_after_a_pass_no_hint_is_given_unasked(checkout):
    write(checkout, "kernel.cu", KERNEL)
    write(checkout, "host.py", HOST)
    passes(checkout)
    result = lesson(checkout, "hint", "1")
    assert result.returncode == 0
    assert "Lesson 01 is passed, and none of its tasks failed when it last ran." in result.stdout
    assert "hint 1 --task 1" in result.stdout and "third thread" not in result.stdout
    assert "third thread" in lesson(checkout, "hint", "1", "--task", "1").stdout


def test_after_a_pass_a_hint_is_for_the_task_that_is_open(checkout):
    write(checkout, "kernel.cu", KERNEL)
    passes(checkout)
    assert "task 2 · hint 1 of 1" in lesson(checkout, "hint", "1").stdout  # its TODO still stands
    passes(checkout, 1)
    assert "task 1 · hint 1 of 2" in lesson(checkout, "hint", "1").stdout


def test_a_hint_never_steps_on_to_another_task_by_itself(checkout):
    fails(checkout, 1, 2)
    texts = [lesson(checkout, "hint", "1").stdout for _ in range(3)]
    assert ["task 1 · hint" in text for text in texts] == [True, True, False]
    assert "every hint of task 1" in texts[2]
    assert "python -m harness hint 1 --task 2" in texts[2]


def test_the_hints_of_a_locked_lesson_are_refused_and_not_counted(checkout):
    (checkout / "curriculum" / "lesson_02" / "README.md").write_text(README)
    result = lesson(checkout, "hint", "2")
    assert result.returncode == 1
    assert "lesson 02 (Sum) is locked" in result.stdout
    assert "python -m harness hint 1" in result.stdout and "third thread" not in result.stdout
    assert not (checkout / ".progress.json").exists()


def test_a_lesson_opened_by_override_gives_its_hints(checkout):
    (checkout / "curriculum" / "lesson_02" / "README.md").write_text(README)
    progress.update(checkout, lambda now: now.changed("sum", opened_by_override="today"))
    assert "third thread" in lesson(checkout, "hint", "2").stdout


def test_the_last_hint_of_a_task_says_what_else_there_is(checkout):
    first, last = (lesson(checkout, "hint", "1", "--task", "1").stdout for _ in range(2))
    assert "What else" not in first
    assert "That was the last hint of task 1." in last
    assert "pytest --counters curriculum/lesson_01" in last and "printf" in last
    assert "git diff --no-index curriculum/lesson_01 solutions/lesson_01" in last


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
    for _ in range(2):
        assert lesson(checkout, "hint", "1").returncode == 0
    result = lesson(checkout, "hint", "1")
    assert result.returncode == 1
    assert "python -m harness hint 1 --task 1 --level 1" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("2",), "is locked"),
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


def test_a_lesson_without_a_readme_says_so(checkout):
    (checkout / "curriculum" / "lesson_01" / "README.md").unlink()
    result = lesson(checkout, "hint", "1")
    assert result.returncode == 1 and "no README.md" in result.stdout
