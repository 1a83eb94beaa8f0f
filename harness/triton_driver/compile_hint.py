"""What a rule makes of a compiler's complaint."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from harness.triton_driver.compile_problem import Problem


@dataclass(frozen=True, slots=True)
class Hint:
    """what: instead of Triton's words; node: where the mistake is, if not where Triton stopped."""

    what: str | None = None
    expected: str | None = None
    advice: str | None = None
    node: ast.AST | None = None


Rule = tuple[re.Pattern[str], Callable[[Problem, re.Match[str]], Hint | None]]


def always(pattern: str, what: str | None, expected: str, advice: str) -> Rule:
    """A rule that has the same words for whatever the pattern finds."""
    return re.compile(pattern, re.S), lambda problem, found: Hint(what, expected, advice)


def when(
    pattern: str,
) -> Callable[[Callable[[Problem, re.Match[str]], Hint | None]], Rule]:
    """Makes a rule of a function that looks closer."""

    def rule(function: Callable[[Problem, re.Match[str]], Hint | None]) -> Rule:
        return re.compile(pattern, re.S), function

    return rule
