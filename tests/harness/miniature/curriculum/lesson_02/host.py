"""Lesson 02: products, from the sums of lesson 01."""

from curriculum.lesson_01 import host as sums


def double(a):
    """Supplied."""
    return sums.add(a, a)


def times(a, b):
    # TASK 1: multiply by adding
    raise NotImplementedError("task 1")
