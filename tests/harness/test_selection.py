"""What a command line asks for, told without running pytest."""

from pathlib import Path

import pytest

from harness.lessons import curriculum
from harness.lessons.progress import Pass, Progress, Record
from harness.running.selection import Refusal, Request, Selection, select

DONE = Record(passes=(Pass("simulator", ""),))


@pytest.fixture
def path(lesson_folders):
    return curriculum.load(lesson_folders)


@pytest.fixture
def lesson_folders():
    return Path(__file__).parent / "miniature"


def selected(path, *arguments, passed=(), cwd=None, **options):
    progress = Progress(dict.fromkeys(passed, DONE))
    return select(path, progress, Request(arguments, cwd or path.root, **options))


def test_a_bare_request_is_the_open_lesson(path):
    found = selected(path, passed=["sums"])
    assert found.named == found.whole == ("lesson_02",)
    assert found.arguments == (str(path.root / "curriculum" / "lesson_02"),)


def test_a_lesson_in_the_middle_that_was_passed_is_not_locked(path):
    found = selected(path, "curriculum", passed=["products"])
    assert found.whole == ("lesson_01", "lesson_02")
    assert found.hidden == ("lesson_03",) and found.locked == 1


@pytest.mark.parametrize(
    ("argument", "whole"),
    [
        ("curriculum/lesson_01", True),
        (".", True),
        ("curriculum/lesson_01/test_lesson_01.py", True),
        ("curriculum/lesson_01/test_lesson_01.py::test_add_adds", False),
        ("curriculum/lesson_01/test_lesson_01.py::test_add_adds[a::b]", False),
        ("curriculum/lesson_01/host.py", False),
    ],
)
def test_a_lesson_is_whole_when_every_test_file_is_asked_for(path, argument, whole):
    assert ("lesson_01" in selected(path, argument).whole) is whole


def test_tests_have_no_lock(path):
    assert isinstance(selected(path, "tests"), Selection)


def test_a_refusal_names_the_command_from_where_one_is(path):
    refusal = selected(path, "lesson_02", cwd=path.root / "curriculum")
    assert isinstance(refusal, Refusal)
    assert "  pytest lesson_01\n" in refusal.text


def test_answers_of_others_know_no_lock(path):
    found = selected(path, "curriculum/lesson_03", answers=path.solutions)
    assert found.named == ("lesson_03",) and found.hidden == ()


def test_bare_answers_are_the_lessons_they_answer(path, tmp_path):
    (tmp_path / "lesson_02").mkdir()
    assert selected(path, answers=tmp_path).named == ("lesson_02",)


def test_a_link_to_the_course_is_the_course(path, tmp_path):
    (tmp_path / "link").symlink_to(path.root)
    refusal = selected(path, str(tmp_path / "link" / "curriculum" / "lesson_02"))
    assert isinstance(refusal, Refusal)


def test_a_folder_with_a_space_is_quoted(path, tmp_path):
    place = tmp_path / "my course"
    place.symlink_to(path.root)
    course = curriculum.load(place)
    refusal = selected(course, "curriculum/lesson_02", cwd=tmp_path)
    assert isinstance(refusal, (Refusal, Selection))
    refusal = selected(course, "my course/curriculum/lesson_02", cwd=tmp_path)
    assert "  pytest 'my course/curriculum/lesson_01'\n" in refusal.text
