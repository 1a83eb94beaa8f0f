"""The files that judge are the ones that came with the lessons, whatever their line endings."""

import json
import shutil
from pathlib import Path

import pytest

from harness.lessons import integrity

MINIATURE = Path(__file__).parent / "miniature"
HOST = "curriculum/lesson_01/host.py"


@pytest.fixture
def course(tmp_path):
    """A course with a harness of its own."""
    shutil.copytree(MINIATURE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "judge.py").write_text("strict = True\n")
    integrity.write_hashes(tmp_path)
    return tmp_path


def test_an_untouched_course_is_unchanged(course):
    assert integrity.check(course) == []


def test_answers_readmes_and_caches_are_not_covered(course):
    for name in (HOST, "curriculum/lesson_01/README.md"):
        (course / name).write_text("# mine\n")
    (course / "harness" / "__pycache__").mkdir()
    (course / "harness" / "__pycache__" / "judge.cpython-311.pyc").write_bytes(b"x")
    (course / "curriculum" / "lesson_01" / "scratch.py").write_text("print(1)\n")
    assert integrity.check(course) == []
    assert HOST not in json.loads((course / integrity.MANIFEST).read_text())["files"]


@pytest.mark.parametrize(
    "name",
    [
        "harness/judge.py",
        "curriculum/lesson_03/test_lesson_03.py",
        "curriculum/lesson_01/table.py",
        "curriculum/curriculum.toml",
        "conftest.py",
        "pytest.ini",
    ],
)
def test_a_changed_or_missing_file_is_named(course, name):
    (course / name).write_text((course / name).read_text() + "\n")
    assert integrity.check(course) == [name]
    (course / name).unlink()
    assert integrity.check(course) == [name]


@pytest.mark.parametrize(
    "name", ["harness/other.py", "curriculum/conftest.py", "curriculum/lesson_01/test_mine.py"]
)
def test_a_file_that_would_be_run_is_named_when_it_is_new(course, name):
    (course / name).write_text("")
    assert integrity.check(course) == [name]


@pytest.mark.parametrize("ending", [b"\r\n", b"\r"])
def test_line_endings_do_not_count(course, ending):
    for path in [*course.rglob("*.py"), *course.rglob("*.toml")]:
        path.write_bytes(path.read_bytes().replace(b"\n", ending))
    assert integrity.check(course) == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"files": 3}'])
def test_a_manifest_that_cannot_be_read_is_the_changed_file(course, content):
    (course / integrity.MANIFEST).write_text(content)
    assert integrity.check(course) == ["curriculum/hashes.json"]


def test_a_course_without_its_solutions_still_knows_what_a_learner_edits(course):
    shutil.rmtree(course / "solutions")
    (course / HOST).write_text("# mine\n")
    assert integrity.check(course) == []
    assert set(integrity.answer_hashes(course, "lesson_01")) == {"host.py"}
