"""Lesson 02: a product is many sums."""

import pytest

from curriculum.lesson_02.host import times
from harness.lessons.answers import answer_path


@pytest.mark.task(1)
@pytest.mark.parametrize("row", [1, 2])
def test_times_adds_again_and_again(row):
    assert times(row, 3) == 3 * row


@pytest.mark.task(1)
def test_the_kernel_is_found_beside_the_host():
    assert times(2, 2) == 4
    assert answer_path(__file__, "kernel.cu").name == "kernel.cu"
