"""What a learner starts from: the solution without the lines that answer its tasks.

`// TASK 2: …` to `// END TASK` (`#` in Python) bounds an answer. Comment lines directly under the
TASK line are the task's text and stay; an empty line or code ends the text. The stub has one TODO
in place of the answer, at the same indentation.
"""

import ast

from harness.stubs.braces import check_cuda
from harness.stubs.names import check_python, innermost_function, is_jit
from harness.stubs.regions import Region, StubError, Task, answer_lines, regions_of, tasks_of

__all__ = ["StubError", "Task", "stub_of", "tasks_of", "without_region"]

CUDA_SUFFIXES = frozenset({".cu", ".cuh", ".h", ".cpp"})
PYTHON_SUFFIX = ".py"


def stub_of(text: str, suffix: str) -> str:
    """The stub of a solution; files in other languages are supplied, and stay as they are."""
    if suffix in CUDA_SUFFIXES:
        regions = regions_of(text)
        check_cuda(text, regions)
        return _cut(text, regions, None)
    if suffix == PYTHON_SUFFIX:
        regions = regions_of(text)
        tree = _parsed(text, "the solution does not parse", "Mend it first.")
        check_python(tree, text, [region for region in regions if region.marker == "#"])
        stub = _cut(text, regions, tree)
        _parsed(
            stub,
            "the stub would not parse",
            "A region holds whole statements: move TASK and END TASK to the indentation of the "
            "answer, around it.",
        )
        return stub
    return text


def without_region(text: str, number: int) -> str:
    """The solution with only the answers to one task taken out."""
    regions = [region for region in regions_of(text) if region.task.number == number]
    if not regions:
        raise ValueError(f"there is no TASK {number} here")
    is_python = any(region.marker == "#" for region in regions)
    return _cut(text, regions, ast.parse(text) if is_python else None)


def _parsed(text: str, what: str, advice: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise StubError(f"{what} ({error.msg})", advice, error.lineno or 1) from None


def _cut(text: str, regions: list[Region], tree: ast.Module | None) -> str:
    lines = text.splitlines()
    kept: list[str] = []
    position = 0
    for region in regions:
        kept += lines[position : region.body]
        kept += _todo(region, lines, tree)
        position = region.last + 1
    kept += lines[position:]
    return "\n".join(kept) + "\n" if kept else ""


def _todo(region: Region, lines: list[str], tree: ast.Module | None) -> list[str]:
    count = answer_lines(region, lines)
    amount = "1 line" if count == 1 else f"{count} lines"
    todo = [f"{region.indent}{region.marker} TODO: about {amount}"]
    if region.marker == "#" and tree is not None:
        function = innermost_function(tree, region)
        if function is not None and is_jit(function):
            todo.append(f"{region.indent}pass")
        else:
            todo.append(f'{region.indent}raise NotImplementedError("task {region.task.number}")')
    return todo
