"""Of a task's several places the headline names the one that the failing test asks for."""

import re

import pytest

pytest_plugins = ["pytester"]
LESSON_01 = "curriculum/lesson_01"
HOST = """\
from curriculum.lesson_01 import table


def first(x):
    # TASK 1: the first
    return x + 1


def second(x):
    # TASK 1: the second
    return x + 2


def third(x):
    # TASK 1: the third, asked for through `both`
    return x + 3


def both(x):
    return helped(x) + third(x)


def helped(x):
    return 0


def later(x):
    # TASK 2: after the first task
    return 10 * x
"""
TESTS = """\
import pytest

from curriculum.lesson_01 import host

CASES = [0]


def check(x):
    got = host.second(x)
    assert got == x + 2


def through(x):
    return host.both(x)


@pytest.mark.task(1)
def test_named_in_the_assert():
    assert host.first(1) + 0 * host.second(1) == 2


@pytest.mark.task(1)
def test_named_above_the_assert():
    host.first(1)
    got = host.second(1)
    later = got
    assert later == 3


@pytest.mark.task(1)
def test_named_in_a_check_of_the_file():
    check(1)


@pytest.mark.task(1)
@pytest.mark.parametrize("x", [1])
def test_reached_through_other_functions(x):
    assert through(x) == x + 3


@pytest.mark.task(2)
def test_of_a_later_task_asks_for_an_earlier_one():
    value = host.second(1)
    assert value == 3


@pytest.mark.task(2)
def test_of_a_later_task():
    assert host.later(1) == 10
"""
ANSWERS = {
    "first": "return x + 1",
    "second": "return x + 2",
    "third": "return x + 3",
    "later": "return 10 * x",
}
LINES = {"first": 5, "second": 10, "third": 15, "later": 28}


@pytest.fixture
def course(lessons, said):
    """Lesson 01 with answers of which some are wrong; the headlines by test, and the summary."""

    def run(*wrong, body=None):
        text = HOST
        for name in wrong:
            text = text.replace(ANSWERS[name], body or f"return -99  # {name}")
        lessons.file("lesson_01/host.py").write_text(text)
        lessons.file("lesson_01/test_lesson_01.py").write_text(TESTS)
        printed = said(lessons.run(LESSON_01))
        found = re.findall(r"^_+ (test_\w+)\S* _+\n(task \d: edit \S+)", printed, re.M)
        return dict(found), printed

    return run


def at(name, task=1):
    return f"task {task}: edit {LESSON_01}/host.py:{LINES[name]}"


def test_it_is_the_one_named_in_the_failing_assert(course):
    heads, _ = course("first")
    assert heads["test_named_in_the_assert"] == at("first")


def test_it_is_the_one_named_nearest_above_the_failing_line(course):
    heads, _ = course("second")
    assert heads["test_named_above_the_assert"] == at("second")


def test_it_is_the_one_that_a_check_of_the_test_file_names(course):
    heads, _ = course("second")
    assert heads["test_named_in_a_check_of_the_file"] == at("second")


def test_it_is_the_one_reached_through_other_functions(course):
    heads, _ = course("third")
    assert heads == {"test_reached_through_other_functions": at("third")}


def test_a_test_that_asks_only_for_an_earlier_task_names_that_one(course):
    heads, printed = course("second")
    assert heads["test_of_a_later_task_asks_for_an_earlier_one"] == at("second")
    assert f"  task 2   1 of 2 fail      {LESSON_01}/host.py:28   (task 1 first)\n" in printed


def test_the_summary_names_a_tasks_own_place_whatever_failed_first(course):
    _, printed = course("second", "later")
    assert f"  task 1   2 of 4 fail      {LESSON_01}/host.py:10\n" in printed
    assert f"  task 2   2 of 2 fail      {LESSON_01}/host.py:28\n" in printed


def test_an_unwritten_earlier_task_is_named_and_the_later_ones_place_stays_its_own(course):
    heads, printed = course("second", body='raise NotImplementedError("task 1")')
    assert heads["test_named_in_the_assert"] == f"task 1: edit {LESSON_01}/host.py:11"
    assert f"  task 2   1 of 2 fail      {LESSON_01}/host.py:28   (task 1 first)\n" in printed


def test_a_line_that_ran_is_named_before_any_word_of_the_test(course):
    heads, _ = course("third", body="raise ValueError(x)")
    assert heads["test_reached_through_other_functions"] == f"task 1: edit {LESSON_01}/host.py:16"


def test_none_compared_with_approx_is_told_without_pytests_own_trouble(lessons, said):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", "pass")
    lessons.edit(
        "lesson_01/test_lesson_01.py",
        "assert host.add(a, b) == a + b",
        "assert host.add(a, b) == pytest.approx([a, b])",
    )
    text = said(lessons.run(LESSON_01))
    assert "None was returned: does each path end in a return?" in text
    assert "representation of details failed" not in text and "__repr__" not in text


def test_pytests_advice_about_itself_and_addresses_are_left_out(lessons, said):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", "return [a, b]")
    lessons.edit(
        "lesson_01/test_lesson_01.py",
        "assert host.add(a, b) == a + b",
        "assert host.add(a, b) == [b, a] and all(x for x in (a, b))",
    )
    text = said(lessons.run(LESSON_01))
    assert "At index 0 diff" in text
    assert "Use -v" not in text and "0x" not in text
