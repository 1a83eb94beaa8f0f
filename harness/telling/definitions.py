"""What a source file defines, where, and which words each definition uses.

A light reading, for the question which task a failing test is about; a file that does not parse
defines nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harness.launching.kernel_source import without_comments

_CUDA_NAME = re.compile(r"\b(?!__launch_bounds__)([A-Za-z_]\w*)\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, a kernel, or a name that a module assigns."""

    name: str
    first: int  # line
    last: int
    words: tuple[str, ...]


def definitions_in(path: Path) -> list[Definition]:
    """All of a .py or .cu file; an inner function comes after its outer one."""
    return _definitions_as_of(path, stamp(path))


def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a .py file; empty where it cannot be read."""
    return _tree_as_of(path, stamp(path))


def stamp(path: Path) -> tuple[int, int]:
    """Tells one state of a file from another: hundreds of failures ask for the same few files."""
    try:
        state = path.stat()
    except OSError:
        return 0, 0
    return state.st_mtime_ns, state.st_size


@lru_cache(maxsize=64)
def _definitions_as_of(path: Path, _: tuple[int, int]) -> list[Definition]:
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        return list(_in_python(text) if path.suffix == ".py" else _in_cuda(text))
    except (OSError, SyntaxError, ValueError):
        return []


@lru_cache(maxsize=64)
def _tree_as_of(path: Path, _: tuple[int, int]) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8-sig"))
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


def around(definitions: list[Definition], line: int) -> Definition | None:
    """The innermost definition that holds a line."""
    holding = [one for one in definitions if one.first <= line <= one.last]
    return holding[-1] if holding else None


def words_of(node: ast.AST) -> Iterator[str]:
    """The names that Python code uses, those inside short strings too, outermost first."""
    for inner in ast.walk(node):
        match inner:
            case ast.Name():
                yield inner.id
            case ast.Attribute():
                yield inner.attr
            case ast.arg():
                yield inner.arg
            case ast.Constant() if isinstance(inner.value, str) and inner.value.isidentifier():
                yield inner.value


def _in_python(text: str) -> Iterator[Definition]:
    tree = ast.parse(text)
    for node in ast.walk(tree):  # breadth first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            yield Definition(node.name, first, node.end_lineno or first, tuple(words_of(node)))
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    words = tuple(words_of(node.value))
                    yield Definition(target.id, node.lineno, node.end_lineno or node.lineno, words)


def _in_cuda(text: str) -> Iterator[Definition]:
    code = without_comments(text)
    depth, head, start = 0, 0, 0
    opened: list[bool] = []  # of each open brace: whether it counts (a namespace's does not)
    for offset, character in enumerate(code):
        if character == "{":
            is_body = depth > 0 or "(" in code[head:offset]
            opened.append(is_body)
            start = offset if is_body and depth == 0 else start
            depth += is_body
            head = head if is_body else offset + 1
        elif character == "}" and opened:
            depth -= opened.pop()
            if depth == 0:
                name = _CUDA_NAME.search(code, head, start)
                if name:
                    yield Definition(
                        name[1],
                        code.count("\n", 0, name.start()) + 1,
                        code.count("\n", 0, offset) + 1,
                        tuple(_WORD.findall(code, start, offset)),
                    )
                head = offset + 1
        elif character == ";" and depth == 0:
            head = offset + 1
