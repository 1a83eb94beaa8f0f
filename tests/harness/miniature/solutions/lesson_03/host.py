"""Lesson 03: powers."""


def power(a, b):
    # TASK 1: multiply again and again
    return a**b
    # END TASK
