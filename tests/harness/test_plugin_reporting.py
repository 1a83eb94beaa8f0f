"""A failure names the task, the line to edit and one command, in 25 lines without our frames."""

import re

import pytest

pytest_plugins = ["pytester"]
LESSON_01 = "curriculum/lesson_01"


def reports(text):
    """The text of each failure by the name of its test, in what a run printed."""
    body = text.partition("= FAILURES =")[2]
    parts = re.split(r"^_{3,} (.+?) _{3,}$", body, flags=re.M)[1:]
    texts = (part.partition("\n\n1 test waits for")[0] for part in parts[1::2])
    return dict(zip(parts[::2], texts, strict=True))


def with_answer(lessons, body, answer="return a + b"):
    """Lesson 01 with another body of `add`; the reports of its failures."""
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", answer, body)
    return reports(lessons.run(LESSON_01).stdout.str())


def test_a_wrong_value_shows_the_assertion_and_the_task(lessons):
    text = with_answer(lessons, "return a - b")["test_add_adds[1-2]"]
    assert "task 1: edit curriculum/lesson_01/host.py:12\n" in text
    assert "assert -1 == (1 + 2)\n" in text
    assert " where -1 = add(1, 2)" in text and "0x" not in text
    assert "curriculum/lesson_01/test_lesson_01.py:11   assert host.add(a, b) == a + b" in text
    assert f"rerun: pytest '{LESSON_01}/test_lesson_01.py::test_add_adds[1-2]' --device cpu" in text


def test_what_the_simulator_noted_of_the_tests_launches_stands_with_a_wrong_result(lessons):
    keep = "from harness.launching import launch_notes; launch_notes.keep"
    noted = f"{keep}('copy', [f'{{a}} lanes had returned', 'all']); {keep}('sum', ['third'])"
    told = with_answer(lessons, f"{noted}; return a - b")
    first = told["test_add_adds[1-2]"]
    assert "\n  note     copy: 1 lanes had returned\n  note     copy: all\n" in first
    assert "third" not in first
    others = [text for name, text in told.items() if name != "test_add_adds[1-2]"]
    assert others and not any("copy: 1 lanes" in text for text in others)


def test_an_exception_shows_the_learners_line_above_the_tests(lessons):
    text = with_answer(lessons, "return a.no_such")["test_add_adds[1-2]"]
    assert "AttributeError: 'int' object has no attribute 'no_such'" in text
    assert "task 1: edit curriculum/lesson_01/host.py:13\n" in text
    theirs = text.index("curriculum/lesson_01/host.py:13             return a.no_such")
    assert theirs < text.index("curriculum/lesson_01/test_lesson_01.py:11   assert host.add")


def test_an_exception_that_can_speak_is_not_given_a_traceback(lessons):
    body = "e = ValueError(); e.learner_report = 'thread 4 reads x[9]\\n  x has 8'; raise e"
    text = with_answer(lessons, body)["test_add_adds[1-2]"]
    assert "thread 4 reads x[9]\n  x has 8\n" in text
    assert "ValueError" not in text and "raise e" not in text
    assert "task 1: edit" in text and "rerun: " in text


@pytest.mark.parametrize(
    "body",
    [
        "raise AssertionError('\\n'.join(str(i) for i in range(200)))",
        "raise ValueError('x' * 5000)",
        "return add(a, b)",
        "return [0] * 5000",
        "e = ValueError(); e.learner_report = 'a long story\\n' * 100; raise e",
        "raise ExceptionGroup('two', [ValueError('one'), ValueError('other')])",
    ],
)
def test_no_failure_is_longer_than_a_screen(lessons, body):
    for text in with_answer(lessons, body).values():
        assert len(text.strip().splitlines()) <= 25
        assert max(map(len, text.splitlines())) <= 200


