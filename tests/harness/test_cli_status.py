"""`lesson status` shows the path, fast and in plain words."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.lessons import curriculum
from harness.telling import invocation
from tests.harness.miniature_checkout import lesson, make_checkout


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(invocation, "_program", lambda: "python -m harness")  # not installed
    return make_checkout(tmp_path)


def test_status_shows_the_path_and_what_to_type(checkout):
    result = lesson(checkout / "curriculum", "status")
    assert result.returncode == 0
    rows = result.stdout.splitlines()
    assert any(row.startswith(" ▸ 01  Copy") and row.endswith("open") for row in rows)
    assert "Run:   pytest lesson_01" in rows
    assert "0 of 2 lessons passed" in rows


def test_status_shows_what_was_passed_on_what_and_when(checkout):
    passed = {"on": "simulator", "date": "2026-03-04T05:06:07+00:00"}
    records = {"copy": {"passes": [passed], "hints": ["task 1 hint 1"], "marks": ["gather"]}}
    (checkout / ".progress.json").write_text(json.dumps({"version": 1, "lessons": records}))
    out = lesson(checkout, "status").stdout
    assert "passed on simulator (2026-03-04), 1 hint, 1 stretch mark" in out
    assert "Run:   pytest curriculum/lesson_02" in out


def test_status_survives_a_damaged_record(checkout):
    (checkout / ".progress.json").write_text("{")
    result = lesson(checkout, "status")
    assert result.returncode == 0
    assert ".progress.json is damaged" in result.stdout


def test_a_damaged_curriculum_is_told_without_a_traceback(checkout):
    (checkout / "curriculum/curriculum.toml").write_text("[[lesson")
    result = lesson(checkout, "status")
    assert result.returncode == 1
    assert "curriculum.toml cannot be read" in result.stderr
    assert "Traceback" not in result.stderr


def test_status_needs_no_installation_and_imports_nothing_heavy(checkout):
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "harness", "status"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert "0 of 2 lessons passed" in result.stdout
    imported = {line.split("|")[-1].strip() for line in result.stderr.splitlines()}
    assert "harness.commands.status_command" in imported
    assert not imported & {"torch", "triton", "cupy", "numpy", "simulator", "pytest"}


def test_help_names_every_command(checkout):
    out = lesson(checkout, "--help").stdout
    for command in ("status", "hint", "reset", "stubs", "doctor"):
        assert f"  {command} " in out


def test_outside_of_a_checkout_a_command_says_where_to_go(checkout, monkeypatch):
    monkeypatch.setattr(curriculum, "find_root", lambda start: None)  # installed elsewhere
    result = lesson(checkout, "status")
    assert result.returncode == 1
    assert "Go into the cloned repository first" in result.stderr
