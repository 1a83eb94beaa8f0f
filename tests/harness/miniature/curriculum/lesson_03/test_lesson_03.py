"""Lesson 03: a power is many products."""

import pytest

from curriculum.lesson_03 import host


@pytest.mark.task(1)
def test_power_multiplies():
    assert host.power(2, 3) == 8
