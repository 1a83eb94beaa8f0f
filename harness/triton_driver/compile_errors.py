"""What Triton says about a kernel that it cannot compile, told at the learner's line."""

import re
from pathlib import Path
from typing import Any

from harness.launching.call_site import call_site, shown_path
from harness.launching.fault_report import source_line
from harness.telling.learner_error import LaunchError, LearnerError, labelled
from harness.triton_driver import passed
from harness.triton_driver.call_errors import wrong_call
from harness.triton_driver.compile_hints import Hint, hint
from harness.triton_driver.compile_problem import Problem, problem_of
from harness.triton_driver.compiler_output import CompilerStopped
from harness.triton_driver.outside_functions import outside_function
from harness.triton_driver.triton_internals import OutOfResources

_MOST_LINES = 12
_LONGEST = 160
_MOST_CALLERS = 2
_STOPPED_AT = re.compile(r"^(.*?):(\d+):\d+: error: (.*)$", re.M)


class TritonCompileError(LearnerError):
    """A kernel that Triton cannot compile."""

    def __init__(self, report: str) -> None:
        self._report = report
        Exception.__init__(self, report)

    @property
    def learner_report(self) -> str:
        return self._report


def in_learners_words(
    error: BaseException, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> LearnerError | None:
    """The error of a launch as a learner should read it; None: it says so well enough itself."""
    if isinstance(error, LearnerError):
        return None
    problem = problem_of(error, function) or outside_function(error, function)
    if problem is not None:
        return TritonCompileError(_report(problem))
    if isinstance(error, OutOfResources):
        return _too_much(error, function.__name__)
    if isinstance(error, CompilerStopped):
        return TritonCompileError(_stopped(error, function))
    if isinstance(error, TypeError) and (refusal := passed.refused(function, args, kwargs)):
        return refusal
    return wrong_call(error, function, args, kwargs)


def _report(problem: Problem) -> str:
    found = hint(problem) or Hint()
    node = found.node or problem.node
    line = problem.line(node)
    text = problem.source_line(line)
    indent = len(text) - len(text.lstrip())
    column = problem.column(node)
    what = _short(found.what or problem.text or "this does not compile")
    lines = [f"{shown_path(problem.file)}:{line}:{column + 1}: {what}"]
    if text:
        lines += ["", f"  {text.strip()}", "  " + " " * (column - indent) + "^"]
    for caller in problem.callers[:_MOST_CALLERS]:
        lines.append(f"  called from {source_line(Path(caller.file), caller.line())}")
    lines.append("")
    return "\n".join([*lines, *_advised(found)][:_MOST_LINES]).rstrip()


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _stopped(error: CompilerStopped, function: Any) -> str:
    """The compiler stopped behind the front end: what it printed names file and line."""
    found = _STOPPED_AT.search(error.log)
    file, line, what = function.fn.__code__.co_filename, 0, "Triton's compiler stops here"
    if found:
        file, line, what = found[1], int(found[2]), found[3]
    problem = Problem(what, None, function)
    text = problem.source_line(line) if file == problem.file else ""
    advice = hint(problem) or Hint(advice="take lines out of the kernel until it compiles")
    what = _short(advice.what or what)
    lines = [f"{shown_path(file)}:{line or problem.first_line}: {what}"]
    if text:
        lines += ["", f"  {text.strip()}", ""]
    return "\n".join([*lines, *_advised(advice)][:_MOST_LINES])


def _advised(found: Hint) -> list[str]:
    expected = labelled("expected", found.expected) if found.expected else []
    return expected + (labelled("try", found.advice) if found.advice else [])


def _too_much(error: Any, kernel: str) -> LearnerError:
    """More than a multiprocessor has."""
    needs, has = int(error.required), int(error.limit)
    if error.name == "shared memory":
        return LaunchError(
            f"{kernel}: a program needs {needs:,} bytes of shared memory; there are {has:,}",
            where=str(call_site()),
            expected=f"{has:,} bytes of shared memory a program at most",
            advice="make the tiles smaller, or num_stages: each stage keeps tiles of its own",
        )
    return LaunchError(
        f"{kernel}: a program needs {needs:,} of {error.name}; there are {has:,}",
        where=str(call_site()),
        expected=f"at most {has:,}",
        advice="take fewer warps (num_warps) or smaller tiles",
    )


def without_a_grid(error: BaseException) -> str | None:
    """The report for a kernel that was called like a function."""
    if not isinstance(error, RuntimeError) or "outside of the scope of a kernel" not in str(error):
        return None
    return (
        "a kernel was called like a function: it has no grid\n\n"
        "expected  kernel[grid](arguments …): one program for each place of the grid\n"
        "try       kernel[(triton.cdiv(n, BLOCK),)](…, BLOCK=BLOCK)"
    )
