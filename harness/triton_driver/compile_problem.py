"""Where in the learner's files Triton stopped compiling, and what it said there.

Triton's error holds a node of one function's syntax tree, and as its cause the error inside of the
function that is called there, down into Triton's own library. The learner's line is that of the
innermost function of theirs; the words are the innermost ones.
"""

import ast
import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from harness.triton_driver.lines import is_learners
from harness.triton_driver.triton_internals import CompilationError, JITFunction

_OF_AN_EXCEPTION = re.compile(r"(\w+)\((['\"].*['\"])\)$", re.S)


@dataclass(frozen=True)
class Problem:
    """What Triton complains about.

    text      in its words
    node      of the function's syntax tree; None: it did not say where
    function  the learner's `@triton.jit` function
    callers   of it, the innermost first, with the nodes of their calls
    """

    text: str
    node: ast.AST | None
    function: Any
    callers: tuple["Problem", ...] = ()

    @property
    def file(self) -> str:
        return str(self.function.fn.__code__.co_filename)

    @cached_property
    def first_line(self) -> int:
        """The line of the function's `def` in its file."""
        lines = self.function.raw_src
        before = next((k for k, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
        return int(self.function.starting_line_number) + before

    def line(self, node: ast.AST | None = None) -> int:
        """The line of a node in the function's file; of the problem's own, if none is given."""
        return self.first_line + getattr(node or self.node, "lineno", 1) - 1

    def column(self, node: ast.AST | None = None) -> int:
        """The place of a node in its line of the file, from 0 on."""
        indent = len(self.source_line(self.first_line)) - len(
            self.source_line(self.first_line).lstrip()
        )
        return indent + int(getattr(node or self.node, "col_offset", 0))

    def source_line(self, line: int) -> str:
        return linecache.getline(self.file, line).rstrip("\n")

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """Of the whole function, its lines counted from its `def` on."""
        found = ast.parse(self.function.src).body[0]
        assert isinstance(found, ast.FunctionDef)
        return found

    @cached_property
    def parameters(self) -> Mapping[str, bool]:
        """Name -> whether it is a constant of the compile."""
        return {parameter.name: parameter.is_constexpr for parameter in self.function.params}

    @property
    def call(self) -> str:
        """The function that is called at the node, as it is written: "tl.load"."""
        return ast.unparse(self.node.func) if isinstance(self.node, ast.Call) else ""

    @property
    def written(self) -> str:
        """The node as it is written."""
        return ast.unparse(self.node) if self.node is not None else ""


def problem_of(error: BaseException, function: Any) -> Problem | None:
    """The learner's part of a compilation error; None: of something else."""
    if not isinstance(error, CompilationError):
        return None
    text, ways = "", [Problem("", None, function)]
    cause: BaseException | None = error
    while isinstance(cause, CompilationError):
        text = cause.error_message or text
        found = _with_source(cause.src, function)
        if found is not None and is_learners(found.fn.__code__.co_filename):
            ways.insert(0, Problem("", cause.node, found))
        cause = cause.__cause__
    inner, *callers = ways
    callers = [way for way in callers if way.node is not None]
    return Problem(plain(text), inner.node, inner.function, tuple(callers))


def plain(text: str) -> str:
    """`NameError('x is not defined')` is its words alone."""
    found = _OF_AN_EXCEPTION.match(text)
    if not found:
        return text
    try:
        return str(ast.literal_eval(found[2]))
    except (SyntaxError, ValueError):
        return text


def _with_source(source: str | None, function: Any) -> Any:
    return next((one for one in reachable(function) if one.src == source), None)


def reachable(function: Any) -> Iterator[Any]:
    """A jit function and those that it may call, by the names of its module."""
    seen: set[int] = set()
    ahead = [function]
    while ahead:
        one = ahead.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        for value in named_in(one).values():
            if isinstance(value, JITFunction):
                ahead.append(value)
            elif isinstance(value, ModuleType) and is_learners(
                getattr(value, "__file__", "") or ""
            ):
                ahead += [v for v in vars(value).values() if isinstance(v, JITFunction)]


def assignment(
    problem: Problem, name: str, within: ast.AST | None = None, before: int = 0
) -> ast.stmt | None:
    """The last statement that gives a name its value, inside of a node or above a line."""
    found = None
    for node in ast.walk(within or problem.tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        if isinstance(node, ast.stmt) and name in names and (not before or node.lineno < before):
            found = node if found is None or node.lineno >= found.lineno else found
    return found


def named_in(function: Any) -> dict[str, Any]:
    """What the names in a jit function mean outside of it."""
    host = function.fn
    code = host.__code__
    found = {name: host.__globals__[name] for name in code.co_names if name in host.__globals__}
    for name, cell in zip(code.co_freevars, host.__closure__ or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not given a value yet
            continue
    return found
