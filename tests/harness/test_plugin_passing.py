"""A lesson is passed by all of its required tests in one honest run, and by nothing less."""

import os

import pytest

from harness.lessons import progress

pytest_plugins = ["pytester"]
LESSON_01 = "curriculum/lesson_01"
FIRST_TEST = f"{LESSON_01}/test_lesson_01.py::test_add_adds"


def test_passing_names_the_next_lesson_and_the_diff_and_stops(lessons, said):
    lessons.solve(1)
    result = lessons.run(LESSON_01)
    result.assert_outcomes(passed=5)
    text = said(result)
    assert "lesson 01 (Sums) is passed, on the simulator." in text
    assert "next: lesson 02 (Products), curriculum/lesson_02/README.md" in text
    assert "  pytest curriculum/lesson_02\n" in text
    assert "  git diff --no-index curriculum/lesson_01 solutions/lesson_01\n" in text
    assert "lesson_02/test_lesson_02" not in text
    assert lessons.recorded() == {1}


def test_the_record_says_on_what_when_and_with_which_files(lessons):
    lessons.solve(1)
    lessons.run(LESSON_01)
    record = lessons.record(1)
    (done,) = record.passes
    assert (done.on, done.by_override, record.attempts) == ("simulator", False, 1)
    assert set(done.hashes) == {"host.py"} and done.tests
    assert record.marks == ("test_total_takes_strings_apart",)


def test_failing_runs_are_counted_until_the_first_pass(lessons):
    lessons.run(LESSON_01).assert_outcomes(failed=5)
    lessons.run(LESSON_01)
    lessons.solve(1)
    lessons.run(LESSON_01)
    lessons.run(LESSON_01)
    assert lessons.record(1).attempts == 3


def test_from_inside_the_folder_it_is_the_same(lessons, said):
    lessons.solve(1)
    lessons.go_to(LESSON_01)
    result = lessons.run()
    assert "  pytest ../lesson_02\n" in said(result)
    assert "git diff --no-index . ../../solutions/lesson_01" in said(result)
    assert lessons.recorded() == {1}


def test_by_the_absolute_path_it_is_the_same(lessons):
    lessons.solve(1)
    lessons.run(str(lessons.file("lesson_01")))
    assert lessons.recorded() == {1}


def test_with_two_workers_it_is_the_same(lessons, said):
    lessons.solve(1)
    result = lessons.run(LESSON_01, "-n", "2")
    result.assert_outcomes(passed=5)
    assert "lesson 01 (Sums) is passed, on the simulator." in said(result)
    assert lessons.recorded() == {1}
    assert lessons.record(1).marks == ("test_total_takes_strings_apart",)


def test_bare_pytest_with_two_workers_runs_the_open_lesson(lessons):
    lessons.passed(1)
    lessons.solve(2)
    lessons.run("-n", "2").assert_outcomes(passed=3)
    assert lessons.recorded() == {1, 2}


def test_a_stretch_test_that_fails_does_not_block_and_that_is_said(lessons, said):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", "return int(a) + int(b)")
    words = "The test that fails is stretch of task 2: worth a mark, and never needed to pass."
    for _ in range(2):  # on passing, and later
        result = lessons.run(LESSON_01)
        result.assert_outcomes(passed=4, failed=1)
        assert words in said(result)
    assert lessons.recorded() == {1}
    lessons.edit("lesson_01/host.py", "return int(a) + int(b)", "return a + b")
    assert "never needed" not in said(lessons.run(LESSON_01))


@pytest.mark.parametrize(
    "options",
    [
        (FIRST_TEST,),
        (LESSON_01, "-k", "test_add"),
        (LESSON_01, "-k", "add or total"),  # all of them, picked
        (LESSON_01, "-m", "task"),
        (LESSON_01, "--deselect", FIRST_TEST),
        (LESSON_01, "-o", "python_functions=test_total*"),
        (LESSON_01, "--ignore", f"{LESSON_01}/test_lesson_01.py"),
        (LESSON_01, "--collect-only"),
    ],
    ids=lambda options: " ".join(options),
)
def test_a_part_never_unlocks(lessons, options):
    lessons.solve(1)
    lessons.run(*options)
    assert lessons.recorded() == set()


def test_a_part_says_why_it_is_not_recorded(lessons, said):
    lessons.solve(1)
    text = said(lessons.run(FIRST_TEST))
    assert "lesson 01 (Sums) is not recorded: only a part of it was asked for." in text
    assert "  it counts when all of it passes: pytest curriculum/lesson_01" in text
    text = said(lessons.run(LESSON_01, "-k", "test_add"))
    assert "is not recorded: -k picks some of its tests." in text


def test_a_failing_part_says_nothing_of_records(lessons, said):
    assert "not recorded" not in said(lessons.run(FIRST_TEST))


def test_stopping_at_the_first_failure_never_unlocks(lessons):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "result = start()", "result = start() + 1")
    lessons.run(LESSON_01, "-x")
    assert lessons.recorded() == set()


@pytest.mark.parametrize(
    "line", ['pytest.skip("later")', 'pytest.xfail("hard")', 'pytest.importorskip("no_such")']
)
def test_an_answer_cannot_skip_its_tests(lessons, said, line):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "result = start()", f"import pytest; {line}")
    result = lessons.run(LESSON_01)
    assert "was skipped or expected to fail" in said(result)
    assert lessons.recorded() == set()


def test_changed_tests_do_not_count_and_are_named(lessons, said):
    lessons.solve(1)
    lessons.edit("lesson_01/test_lesson_01.py", "assert host.total([1, 2, 3]) == 6", "pass")
    text = said(lessons.run(LESSON_01))
    assert (
        "is not recorded: curriculum/lesson_01/test_lesson_01.py differs from what came with "
        "the lessons (git restore curriculum/lesson_01/test_lesson_01.py)" in text
    )
    assert lessons.recorded() == set()


