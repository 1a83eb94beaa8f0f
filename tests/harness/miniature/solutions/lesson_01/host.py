"""Lesson 01: sums."""

from curriculum.lesson_01 import table


def start():
    """Supplied: where a sum begins."""
    return table.CARRY


def add(a, b):
    # TASK 1: add two numbers
    return a + b
    # END TASK


def total(values):
    # TASK 2: add up all values, beginning at start()
    result = start()
    for value in values:
        result = add(result, value)
    return result
    # END TASK
