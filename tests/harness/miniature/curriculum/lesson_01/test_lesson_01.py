"""Lesson 01: two numbers make one."""

import pytest

from curriculum.lesson_01 import host


@pytest.mark.task(1)
@pytest.mark.parametrize(("a", "b"), [(1, 2), (0, 0), (-3, 7)])
def test_add_adds(a, b):
    assert host.add(a, b) == a + b


@pytest.mark.task(2)
def test_total_adds_everything():
    assert host.total([1, 2, 3]) == 6


@pytest.mark.task(2)
@pytest.mark.stretch
def test_total_takes_strings_apart():
    assert host.total([1.5, 2.5]) == 4.0


@pytest.mark.task(2)
@pytest.mark.gpu
def test_total_on_the_device():
    assert host.total([1]) == 1


@pytest.mark.task(2)
@pytest.mark.speed
def test_total_is_fast():
    assert host.total([1]) == 1
