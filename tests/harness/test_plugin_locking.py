"""The path is linear: one lesson is open, and a locked one is refused before anything is loaded."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[2]


def test_a_locked_lesson_is_refused_with_the_command_to_run(lessons, said):
    result = lessons.run("curriculum/lesson_02")
    text = said(result)
    assert result.ret != 0
    assert "lesson 02 (Products) is locked: lesson 01 (Sums) comes first." in text
    assert "  pytest curriculum/lesson_01\n" in text
    assert len(text.strip().splitlines()) <= 5
    assert "collected" not in text


@pytest.mark.parametrize(
    "argument",
    [
        "curriculum/lesson_03",
        "curriculum/lesson_03/",
        "curriculum/lesson_03/test_lesson_03.py",
        "curriculum/lesson_03/test_lesson_03.py::test_power_multiplies",
        "./curriculum/../curriculum/lesson_03",
    ],
)
def test_every_way_to_name_a_locked_lesson_is_refused(lessons, said, argument):
    result = lessons.run(argument)
    assert result.ret != 0
    assert "lesson 03 (Powers) is locked: lesson 01 (Sums) comes first." in said(result)


def test_a_locked_lesson_is_refused_by_its_absolute_path(lessons, said):
    result = lessons.run(str(lessons.file("lesson_02")))
    assert result.ret != 0 and "is locked" in said(result)


def test_a_locked_lesson_is_refused_from_inside_its_folder(lessons, said):
    lessons.go_to("curriculum/lesson_02")
    result = lessons.run()
    assert result.ret != 0
    assert "  pytest ../lesson_01\n" in said(result)


def test_a_locked_lesson_is_refused_with_workers(lessons, said):
    result = lessons.run("curriculum/lesson_02", "-n", "2")
    assert result.ret != 0 and "is locked" in said(result)


def test_an_open_lesson_does_not_hide_a_locked_one_beside_it(lessons, said):
    result = lessons.run("curriculum/lesson_01", "curriculum/lesson_02")
    assert result.ret != 0 and "lesson 02 (Products) is locked" in said(result)


def refused_in_a_process(lessons):
    """The CPU seconds of a refusal, start-up of Python included; the test machine may be busy."""
    script = (
        "import sys, pytest\n"
        "status = pytest.main(['-pxdist', '-ppytest_timeout', 'curriculum/lesson_02'])\n"
        "heavy = {'torch', 'numpy', 'triton', 'cupy', 'rich', 'typer'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else int(status))\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=lessons.root,
        # What other plugins a machine has, and what those import, is not ours to judge.
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "is locked" in done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_refusal_takes_a_second_and_never_loads_torch(lessons):
    assert min(refused_in_a_process(lessons) for _ in range(2)) < 1.0


@pytest.mark.parametrize("folder", [".", "curriculum", "solutions"])
def test_bare_pytest_runs_the_open_lesson(lessons, folder):
    lessons.passed(1)
    lessons.solve(2)
    lessons.go_to(folder)
    result = lessons.run()
    result.assert_outcomes(passed=3)
    assert lessons.recorded() == {1, 2}


def test_bare_pytest_inside_a_lesson_runs_that_lesson(lessons):
    lessons.passed(1)
    lessons.go_to("curriculum/lesson_01")
    lessons.run().assert_outcomes(passed=5)


def test_bare_pytest_after_the_last_lesson_says_so(lessons, said):
    lessons.passed(1, 2, 3)
    result = lessons.run()
    assert result.ret == 0
    assert "Every lesson is passed." in said(result)


def test_the_whole_curriculum_is_what_is_passed_and_open(lessons, said):
    lessons.passed(1)
    lessons.solve(2)
    result = lessons.run("curriculum")
    result.assert_outcomes(passed=8)
    assert "1 of 3 lessons is still locked" in said(result)
    assert lessons.recorded() == {1, 2}


def test_the_root_folder_adds_the_tests_of_the_machinery(lessons):
    lessons.solve(1)
    lessons.run(".").assert_outcomes(passed=6)


def test_the_machinery_has_no_lock(lessons):
    lessons.run("tests").assert_outcomes(passed=1)
    lessons.go_to("tests")
    lessons.run().assert_outcomes(passed=1)


def test_a_lesson_once_passed_stays_open(lessons):
    lessons.passed(1, 2)
    lessons.edit("lesson_01/host.py", "return a + b", "return a - b")
    lessons.run("curriculum/lesson_01")
    assert lessons.recorded() == {1, 2}
    lessons.run("curriculum/lesson_01", "-k", "total").assert_outcomes(failed=2, deselected=3)


def test_unlocked_opens_every_lesson_and_is_recorded(lessons):
    lessons.solve(1, 3)
    lessons.run("curriculum/lesson_03", "--unlocked").assert_outcomes(passed=1)
    assert lessons.recorded() == {3}
    assert lessons.record(3).opened_by_override
    assert lessons.record(3).passes[0].by_override
    result = lessons.run("curriculum/lesson_02")
    assert result.ret != 0, "the override was for one run"


def test_a_curriculum_that_is_wrong_names_the_fault(lessons, said):
    path = lessons.file("curriculum.toml")
    path.write_text(path.read_text().replace('id = "products"', 'id = "sums"'))
    result = lessons.run()
    assert result.ret != 0 and "two lessons share the id sums" in said(result)


def test_a_project_without_lessons_is_left_alone(pytester):
    pytester.makeconftest('pytest_plugins = ["harness.plugin"]')
    pytester.makepyfile("def test_one(): assert True")
    pytester.runpytest_inprocess("--device", "cpu").assert_outcomes(passed=1)


def test_help_is_given_at_a_locked_door(lessons, said):
    result = lessons.run("curriculum/lesson_03", "--help")
    assert result.ret == 0 and "--unlocked" in said(result)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("curriculum/lesson_1", "there is no lesson_1: did you mean curriculum/lesson_01?"),
        ("lesson_02", "there is no lesson_02: did you mean curriculum/lesson_02?"),
        ("curriculum/lesson_1::test_x", "there is no lesson_1: did you mean curriculum/lesson_01?"),
        ("curriculum/2", "there is no 2: did you mean curriculum/lesson_02?"),
        ("curriculum/lesson_77", "there is no lesson_77; the last lesson is curriculum/lesson_03"),
    ],
)
def test_a_lesson_that_is_not_there_is_answered_with_the_likely_one(lessons, said, argument, words):
    result = lessons.run(argument)
    assert result.ret != 0
    assert said(result).strip() == words


def test_another_path_that_is_not_there_is_left_to_pytest(lessons, said):
    assert "not found: no_such_folder" in said(lessons.run("no_such_folder"))
