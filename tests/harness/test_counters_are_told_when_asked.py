"""Counter tables: beside a failing assert about counters, and with --counters once a kernel."""

import re

import pytest

from harness.running import counters_option

pytest_plugins = ["pytester"]
LESSON_01 = "curriculum/lesson_01"
KERNEL = """\
extern "C" __global__ void spread(const float* x, float* y)
{
    // TASK 1: copy one element of each eight
    y[threadIdx.x] = x[8 * threadIdx.x];
}
extern "C" __global__ void other(float* y)
{
    y[threadIdx.x] = 2.0f;
}
"""
HOST = """\
import torch
from harness import cuda

module = cuda.module(__file__, "kernel.cu")


def spread(threads):
    x, y = torch.arange(8.0 * threads), torch.empty(threads)
    module.get_function("spread")((1,), (threads,), (x, y))
    return y


def other():
    y = torch.empty(32)
    module.get_function("other")((1,), (32,), (y,))
"""
TESTS = """\
import pytest

from curriculum.lesson_01 import host


@pytest.mark.task(1)
@pytest.mark.simulated
@pytest.mark.parametrize("threads", [32, 1024, 64])
def test_counts(threads, profile):
    counted = profile(lambda: host.spread(threads))["spread"].counters
    host.other()
    {check}
"""


@pytest.fixture
def failing(lessons, said):
    """What a run says of lesson 01 whose tests check that."""

    def run(check, *options):
        for folder in ("curriculum", "solutions"):
            (lessons.root / folder / "lesson_01" / "kernel.cu").write_text(KERNEL)
            (lessons.root / folder / "lesson_01" / "host.py").write_text(HOST)
        lessons.file("lesson_01/test_lesson_01.py").write_text(TESTS.format(check=check))
        return said(lessons.run(LESSON_01, *options))

    return run


def test_an_assert_about_a_counter_shows_that_counters_column(failing):
    text = failing("assert counted.global_load_sectors == 4")
    assert "spread in curriculum/lesson_01/kernel.cu\n" in text
    marked = r">      4  y\[threadIdx.x\] = x\[8 \* threadIdx.x\]; +32/4 8.0×\n"
    assert re.search(rf" load\n    line +sectors/ideal\n{marked}     all +32/4 8.0×\n", text)
    assert " store\n" not in text and "instructions" not in text
    assert "line 4 loads 32 sectors of 32 bytes; the bytes it uses fill 4\n" in text
    assert "> furthest from the ideal; requested at L1" in text


def test_an_assert_about_what_was_made_of_counters_shows_them_too(failing):
    check = "moved = [counted.global_load_sectors]; total = sum(moved)\n    assert total == 4"
    assert "32/4 8.0×" in failing(check)


@pytest.mark.parametrize(
    "check", ["assert threads == 0", "assert (counted.blocks, counted.warps) == (1, 0)"]
)
def test_an_assert_about_something_else_shows_no_table(failing, check):
    text = failing(check)
    assert "assert" in text and "requested at L1" not in text and "sectors" not in text


@pytest.mark.parametrize("workers", ["0", "2"])
def test_with_counters_each_kernel_has_one_table_of_its_largest_launch(failing, workers):
    text = failing("pass", "--counters", "-n", workers)
    tables = text.partition("\nspread in ")[1] + text.partition("\nspread in ")[2]
    assert tables.count("spread in ") == tables.count("other in ") == 1
    assert "the largest of 3 launches (test_counts[1024])" in tables
    assert "one test alone: add -k test_counts\n" in tables
    assert tables.count("> furthest from the ideal; requested at L1") == 1


def test_the_largest_launch_is_the_one_that_moves_most_through_memory():
    kernels = counters_option.CountedKernels()
    launch = {"kernel": "copy", "source": "no_such.cu", "launches": 1, "lines": {}}
    idle = {"global_load_sectors": 9, "warp_instructions": 9000}
    busy = {"global_load_sectors": 90, "warp_instructions": 90}
    for test, counters in (("test_idle", idle), ("test_busy", busy), ("test_idle", idle)):
        kernels.add("lesson_01", [{**launch, "test": test, "counters": counters}])
    said = "\n".join(kernels.lines())
    assert "copy in no_such.cu, the largest of 3 launches (test_busy)" in said


def test_the_tables_of_a_lesson_are_no_longer_than_sixty_lines(failing, monkeypatch):
    kernels = counters_option.CountedKernels()
    for number in range(9):
        lines = {str(line): {"warp_instructions": line} for line in range(1, 90)}
        kernels.add(
            "lesson_01",
            [
                {
                    "kernel": f"kernel_{number}",
                    "source": "no_such.cu",
                    "test": "test_it[3]",
                    "launches": 1,
                    "counters": {"warp_instructions": 100 + number},
                    "lines": lines,
                }
            ],
        )
    said = kernels.lines()
    assert len(said) <= 60
    assert sum(" in no_such.cu" in line for line in said) >= 4
    assert "also launched: kernel_0" in said[-1] and "-k test_it" in said[-1]


def test_where_there_is_little_room_the_marked_lines_stay(failing):
    text = failing("assert counted.global_load_sectors == 4, 'words\\n' * 11")
    told = text[text.index("task 1: edit") : text.index("rerun: ")].splitlines()
    assert len(told) <= 24
    assert sum(line.startswith(">      4  y[threadIdx.x]") for line in told) == 1
    assert "> furthest from the ideal; requested at L1; hits and DRAM are not modelled" in told
