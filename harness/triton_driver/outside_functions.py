"""A call of a function that is not Triton's: Triton says which function, and not where."""

import ast
from typing import Any

from harness.triton_driver.compile_problem import Problem, named_in, reachable
from harness.triton_driver.lines import is_learners

_SAID = "Unsupported function referenced: "
_UNKNOWN = object()


def outside_function(error: BaseException, function: Any) -> Problem | None:
    """The place of the call; None: the error is of another kind."""
    text = str(error)
    if not isinstance(error, RuntimeError) or not text.startswith(_SAID):
        return None
    for one in reachable(function):
        if not is_learners(one.fn.__code__.co_filename):
            continue
        problem = Problem(text, None, one)
        for node in ast.walk(problem.tree):
            if isinstance(node, (ast.Name, ast.Attribute)):
                value = meaning(node, named_in(one))
                if value is not _UNKNOWN and f"{_SAID}{value}" == text:
                    return Problem(text, node, one)
    return Problem(text, None, function)


def meaning(node: ast.AST, names: dict[str, Any]) -> Any:
    """What a name, or a name's attribute, stands for outside of the function."""
    if isinstance(node, ast.Name):
        return names.get(node.id, _UNKNOWN)
    if isinstance(node, ast.Attribute):
        return getattr(meaning(node.value, names), node.attr, _UNKNOWN)
    return _UNKNOWN
