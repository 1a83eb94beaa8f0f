"""What to try when Triton cannot compile a kernel: the first rule that fits has the word."""

from harness.triton_driver import compile_hints_names, compile_hints_python, compile_hints_tiles
from harness.triton_driver.compile_hint import Hint
from harness.triton_driver.compile_problem import Problem

__all__ = ["Hint", "hint"]

_RULES = (
    *compile_hints_python.RULES,
    *compile_hints_names.RULES,
    *compile_hints_tiles.RULES,
)


def hint(problem: Problem) -> Hint | None:
    """None where no rule fits: Triton's own words stand alone then."""
    for pattern, rule in _RULES:
        found = pattern.search(problem.text)
        if found:
            advice = rule(problem, found)
            if advice is not None:
                return advice
    return None
