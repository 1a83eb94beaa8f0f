"""How a learner types one of our commands on this machine."""

import shutil
from functools import cache


@cache
def _program() -> str:
    return "lesson" if shutil.which("lesson") else "python -m harness"


def typed(words: str) -> str:
    """`hint 5` as it is typed here: `lesson hint 5`, or `python -m harness hint 5`."""
    return f"{_program()} {words}"
