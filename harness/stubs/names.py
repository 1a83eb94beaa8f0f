"""Whether a region of Python stands in a function, and binds no name that code after it reads."""

import ast
import re
from collections.abc import Iterable, Iterator

from harness.stubs.regions import Region, StubError

Function = ast.FunctionDef | ast.AsyncFunctionDef
Use = tuple[str, bool, int]  # name, whether it is bound here, line

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def innermost_function(tree: ast.Module, region: Region) -> Function | None:
    """The function whose body holds the region."""
    found: Function | None = None
    for node in ast.walk(tree):  # breadth first: an inner function comes after its outer one
        if not isinstance(node, Function):
            continue
        end = node.end_lineno or node.lineno
        # A region at the end of a body closes after the last statement, so its start decides.
        if node.lineno < region.task.line and region.body + 1 <= end:
            found = node
    return found


def is_jit(function: Function) -> bool:
    """Whether Triton compiles this function."""
    return any(
        re.search(r"(?<!torch\.)\bjit\b", ast.unparse(decorator))
        for decorator in function.decorator_list
    )


def check_python(tree: ast.Module, text: str, regions: list[Region]) -> None:
    """Refuse a region outside a function, or one that binds a name which code after it reads."""
    lines = text.splitlines()
    for region in regions:
        function = innermost_function(tree, region)
        number = region.task.number
        if function is None:
            raise StubError(
                f"TASK {number} is not inside a function body",
                "Move it into a function: an import of the stub must succeed.",
                region.task.line,
            )
        first = next(line for line in lines[region.body : region.last] if line.strip())
        if len(first) - len(first.lstrip()) != len(region.indent):
            raise StubError(
                f"TASK {number} is not indented like its answer",
                "Put TASK and END TASK at the indentation of the statements between them.",
                region.task.line,
            )
        _check_names(function, region)


def _check_names(function: Function, region: Region) -> None:
    before: set[str] = set()
    declared: dict[str, int] = {}
    settled: set[str] = set()  # bound again after the region: no longer its names
    for name, bound, line in _uses(function):
        if line <= region.first:
            before |= {name} if bound else set()
        elif line <= region.last:
            if bound and name not in before:
                declared.setdefault(name, line)
        elif bound:
            settled.add(name)
        elif name in declared and name not in settled:
            raise StubError(
                f"TASK {region.task.number} declares `{name}`, which line {line} uses after the "
                "region",
                f"Declare `{name}` above the TASK line, or take line {line} into the region.",
                declared[name],
            )


def _uses(function: Function) -> Iterator[Use]:
    arguments = function.args
    for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs:
        yield argument.arg, True, function.lineno
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            yield rest.arg, True, function.lineno
    yield from _each(function.body)


def _each(nodes: Iterable[ast.AST | None]) -> Iterator[Use]:
    for node in nodes:
        if node is not None:
            yield from _visited(node)


def _visited(node: ast.AST) -> Iterator[Use]:
    """The names that a node binds and reads, in the order in which Python evaluates them."""
    match node:
        case ast.Name():
            yield node.id, isinstance(node.ctx, ast.Store), node.lineno
        case ast.Assign():
            yield from _each([node.value, *node.targets])
        case ast.AnnAssign() | ast.NamedExpr():
            yield from _each([node.value, node.target])
        case ast.AugAssign():
            yield from _each([node.value])
            if isinstance(node.target, ast.Name):
                yield node.target.id, False, node.lineno
            yield from _each([node.target])
        case ast.For() | ast.AsyncFor():
            yield from _each([node.iter, node.target, *node.body, *node.orelse])
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield (alias.asname or alias.name).split(".")[0], True, node.lineno
        case ast.ClassDef():
            yield node.name, True, node.lineno
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.name, True, node.lineno
            yield from _free(node, {name for name, bound, _ in _uses(node) if bound})
        case ast.Lambda():
            arguments = (node for node in ast.walk(node.args) if isinstance(node, ast.arg))
            own = {argument.arg for argument in arguments}
            yield from (use for use in _each([node.body]) if use[0] not in own)
        case ast.ExceptHandler():
            if node.name:
                yield node.name, True, node.lineno
            yield from _each(node.body)
        case _ if isinstance(node, _COMPREHENSIONS):
            inner = list(_each(ast.iter_child_nodes(node)))
            own = {name for name, bound, _ in inner if bound}
            yield from (use for use in inner if use[0] not in own)
        case _:
            yield from _each(ast.iter_child_nodes(node))


def _free(function: Function, own: set[str]) -> Iterator[Use]:
    for name, bound, line in _uses(function):
        if not bound and name not in own:
            yield name, False, line
