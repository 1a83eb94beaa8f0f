"""Lesson 03: powers."""


def power(a, b):
    # TASK 1: multiply again and again
    raise NotImplementedError("task 1")
