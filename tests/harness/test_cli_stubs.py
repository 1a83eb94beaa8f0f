"""`lesson stubs` generates what learners start from, and never loses an answer."""

import json

import pytest

from harness.telling import invocation
from tests.harness.miniature_checkout import KERNEL, backups, lesson, make_checkout, read, write


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(invocation, "_program", lambda: "python -m harness")  # not installed
    return make_checkout(tmp_path)


def test_stubs_writes_every_stub_and_the_hashes(checkout):
    assert "// TODO: about 1 line\n" in read(checkout, "kernel.cu")
    assert 'raise NotImplementedError("task 2")' in read(checkout, "host.py")
    hashes = json.loads((checkout / "curriculum/hashes.json").read_text())
    assert "curriculum/lesson_01/test_lesson_01.py" in hashes["files"]
    assert lesson(checkout, "stubs", "--check").returncode == 0


def test_stubs_check_names_what_drifted_and_writes_nothing(checkout):
    (checkout / "solutions/lesson_01/kernel.cu").write_text(KERNEL.replace("one", "each"))
    before = read(checkout, "kernel.cu")
    result = lesson(checkout, "stubs", "--check")
    assert result.returncode == 1
    assert "curriculum/lesson_01/kernel.cu" in result.stdout
    assert "python -m harness stubs" in result.stdout
    assert read(checkout, "kernel.cu") == before


def test_stubs_check_sees_a_changed_test(checkout):
    write(checkout, "test_lesson_01.py", "def test_less(): pass\n")
    result = lesson(checkout, "stubs", "--check")
    assert result.returncode == 1
    assert "curriculum/lesson_01/test_lesson_01.py" in result.stdout


def test_stubs_follows_a_changed_solution(checkout):
    (checkout / "solutions/lesson_01/kernel.cu").write_text(KERNEL.replace("one", "each"))
    assert lesson(checkout, "stubs").returncode == 0
    assert "copy each element" in read(checkout, "kernel.cu")
    assert backups(checkout) == []


def test_stubs_leaves_an_edited_file_alone(checkout):
    write(checkout, "kernel.cu", KERNEL)
    result = lesson(checkout, "stubs")
    assert result.returncode == 1
    assert "curriculum/lesson_01/kernel.cu" in result.stdout
    assert "--force" in result.stdout
    assert read(checkout, "kernel.cu") == KERNEL


def test_stubs_with_force_backs_an_edited_file_up_first(checkout):
    write(checkout, "kernel.cu", KERNEL)
    assert lesson(checkout, "stubs", "--force").returncode == 0
    assert "TODO" in read(checkout, "kernel.cu")
    [backup] = backups(checkout)
    assert (backup / "kernel.cu").read_text() == KERNEL


def test_stubs_says_which_solution_cannot_be_cut_and_writes_the_others(checkout):
    (checkout / "solutions/lesson_01/kernel.cu").write_text(KERNEL.replace("END TASK", ""))
    (checkout / "solutions/lesson_02/kernel.cu").write_text(KERNEL.replace("one", "each"))
    result = lesson(checkout, "stubs")
    assert result.returncode == 1
    assert "solutions/lesson_01/kernel.cu:3  TASK 1 has no END TASK" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr
    assert "each" in (checkout / "curriculum/lesson_02/kernel.cu").read_text()
