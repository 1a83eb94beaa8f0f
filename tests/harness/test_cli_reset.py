"""`lesson reset` restores a lesson after it has asked and made a backup."""

import os
import subprocess
from datetime import datetime

import pytest

from harness.lessons.backups import back_up
from harness.telling import invocation
from tests.harness.miniature_checkout import backups, lesson, make_checkout, read, write


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(invocation, "_program", lambda: "python -m harness")  # not installed
    return make_checkout(tmp_path)


def test_reset_asks_first_and_no_is_the_default(checkout):
    write(checkout, "kernel.cu", "mine\n")
    for typed in ("", "\n", "n\n"):
        result = lesson(checkout, "reset", "1", typed=typed)
        assert result.returncode == 1
        assert "Nothing was changed" in result.stdout
    assert read(checkout, "kernel.cu") == "mine\n"
    assert backups(checkout) == []


def test_reset_restores_the_stub_and_keeps_a_dated_backup(checkout):
    write(checkout, "kernel.cu", "mine\n")
    write(checkout, "notes.txt", "my notes\n")
    result = lesson(checkout, "reset", "lesson_01", typed="y\n")
    assert result.returncode == 0
    assert "// TODO" in read(checkout, "kernel.cu")
    assert read(checkout, "notes.txt") == "my notes\n"
    [backup] = backups(checkout)
    stem, *stamp = backup.name.split("-")
    assert stem == "lesson_01"
    assert [len(part) for part in stamp] == [4, 2, 2, 6]
    assert (backup / "kernel.cu").read_text() == "mine\n"
    assert f".backups/{backup.name}/" in result.stdout


def test_reset_brings_back_a_deleted_file(checkout):
    (checkout / "curriculum/lesson_01/host.py").unlink()
    assert lesson(checkout, "reset", "1", "--yes").returncode == 0
    assert "task 2" in read(checkout, "host.py")


def test_reset_all_touches_only_what_was_edited(checkout):
    write(checkout, "kernel.cu", "mine\n")
    result = lesson(checkout, "reset", "--all", "--yes")
    assert result.returncode == 0
    assert [backup.name[:9] for backup in backups(checkout)] == ["lesson_01"]


def test_reset_of_an_untouched_lesson_does_nothing(checkout):
    result = lesson(checkout, "reset", "2", "--yes")
    assert result.returncode == 0
    assert "Nothing to reset" in result.stdout
    assert backups(checkout) == []


def test_two_backups_in_one_second_are_two_folders(checkout):
    now = datetime(2026, 3, 4, 5, 6, 7)
    assert back_up(checkout, "lesson_01", now).name == "lesson_01-2026-03-04-050607"
    assert back_up(checkout, "lesson_01", now).name == "lesson_01-2026-03-04-050607-2"


def test_reset_runs_no_other_program(checkout, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError(f"runs {arguments}")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "system", refuse)
    write(checkout, "kernel.cu", "mine\n")
    assert lesson(checkout, "reset", "1", "--yes").returncode == 0


@pytest.mark.parametrize("words", [(), ("1", "--all"), ("seven",), ("9",)])
def test_reset_of_no_lesson_says_what_to_type(checkout, words):
    result = lesson(checkout, "reset", "--yes", *words)
    assert result.returncode != 0
    assert "number" in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_a_folder_that_cannot_be_written_is_told_without_a_traceback(checkout):
    (checkout / ".backups").write_text("a file where the folder should be")
    write(checkout, "kernel.cu", "mine\n")
    result = lesson(checkout, "reset", "1", "--yes")
    assert result.returncode == 1
    assert ".backups" in result.stderr
    assert "Traceback" not in result.stderr
    assert read(checkout, "kernel.cu") == "mine\n"
