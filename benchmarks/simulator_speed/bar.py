"""A promise, what was measured for it, and whether it holds."""

from typing import Any

Result = dict[str, Any]


def bar(
    what: str, measured: float, at_least: float | None = None, at_most: float | None = None
) -> Result:
    holds = (at_least is None or measured >= at_least) and (at_most is None or measured <= at_most)
    return {
        "what": what,
        "measured": measured,
        "at_least": at_least,
        "at_most": at_most,
        "holds": holds,
    }