def test_no_line_of_ours_is_shown(lessons):
    body = "from harness.lessons import answers; answers.set_answers(3)"
    text = with_answer(lessons, body)["test_add_adds[1-2]"]
    assert "harness/" not in text and "_pytest" not in text and "importlib" not in text
    assert "(every frame: add --tb=long)" in text


def test_every_frame_is_shown_to_those_who_ask(lessons, said):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", "return a.no_such")
    text = said(lessons.run(LESSON_01, "--tb=long"))
    assert "Traceback" in text or "AttributeError" in text
    assert "> " in text and "task 1: edit" not in text.partition("short test summary")[0][:2000]


def test_one_cause_is_told_once_and_counted_at_the_end(lessons, said):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", "return a - b")
    text = said(lessons.run(LESSON_01))
    assert "test_add_adds[1-2]" in reports(text) and "test_add_adds[-3-7]" not in reports(text)
    assert "  task 1   2 of 3 fail" in text


def test_on_the_solutions_every_failure_is_listed(lessons, said):
    solution = lessons.root / "solutions" / "lesson_01" / "host.py"
    solution.write_text(solution.read_text().replace("return a + b", "return a - b"))
    found = reports(said(lessons.run(LESSON_01, "--solutions", "-n", "0")))
    assert "(as in test_add_adds[1-2], told in full above)" in found["test_add_adds[-3-7]"]


def test_the_end_counts_by_task_and_names_the_test_to_begin_with(lessons, said):
    text = said(lessons.run(LESSON_01))
    assert "  task 1   3 of 3 fail      curriculum/lesson_01/host.py:13\n" in text
    assert "  task 2   2 of 2 fail      curriculum/lesson_01/host.py:18\n" in text
    assert f"begin with: pytest '{LESSON_01}/test_lesson_01.py::test_add_adds[1-2]'" in text
    assert "short test summary" not in text


def test_workers_report_the_same(lessons, said):
    lessons.edit("lesson_01/host.py", 'raise NotImplementedError("task 1")', "return a - b")
    text = said(lessons.run(LESSON_01, "-n", "2"))
    assert "task 1: edit curriculum/lesson_01/host.py:12\n" in text
    assert " where -1 = add(1, 2)" in text or " where -10 = add(-3, 7)" in text
    assert "  task 2   2 of 2 fail      curriculum/lesson_01/host.py:18\n" in text


def test_from_inside_the_folder_paths_are_those_one_would_type(lessons, said):
    lessons.go_to(LESSON_01)
    text = said(lessons.run())
    assert "task 1: edit host.py:13\n" in text
    assert "rerun: pytest 'test_lesson_01.py::test_add_adds[1-2]' --device cpu\n" in text


def test_the_header_says_the_device_the_open_lesson_and_how_to_reproduce(lessons, said):
    text = said(lessons.run(LESSON_01))
    assert "device: simulator (virtual sm_90, code of sm_80)\n" in text
    assert "open: lesson 01 (Sums)\n" in text
    assert re.search(r"^reproduce: .*--device cpu$", text, re.M)


def test_what_waits_for_a_gpu_is_said_in_one_line_and_is_no_skip(lessons, said):
    lessons.solve(1)
    result = lessons.run(LESSON_01)
    result.assert_outcomes(passed=5, skipped=0, deselected=0)
    assert "collected 5 items\n" in said(result)
    assert "1 test waits for a GPU\n" in said(result)
    assert "1 test waits for a GPU and --speed\n" in said(result)


def test_tests_of_the_machinery_keep_pytests_own_report(lessons, said):
    (lessons.root / "tests" / "test_machinery.py").write_text("def test_one(): assert 1 == 2\n")
    assert "\nE   assert 1 == 2\n" in said(lessons.run("tests"))


def test_a_hint_is_offered_after_the_third_try(lessons, said):
    runs = [said(lessons.run(LESSON_01)) for _ in range(3)]
    assert ["stuck? " in text for text in runs] == [False, False, True]
    assert "hint 1 gives the next hint" in runs[-1]
