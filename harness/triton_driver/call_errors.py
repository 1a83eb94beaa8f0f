"""A kernel that is launched with other arguments than it takes."""

import re
from difflib import get_close_matches
from typing import Any

from harness.launching.call_site import call_site
from harness.telling.learner_error import LaunchError

_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)$")
_TOO_MANY = re.compile(r"takes (\d+) positional arguments? but (\d+) (?:was|were) given")
_TWICE = re.compile(r"got multiple values for argument '(\w+)'")
_UNKNOWN = re.compile(r"Keyword argument (\w+) was specified but unrecognised")
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def wrong_call(
    error: BaseException, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> LaunchError | None:
    """The launch's mistake; None: the error is of another kind."""
    text, kernel = str(error), function.__name__
    parameters = {p.name: p.is_constexpr for p in function.params}
    misspelt = [name for name in kwargs if name not in parameters and name not in _OPTIONS]
    if isinstance(error, TypeError) and (found := _MISSING.search(text)):
        names = re.findall(r"'(\w+)'", found[1])
        if misspelt:
            return _refused(kernel, parameters, _no_such(misspelt[0], names), names)
        told = " and ".join(names)
        what = f"{told} {'are' if len(names) > 1 else 'is'} missing"
        return _refused(kernel, parameters, what, names)
    if isinstance(error, TypeError) and (found := _TOO_MANY.search(text)):
        return _refused(kernel, parameters, f"{found[2]} arguments for {found[1]} parameters")
    if isinstance(error, TypeError) and (found := _TWICE.search(text)):
        return _refused(kernel, parameters, f"{found[1]} is given twice, by its place and its name")
    if isinstance(error, KeyError) and (found := _UNKNOWN.search(text)):
        return _refused(kernel, parameters, _no_such(found[1], [*parameters, *_OPTIONS]))
    if isinstance(error, KeyError) and (dtype := _dtype(args, kwargs, error.args[0])):
        what = f"{dtype} tensors: kernels know none"
        return _refused(kernel, parameters, what, advice="torch.view_as_real, or another dtype")
    if isinstance(error, OverflowError):
        what = "an integer of more than 64 bits"
        return _refused(kernel, parameters, what, advice="pass it as a float, or in a tensor")
    if isinstance(error, AssertionError) and "num_warps must be a power of 2" in text:
        return LaunchError(
            f"{kernel}: num_warps={kwargs.get('num_warps')}",
            where=str(call_site()),
            expected="num_warps is 1, 2, 4, 8, 16 or 32",
            advice="num_warps=4, which it is without the argument",
        )
    return None


def _dtype(args: tuple[Any, ...], kwargs: dict[str, Any], said: str) -> str | None:
    """The dtype of a tensor that Triton has no name for."""
    dtypes = {str(getattr(value, "dtype", "")) for value in (*args, *kwargs.values())}
    return next((one for one in dtypes if one.rpartition(".")[2] == said), None)


def _no_such(name: str, known: list[str]) -> str:
    close = get_close_matches(name.lower(), [one.lower() for one in known], n=1, cutoff=0.6)
    meant = next((one for one in known if close and one.lower() == close[0]), None)
    return f"it has no parameter {name}" + (f": is {meant} meant?" if meant else "")


def _refused(
    kernel: str,
    parameters: dict[str, bool],
    what: str,
    missing: list[str] | None = None,
    advice: str | None = None,
) -> LaunchError:
    shown = ", ".join(f"{n}: tl.constexpr" if fixed else n for n, fixed in parameters.items())
    constants = [name for name in missing or () if parameters.get(name)]
    named = ", ".join(f"{name}=…" for name in constants)
    if constants:
        advice = f"give it by name: {kernel}[grid](…, {named})"
    return LaunchError(
        f"{kernel}: {what}",
        where=str(call_site()),
        expected=f"{kernel}({shown})",
        advice=advice or "one value for each parameter, in this order",
    )