def test_missing_tests_do_not_count_and_are_called_missing(lessons, said):
    lessons.solve(1)
    lessons.file("lesson_02/test_lesson_02.py").unlink()
    text = said(lessons.run(LESSON_01))
    assert (
        "is not recorded: curriculum/lesson_02/test_lesson_02.py is missing "
        "(git restore curriculum/lesson_02/test_lesson_02.py)" in text
    )
    assert "differ" not in text and lessons.recorded() == set()


def test_a_run_that_cannot_count_is_announced_in_the_header(lessons, said):
    lessons.file("lesson_02/test_lesson_02.py").unlink()
    lessons.edit("lesson_01/table.py", "CARRY = 0", "CARRY = 1")
    text = said(lessons.run(LESSON_01))
    warning = (
        "this run will not be recorded: curriculum/lesson_01/table.py differs from what came with "
        "the lessons; curriculum/lesson_02/test_lesson_02.py is missing (git restore "
    )
    assert warning in text.partition("collected")[0]
    assert "will not be recorded" not in said(lessons.run(LESSON_01, "--solutions", "-n0"))


def test_a_run_on_unchanged_files_announces_nothing(lessons, said):
    assert "will not be recorded" not in said(lessons.run(LESSON_01))


def test_the_record_keeps_the_tasks_that_failed_last_the_first_to_mend_first(lessons):
    lessons.run(LESSON_01)
    assert lessons.record(1).failing == (1, 2)
    lessons.edit("lesson_01/host.py", 'raise NotImplementedError("task 1")', "return a + b")
    lessons.run(LESSON_01, "-k", "test_add")
    assert lessons.record(1).failing == (2,)
    lessons.solve(1)
    lessons.run(LESSON_01)
    assert lessons.record(1).failing == ()


@pytest.mark.parametrize("name", ["lesson_01/table.py", "lesson_02/test_lesson_02.py"])
def test_changed_supplied_files_do_not_count(lessons, said, name):
    lessons.solve(1)
    lessons.file(name).write_text(lessons.file(name).read_text() + "\n# mine\n")
    assert f"is not recorded: curriculum/{name} differs" in said(lessons.run(LESSON_01))
    assert lessons.recorded() == set()


def test_a_conftest_of_ones_own_does_not_count(lessons, said):
    lessons.solve(1)
    lessons.file("lesson_01/conftest.py").write_text("")
    assert "curriculum/lesson_01/conftest.py differs" in said(lessons.run(LESSON_01))
    assert lessons.recorded() == set()


def test_notes_of_ones_own_do_count(lessons):
    lessons.solve(1)
    lessons.file("lesson_01/notes.md").write_text("# what I learned\n")
    lessons.file("lesson_01/README.md").write_text("# with my notes\n")
    lessons.run(LESSON_01)
    assert lessons.recorded() == {1}


def test_windows_line_endings_do_count(lessons):
    lessons.solve(1)
    for path in lessons.file("lesson_01").glob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    lessons.run(LESSON_01)
    assert lessons.recorded() == {1}


@pytest.mark.parametrize("option", [("--solutions",), ("--answers", "solutions")])
def test_answers_of_others_run_everything_and_record_nothing(lessons, said, option):
    result = lessons.run("curriculum", *option, "-n0")
    result.assert_outcomes(passed=9)
    assert "(nothing is recorded)" in said(result)
    assert not (lessons.root / progress.FILE_NAME).exists()


def test_bare_solutions_runs_the_machinery_and_every_lesson(lessons):
    lessons.run("--solutions", "-n0").assert_outcomes(passed=10)


def test_a_part_swapped_for_ours_never_unlocks_but_helps_to_find_the_fault(lessons, said):
    lessons.passed(1)
    lessons.solve(2)
    lessons.edit("lesson_01/host.py", "return a + b", "return a - b")
    lessons.run("curriculum/lesson_02").assert_outcomes(failed=3)
    result = lessons.run("curriculum/lesson_02", "--swap", "1")
    result.assert_outcomes(passed=3)
    assert "parts from solutions/: lesson 01 (--swap)" in said(result)
    assert "is not recorded: --swap replaced lesson 01" in said(result)


def test_a_part_that_was_jumped_over_is_ours(lessons):
    lessons.solve(2)
    lessons.run("curriculum/lesson_02", "--unlocked").assert_outcomes(passed=3)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_still_reports_the_pass(lessons, said):
    lessons.solve(1)
    lessons.root.chmod(0o555)
    try:
        text = said(lessons.run(LESSON_01))
    finally:
        lessons.root.chmod(0o755)
    assert "every required test passed, but" in text and "could not be written" in text


def test_a_record_that_cannot_be_written_still_reports_the_pass(lessons, said):
    lessons.solve(1)
    (lessons.root / f"{progress.FILE_NAME}.lock").mkdir()
    text = said(lessons.run(LESSON_01))
    assert "lesson 01 (Sums): every required test passed, but" in text
    assert "could not be written" in text
    assert "lesson 01 (Sums) is passed, on the simulator." in text


def test_a_damaged_record_is_kept_aside_and_said(lessons, said):
    (lessons.root / progress.FILE_NAME).write_text('{"version": 1, "lessons": {"su')
    text = said(lessons.run(LESSON_01))
    (aside,) = lessons.root.glob(f"{progress.FILE_NAME}.corrupt-*")
    assert f".progress.json is damaged; it is kept as {aside.name}" in text
