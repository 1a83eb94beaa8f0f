"""Questions to the installed Triton, and the words in which the canary sings."""

import ast
import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path

import pytest
import triton

PACKAGE = Path(triton.__file__).parent


def resolved(name):
    module, _, path = name.partition(":")
    found = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def sing(what, where):
    pytest.fail(
        f"Triton {triton.__version__} has changed: {what}\n"
        f"look at harness/triton_driver: {where}; then at this file",
        pytrace=False,
    )


def check_name(name, where):
    try:
        return resolved(name)
    except (ImportError, AttributeError) as error:
        sing(f"{name} is gone ({error})", where)


def check_signature(name, wanted, where):
    function = check_name(name, where)
    got = ", ".join(
        {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(p.kind, "")
        + p.name
        for p in inspect.signature(function).parameters.values()
    )
    if got != wanted:
        sing(f"{name} takes ({got}), not ({wanted})", where)


def tree_of(function):
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def calls(function, callee):
    """The argument texts of each call of `callee` in a function's source."""
    return [
        [ast.unparse(a) for a in node.args]
        + [f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords]
        for node in ast.walk(tree_of(function))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == callee
    ]


def asked_of(pattern):
    """Where Triton's own sources, those of other backends and tools apart, match a pattern."""
    left_out = ("backends", "profiler", "experimental", "instrumentation", "_internal_testing.py")
    found = {}
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE)
        if inside.parts[0] in left_out or inside.parts[:2] == ("language", "extra"):
            continue
        for name in re.findall(pattern, path.read_text(encoding="utf-8")):
            found.setdefault(name, str(inside))
    return found
