"""A test that hangs, dies or breaks its GPU fails by its own name, once, and the others go on."""

import re

import numpy  # noqa: F401  # runs inside this process unload what they load, and it loads once
import pytest

from harness.launching import nvidia_driver
from harness.launching.nvidia_driver import Driver, Gpu, State
from harness.running import devices

pytest_plugins = ["pytester"]
LESSON_01 = "curriculum/lesson_01"
LOST = "RuntimeError('CUDA error: an illegal memory access was encountered')"


@pytest.fixture
def gpu(monkeypatch):
    """A machine that says it has a GPU; nothing here launches anything on it."""
    h200 = Gpu("NVIDIA H200", (9, 0), 132, 141 << 30, 232448)
    driver = Driver(State.READY, cuda=13000, gpus=(h200,))
    monkeypatch.setattr(nvidia_driver, "ask_driver", lambda: driver)
    monkeypatch.setattr(devices, "torch_has_cuda", lambda: True)


def break_two(lessons, body):
    """Lesson 01, whose `add` goes wrong for one of the five tests."""
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", f"if b == 2: {body}\n    return a + b")
    lessons.edit("lesson_01/test_lesson_01.py", "[1, 2, 3]) == 6", "[1, 3]) == 4")


def test_a_test_that_hangs_fails_by_name_at_the_learners_line(lessons, said):
    break_two(lessons, "exec('while True: pass')")
    result = lessons.run(LESSON_01, "--timeout", "2")
    result.assert_outcomes(passed=2, failed=3)
    text = said(result)
    assert "the test took longer than its limit of 2 s and was stopped" in text
    assert "curriculum/lesson_01/host.py:13" in text


HANGS = "exec('import time; time.sleep(30)')"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_after_a_test_that_hangs_those_of_its_task_fail_at_once(lessons, said, workers):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", f"{HANGS}\n    return a + b")
    lessons.edit("lesson_01/host.py", "result = add(result, value)", "result += value")
    result = lessons.run(LESSON_01, "--timeout", "4", "-n", workers)
    result.assert_outcomes(passed=2, failed=3)  # the other task's tests do run
    text = said(result)
    (stopped,) = re.findall(r"not run: task 1 did not end in (\S+); mend that first", text)
    limit = "the test took longer than its limit of 4 s and was stopped"
    told = re.findall(r"_ (test_\S+) _+\n(?:\[gw.*\n)?task 1.*\n(.*)", text)
    hung = [name for name, what in told if what == limit]
    stops = text.count(limit)
    assert stopped in hung
    (begin,) = re.findall(r"begin with: pytest .*::([^\s']+)", text)
    assert begin in hung  # two workers hang in a test each, and either is told of
    waited = int(re.findall(r"  task 1   \d of 3 fail, (\d) not run", text)[0])
    assert 1 <= stops <= max(1, int(workers)) and waited >= 1
    assert lessons.recorded() == set()


def test_where_one_was_stopped_the_headline_of_those_not_run_is_the_same(lessons, said):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "return a + b", f"{HANGS}\n    return a + b")
    text = said(lessons.run(LESSON_01, "-k", "add_adds", "--timeout", "0.5"))
    heads = re.findall(r"^task 1: edit \S+$", text, re.M)
    assert heads == ["task 1: edit curriculum/lesson_01/host.py:12"] * 2


def test_on_the_answers_of_others_every_test_runs_to_its_limit(lessons, said):
    solution = lessons.root / "solutions" / "lesson_01" / "host.py"
    solution.write_text(solution.read_text().replace("return a + b", HANGS))
    text = said(lessons.run(LESSON_01, "--solutions", "-n0", "-k", "add_adds", "--timeout", "0.3"))
    assert "not run" not in text


def test_a_process_that_dies_fails_its_test_by_name_once(lessons, said):
    break_two(lessons, "import os; os._exit(3)")
    result = lessons.run(LESSON_01, "-n", "1")
    result.assert_outcomes(passed=4, failed=1)
    assert "the process that ran test_add_adds[1-2] died" in said(result)
    assert "___ test_add_adds[1-2] ___" in said(result)
    assert lessons.recorded() == set()


def test_a_broken_gpu_context_fails_its_test_by_name_once(lessons, said, gpu):
    break_two(lessons, f"raise {LOST}")
    result = lessons.run(LESSON_01, device=None)
    result.assert_outcomes(passed=5, failed=1)  # the gpu test runs here
    text = said(result)
    assert "device: NVIDIA H200 (sm_90, driver for CUDA 13.0)" in text
    assert "RuntimeError: CUDA error: an illegal memory access was encountered" in text
    assert "rerun: pytest 'curriculum/lesson_01/test_lesson_01.py::test_add_adds[1-2]'" in text
    assert text.count("replacing crashed worker") == 1


def test_without_workers_a_broken_gpu_context_ends_the_run(lessons, said, gpu):
    break_two(lessons, f"raise {LOST}")
    result = lessons.run(LESSON_01, "-n", "0", device=None)
    result.assert_outcomes(failed=1)
    assert "the GPU context is lost after this failure; the tests after it did not" in said(result)


def test_a_pass_on_a_gpu_is_recorded_by_its_name_and_needs_the_gpu_tests(lessons, said, gpu):
    lessons.solve(1)
    lessons.run(LESSON_01, "-n", "0", device=None).assert_outcomes(passed=6)
    lessons.run(LESSON_01).assert_outcomes(passed=5)
    assert [done.on for done in lessons.record(1).passes] == ["NVIDIA H200", "simulator"]


def test_a_gpu_test_that_fails_blocks_on_a_gpu_only(lessons, said, gpu):
    lessons.solve(1)
    lessons.edit("lesson_01/host.py", "result = start()", "result = start() + (len(values) == 1)")
    lessons.run(LESSON_01, "-n", "0", device=None).assert_outcomes(passed=5, failed=1)
    assert lessons.recorded() == set()
    lessons.run(LESSON_01)
    assert lessons.recorded() == {1}


def test_speed_tests_run_when_asked_for_on_a_gpu_and_earn_a_medal(lessons, said, gpu):
    lessons.solve(1)
    assert "1 test waits for --speed\n" in said(lessons.run(LESSON_01, "-n", "0", device=None))
    lessons.run(LESSON_01, "--speed", device=None).assert_outcomes(passed=7)
    assert lessons.record(1).medals == ("test_total_is_fast",)


def test_an_old_driver_is_refused_in_one_line(lessons, said, monkeypatch):
    old = Driver(State.READY, cuda=12040, gpus=(Gpu("NVIDIA A100", (8, 0), 108, 1, 1),))
    monkeypatch.setattr(nvidia_driver, "ask_driver", lambda: old)
    result = lessons.run(LESSON_01, device=None)
    assert result.ret != 0
    assert said(result).strip() == (
        "driver too old (12.4); CUDA 13 needs driver ≥ 580; "
        "running on the simulator needs --device cpu"
    )


def test_solutions_use_every_core(lessons, said, monkeypatch):
    from harness.running import workers

    monkeypatch.setattr(workers, "cores", lambda: 2)
    result = lessons.run("--solutions")
    result.assert_outcomes(passed=10)
    assert "2 workers" in said(result)


@pytest.mark.parametrize("option", ["-s", "--pdb", "-n0"])
def test_solutions_stay_in_process_when_one_wants_to_see_it(lessons, said, option):
    result = lessons.run("--solutions", option)
    result.assert_outcomes(passed=10)
    assert "workers" not in said(result)
