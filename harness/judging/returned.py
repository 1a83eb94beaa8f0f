"""What a learner's function returned, checked before a test computes with it."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import pytest


def number(call: str, got: Any) -> Any:
    """`got` itself if it is a number; else the test fails and says what `call` returned.

    True and False are no numbers here, though Python counts with them.
    """
    if isinstance(got, bool) or not isinstance(got, Real):
        pytest.fail(f"{call} returned {got!r}, which is not a number", pytrace=False)
    return got


def refused(call: str, error: type[Exception], function: Callable[[], object]) -> None:
    """Fail unless `function()`, which `call` describes, raises `error`; others pass through."""
    try:
        function()
    except error:
        return
    pytest.fail(f"{call} passes, and should raise {error.__name__}", pytrace=False)
