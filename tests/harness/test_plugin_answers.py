"""Answers are found wherever they are, and what is wrong with one fails its tests at its line."""

import sys

import pytest

from harness.lessons import answers

pytest_plugins = ["pytester"]
LESSON_01 = "curriculum/lesson_01"


def test_a_task_that_is_not_written_fails_and_says_so(lessons, said):
    text = said(lessons.run(LESSON_01))
    assert "task 1: edit curriculum/lesson_01/host.py:13\ntask 1 is not written yet\n" in text
    assert "errors" not in text.splitlines()[-1]


@pytest.mark.parametrize(
    ("broken", "line", "told"),
    [
        ("def add(a, b:", 11, "host.py:11 is not Python"),
        ("no_such_name", 11, "host.py:11 does not import: NameError: name 'no_such_name'"),
        ("import no_such_module", 11, "host.py:11 does not import: ModuleNotFoundError"),
        ("1 / 0", 11, "host.py:11 does not import: ZeroDivisionError: division by zero"),
        ('raise NotImplementedError("task 1")', 11, "task 1 is not written yet"),
        ("raise SystemExit", 11, "host.py:11 does not import: SystemExit"),
    ],
)
def test_a_file_that_does_not_import_fails_each_of_its_tests(lessons, said, broken, line, told):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "def add(a, b):\n", f"{broken}\n\ndef add(a, b):\n")
    result = lessons.run(LESSON_01)
    result.assert_outcomes(failed=5)
    text = said(result)
    assert f"edit curriculum/lesson_01/host.py:{line}" in text and told in text
    assert "Interrupted" not in text and "harness/" not in text


def test_names_imported_from_a_broken_file_fail_the_tests_that_use_them(lessons, said):
    lessons.passed(1)
    lessons.solve(2)
    lessons.edit("lesson_02/host.py", "def times", "no_such_name\n\n\ndef times")
    result = lessons.run("curriculum/lesson_02")
    result.assert_outcomes(failed=3)
    assert "name 'no_such_name' is not defined" in said(result)


def test_a_name_that_is_gone_is_named(lessons, said):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "def total", "def sum_up")
    result = lessons.run(LESSON_01)
    result.assert_outcomes(passed=3, failed=2)
    assert "curriculum/lesson_01/host.py has no `total`, which this test uses" in said(result)


def test_a_file_that_is_gone_says_how_to_bring_it_back(lessons, said):
    lessons.file("lesson_01/host.py").unlink()
    result = lessons.run(LESSON_01)
    result.assert_outcomes(failed=5)
    assert "host.py is missing; bring it back: python -m harness reset 01" in said(result)


def test_a_test_file_that_needs_a_broken_answer_to_be_read_is_one_failed_test(lessons, said):
    lessons.edit("lesson_01/host.py", "def add", "no_such_name\n\n\ndef add")
    lessons.edit("lesson_01/test_lesson_01.py", "@pytest.mark.stretch", "@host.add(1, 2)")
    result = lessons.run(LESSON_01)
    result.assert_outcomes(failed=1)
    assert "name 'no_such_name' is not defined" in said(result)


def test_an_edit_of_the_same_size_in_the_same_second_is_seen(lessons):
    lessons.solve(1)
    lessons.run(LESSON_01).assert_outcomes(passed=5)
    lessons.edit("lesson_01/host.py", "return a + b", "return a - b")
    result = lessons.run(LESSON_01)
    assert result.parseoutcomes()["failed"] >= 2


def test_answers_of_another_folder_fall_back_to_supplied_files(lessons, tmp_path):
    folder = tmp_path / "hers" / "lesson_01"
    folder.mkdir(parents=True)
    source = (lessons.root / "solutions" / "lesson_01" / "host.py").read_text()
    (folder / "host.py").write_text(source)
    lessons.run(LESSON_01, "--answers", str(folder.parent)).assert_outcomes(passed=5)


def test_a_failure_in_answers_of_another_folder_names_their_line(lessons, said, tmp_path):
    folder = tmp_path / "hers" / "lesson_01"
    folder.mkdir(parents=True)
    source = (lessons.root / "solutions" / "lesson_01" / "host.py").read_text()
    (folder / "host.py").write_text(source.replace("return a + b", "return a.no_such"))
    text = said(lessons.run(LESSON_01, "--answers", str(folder.parent)))
    assert "hers/lesson_01/host.py" in text and "return a.no_such" in text
    assert "--answers" in next(line for line in text.splitlines() if line.startswith("rerun"))


def test_a_folder_of_answers_that_is_not_there_is_refused(lessons, said):
    result = lessons.run(LESSON_01, "--answers", "nowhere")
    assert result.ret != 0 and "there is no folder" in said(result)


def test_solutions_need_no_open_lesson(lessons):
    lessons.run("curriculum/lesson_03", "--solutions", "-n0").assert_outcomes(passed=1)


def test_files_beside_an_answer_come_from_the_same_folder(lessons):
    root = lessons.root
    with answers.answers_from(root / "solutions", root):
        test_file = root / "curriculum" / "lesson_02" / "test_lesson_02.py"
        host = root / "solutions" / "lesson_02" / "host.py"
        kernel = root / "solutions" / "lesson_02" / "kernel.cu"
        assert answers.answer_path(test_file, "kernel.cu") == kernel
        assert answers.answer_path(str(host), "kernel.cu") == kernel
        supplied = root / "curriculum" / "lesson_01" / "table.py"
        lesson_01 = root / "solutions" / "lesson_01" / "host.py"
        assert answers.answer_path(lesson_01, "table.py") == supplied
    assert answers.answer_path(root / "elsewhere" / "x.py", "kernel.cu").parent.name == "elsewhere"


def test_answers_can_be_changed_and_changed_back_in_one_process(lessons):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", "return 42")
    with answers.answers_from(None, lessons.root):
        from curriculum.lesson_01 import host

        assert host.add(1, 2) == 42
        with answers.answers_from(lessons.root / "solutions", lessons.root):
            from curriculum.lesson_01 import host as ours

            assert ours.add(1, 2) == 3
        assert sys.modules["curriculum.lesson_01.host"] is host
        assert answers.current().folder == lessons.root / "curriculum"


def test_hasattr_keeps_its_meaning(lessons):
    with answers.answers_from(lessons.root / "solutions", lessons.root):
        from curriculum.lesson_01 import host

        assert hasattr(host, "add") and not hasattr(host, "no_such_name")
        assert "add" in dir(host) and host.__name__ == "curriculum.lesson_01.host"
