"""What a fault says in a lesson names nothing that a later lesson is the first to teach."""

import re

import pytest

from harness import cuda
from harness.lessons import curriculum
from harness.telling.taught import in_taught_words, taught_lines
from simulator import KernelFault
from simulator.vocabulary import Advice

TAIL = """\
extern "C" __global__ void tail(float* y) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    tile[t] = t;
    y[t] = tile[31 - t];
}
extern "C" __global__ void one_sum(float* y) { y[0] += 1.0f; }
extern "C" __global__ void backwards(float* y) {
    y[threadIdx.x] = 1.0f;
    y[64] = y[63 - threadIdx.x];
}
"""


@pytest.fixture
def report(tmp_path):
    """The report of a kernel's fault in a lesson's folder, or in another one."""

    def told(folder, kernel, threads):
        import torch

        path = tmp_path / folder
        path.mkdir(exist_ok=True)
        (path / "kernel.cu").write_text(TAIL)
        with pytest.raises(KernelFault) as caught:
            cuda.module(path / "host.py", "kernel.cu").get_function(kernel)(
                (1,), (threads,), (torch.zeros(65),)
            )
        return caught.value.learner_report

    return told


def test_a_race_between_lanes_names_syncwarp_from_lesson_06_on_and_outside_of_lessons(report):
    for folder in ("lesson_06", "lesson_09", "elsewhere"):
        assert "no __syncwarp() stands between line 4 and line 5" in report(folder, "tail", 32)
        assert "Put __syncwarp() between" in report(folder, "tail", 32)


def test_in_lesson_05_it_is_told_with_the_barrier_that_was_just_taught(report):
    told = report("lesson_05", "tail", 32)
    assert "__syncwarp" not in told
    assert "they are lanes of one warp, which need not run in lock step\n" in told
    assert "Put __syncthreads() between line 4 and line 5" in told


def test_in_one_statement_the_read_is_advised_to_come_first(report):
    told = report("lesson_05", "one_sum", 64)
    assert "Read into a variable, then __syncthreads(), then write; or give each" in told
    assert "atomic" not in told


def test_before_lesson_07_no_update_at_once_is_advised(report):
    assert "update it with an atomic" in report("lesson_07", "one_sum", 64)
    told = report("lesson_03", "one_sum", 64)
    assert "atomic" not in told and "Give each thread elements of its own." in told


def test_before_lesson_05_nothing_of_it_is_advised_or_expected(report):
    assert "Put __syncthreads() between line 9 and line 10" in report("lesson_05", "backwards", 64)
    told = report("lesson_04", "backwards", 64)
    assert "data race: thread 0 of block 0 reads y[63] at line 10" in told
    assert not re.search("barrier|__sync", told)
    assert "No thread reads or writes an element that another one writes." in told


def test_advice_that_has_nothing_simpler_to_say_says_nothing():
    later = ("atomic", "barrier")
    assert in_taught_words("Use an atomic.", later) == ""
    assert in_taught_words(Advice("Use an atomic.", instead="Use one thread."), later) == (
        "Use one thread."
    )
    assert taught_lines("both write:\nno barrier stands between", later) == "both write"
    assert taught_lines("both write:\nat once", later) == "both write:\nat once"


def test_each_word_is_taught_by_one_lesson_of_the_path(request):
    lessons = curriculum.load(request.config.rootpath).lessons
    words = [word for lesson in lessons for word in lesson.teaches]
    assert len(words) == len(set(words))
    assert {"__syncthreads", "__syncwarp", "atomic", "cp.async"} <= set(words)
