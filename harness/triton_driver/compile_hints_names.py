"""Rules for names: what is not defined, what lies outside, how functions are called."""

import ast
import builtins
import inspect
import re
from difflib import get_close_matches

from harness.triton_driver.compile_hint import Hint, Rule, when
from harness.triton_driver.compile_problem import Problem, assignment, named_in
from harness.triton_driver.outside_functions import meaning

_PYTHONS = {  # builtin -> Triton's word
    "sum": "tl.sum(tile, axis=0)",
    "any": "tl.max(tile, axis=0)",
    "all": "tl.min(tile, axis=0)",
    "round": "tl.floor(x + 0.5)",
    "pow": "tl.exp2(y * tl.log2(x))",
    "sorted": "tl.sort(tile)",
    "enumerate": "for i in range(n)",
    "zip": "for i in range(n)",
    "open": "nothing: a kernel reads and writes tensors only",
}


def _tl() -> list[str]:
    import triton.language as tl

    return [name for name in dir(tl) if not name.startswith("_")]


@when(r"^(\w+) is not defined")
def _name(problem: Problem, found: re.Match[str]) -> Hint | None:
    name = found[1]
    given = assignment(problem, name)
    if given is not None:
        return Hint(
            f"{name} may have no value here",
            f"{name} has a value whichever way the kernel goes",
            f"give it one before the if or the loop that sets it (line {problem.line(given)})",
        )
    if name in _PYTHONS:
        return Hint(
            f"{name} is Python's, and a kernel has none", "Triton's functions", _PYTHONS[name]
        )
    if hasattr(builtins, name):
        close = get_close_matches(name, _tl(), n=1, cutoff=0.6)
        advice = f"tl.{close[0]}" if close else "work it out with tl's functions"
        return Hint(f"{name} is Python's, and a kernel has none", "Triton's functions", advice)
    known = {n.id for n in ast.walk(problem.tree) if isinstance(n, ast.Name)} - {name}
    close = get_close_matches(name, sorted(known | set(problem.parameters)), n=1, cutoff=0.6)
    advice = f"is {close[0]} meant?" if close else f"assign {name} first, or add it as a parameter"
    return Hint(f"{name} is not defined", None, advice)


@when(r"module 'triton\.language(\S*)' has no attribute '(\w+)'")
def _no_such(problem: Problem, found: re.Match[str]) -> Hint | None:
    name = found[2]
    close = get_close_matches(name, _tl(), n=1, cutoff=0.6)
    advice = f"is tl.{close[0]} meant?" if close else _ELSEWHERE.get(name)
    return Hint(f"triton.language has no {name}", None, advice)


_ELSEWHERE = {
    "tanh": "2 * tl.sigmoid(2 * x) - 1, or libdevice.tanh of triton.language.extra",
    "pow": "tl.exp2(y * tl.log2(x))",
    "float": "tl.float32",
    "matmul": "tl.dot(a, b)",
    "relu": "tl.maximum(x, 0.0)",
    "mean": "tl.sum(x, axis=0) / n",
}


@when(r"^(\w+)\(\) (missing .*|got an unexpected .*|takes .*|got multiple .*)")
def _arguments(problem: Problem, found: re.Match[str]) -> Hint | None:
    shown = _signature(problem)
    if shown is None:
        return None
    misnamed = re.search(r"keyword argument '(\w+)'", found[2])
    close: list[str] = []
    if misnamed:
        close = get_close_matches(misnamed[1], re.findall(r"\w+", shown), n=1, cutoff=0.6)
    advice = f"is {close[0]}= meant?" if close else None
    return Hint(f"{problem.call or found[1]} {found[2]}", shown, advice)


@when(r"^(missing a required argument: '\w+'|too many positional arguments)")
def _helpers_arguments(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(f"{problem.call}: {found[1]}", _signature(problem))


def _signature(problem: Problem) -> str | None:
    """How the function that is called at the node wants to be called."""
    if not isinstance(problem.node, ast.Call):
        return None
    function = meaning(problem.node.func, named_in(problem.function))
    try:
        parameters = inspect.signature(getattr(function, "fn", function)).parameters.values()
    except (TypeError, ValueError):
        return None
    own = [p for p in parameters if not p.name.startswith("_")]
    told = [p.name if p.default is p.empty else f"{p.name}=…" for p in own]
    shown = ", ".join([*told[:6], "…"] if len(told) > 6 else told)
    return f"{problem.call}({shown})"


@when(r"^Unsupported function referenced: (.*)$")
def _outside(problem: Problem, found: re.Match[str]) -> Hint | None:
    if problem.node is None:
        return None
    written = ast.unparse(problem.node)
    name = written.rpartition(".")[2]
    module, expected = written.partition(".")[0], "tl's functions, and functions with @triton.jit"
    if written == name:
        return Hint(
            f"{name} is a function of Python", expected, f"write @triton.jit above def {name}"
        )
    close = get_close_matches(name, _tl(), n=1, cutoff=0.85)
    advice = f"tl.{close[0]}" if close else _ELSEWHERE.get(name)
    return Hint(f"{written} works on the host: a kernel cannot call {module}", expected, advice)


@when(r"Cannot access global variable (\w+)")
def _global(problem: Problem, found: re.Match[str]) -> Hint | None:
    name = found[1]
    value = problem.function.fn.__globals__.get(name)
    shown = repr(value) if isinstance(value, (int, float, bool)) else "…"
    return Hint(
        f"{name} is a variable of the module, which may change after the kernel was compiled",
        "what a kernel takes from its module is a constant of the compile",
        f"{name} = tl.constexpr({shown}), or a parameter {name}: tl.constexpr",
    )


RULES: tuple[Rule, ...] = (_name, _no_such, _arguments, _helpers_arguments, _outside, _global)
