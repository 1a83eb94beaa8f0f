"""Which names a failing test asks for, those nearest to the failing line first."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from harness.telling.definitions import tree_of, words_of
from harness.telling.failure import Frame

Function = ast.FunctionDef | ast.AsyncFunctionDef


def named_by_test(frames: Sequence[Frame]) -> Iterator[str]:
    """The words of the failing statement, then of those above it, then of all of its function.

    The innermost function of the test file comes first, its callers after it.
    """
    for frame in reversed([frame for frame in frames if frame.is_test]):
        function = _function(frame)
        if function is None:
            continue
        statements = sorted(_statements(function), key=lambda one: (-one.lineno, -one.col_offset))
        for statement in statements:
            if statement.lineno <= frame.line and not _is_block(statement):
                yield from words_of(statement)
        yield from words_of(function)


def in_failing_assert(frames: Sequence[Frame]) -> set[str]:
    """The words of the failing statement, with those of what its local names were made of."""
    tests = [frame for frame in frames if frame.is_test]
    function = _function(tests[-1]) if tests else None
    if function is None:
        return set()
    line = tests[-1].line
    holding = [one for one in _statements(function) if _holds(one, line) and not _is_block(one)]
    if not holding:
        return set()
    known = set(words_of(holding[-1]))
    for statement in sorted(_statements(function), key=lambda one: (-one.lineno, -one.col_offset)):
        if (
            (statement.end_lineno or 0) < line
            and not _is_block(statement)
            and known & _bound(statement)
        ):
            known |= set(words_of(statement))
    return known


def reached(
    names: Sequence[str], wanted: Collection[str], definitions: Mapping[str, Collection[str]]
) -> str | None:
    """The first of `wanted` among the names, or among the words of what they are defined by."""
    seen: set[str] = set()
    level = list(dict.fromkeys(names))
    while level:
        found = next((name for name in level if name in wanted), None)
        if found is not None:
            return found
        seen.update(level)
        level = list(
            dict.fromkeys(
                word for name in level for word in definitions.get(name, ()) if word not in seen
            )
        )
    return None


def _function(frame: Frame) -> Function | None:
    """The function of the test file that a frame is in."""
    holding = [node for node in _functions(tree_of(frame.path)) if _holds(node, frame.line)]
    return holding[-1] if holding else None


@lru_cache(maxsize=64)
def _functions(tree: ast.Module) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def _statements(function: Function) -> list[ast.stmt]:
    return [
        node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function
    ]


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _is_block(statement: ast.stmt) -> bool:
    """Whether other statements stand inside, so that they speak for themselves."""
    return hasattr(statement, "body")


def _bound(statement: ast.stmt) -> set[str]:
    """The local names that a statement gives a value to, or adds to with a method."""
    bound = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"))):
            bound.add(name)
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]):
            bound.add(name)
    return bound
