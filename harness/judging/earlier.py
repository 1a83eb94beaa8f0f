"""A test that rests on an earlier task says so, and does not blame its own."""

from collections.abc import Callable

import pytest


def needs_task(task: int, because: str, is_right: Callable[[], object]) -> None:
    """Go on if `is_right()` holds; else the test fails with "task 2 first: …".

    because    what the test needs the task for: "this kernel may call block_sum"
    is_right   a quick check; a kernel's error in it counts as no
    """
    __tracebackhide__ = True
    try:
        holds = bool(is_right())
    except Exception:
        holds = False
    if not holds:
        pytest.fail(f"task {task} first, it is not right yet: {because}", pytrace=False)
