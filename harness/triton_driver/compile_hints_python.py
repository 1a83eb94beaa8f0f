"""Rules for what Python has and a kernel has not: statements, and variables that change type."""

import ast
import re

from harness.triton_driver.compile_hint import Hint, Rule, always, when
from harness.triton_driver.compile_problem import Problem, assignment

_STATEMENTS = {  # node of the syntax tree -> what it is, what to write instead
    "Break": (
        "break in a loop of a kernel",
        "let the loop run to its end and mask what no longer counts, or write the condition into\n"
        "a while",
    ),
    "Continue": (
        "continue in a loop of a kernel",
        "put the rest of the turn under an if, or mask it",
    ),
    "Try": ("try in a kernel", "nothing raises in a kernel: mask what must not happen"),
    "Raise": ("raise in a kernel", "tl.device_assert(condition, message)"),
    "Lambda": ("lambda in a kernel", "write a function with @triton.jit above the kernel"),
    "With": ("with in a kernel", "write the statements without it"),
    "Dict": ("a dict in a kernel", "write a variable for each value, or pass tl.constexpr values"),
    "Set": ("a set in a kernel", "write a variable for each value"),
    "ListComp": ("a list comprehension in a kernel", "one tile: pointer + tl.arange(0, BLOCK)"),
    "ClassDef": ("a class in a kernel", "write it outside of the kernel"),
    "FunctionDef": (
        "a function inside of a kernel",
        "write it with @triton.jit above the kernel",
    ),
    "Import": ("import in a kernel", "import at the top of the file"),
    "ImportFrom": ("import in a kernel", "import at the top of the file"),
    "Global": ("global in a kernel", "pass the value to the kernel"),
    "Delete": ("del in a kernel", "leave it out: registers are freed after their last use"),
}


@when(r"unsupported AST node type: (\w+)")
def _statement(problem: Problem, found: re.Match[str]) -> Hint | None:
    what, advice = _STATEMENTS.get(found[1], (f"{found[1]} in a kernel", ""))
    expected = "the part of Python that Triton compiles: assignments, if, for over range, while"
    return Hint(what, expected, advice or None)


@when(r"only tuple comprehensions are supported")
def _comprehension(problem: Problem, found: re.Match[str]) -> Hint | None:
    what, advice = _STATEMENTS["ListComp"]
    return Hint(what, "tiles in place of lists: all elements at once", advice)


@when(r"'(\w+)' object has no attribute 'func'|Only `range` and `static_range` iterators")
def _loop(problem: Problem, found: re.Match[str]) -> Hint | None:
    if not isinstance(problem.node, ast.For):
        return None
    over = ast.unparse(problem.node.iter)
    return Hint(
        f"a loop over {over}",
        "for over range(…), tl.range(…) or tl.static_range(…): their numbers, and nothing else",
        "count with tl.static_range(n), and work the values out, or pass them as tl.constexpr",
        problem.node.iter,
    )


@when(r"For loop bounds and step must all be ints")
def _bounds(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        None, "range(…) takes whole numbers", "use // for /, or .to(tl.int32) on what is a float"
    )


@when(r"Loop-carried variable (\w+) has initial type (\S+) but is re-assigned to (\S+) in loop")
def _carried(problem: Problem, found: re.Match[str]) -> Hint | None:
    name, first, later = found[1], found[2], found[3].rstrip("!")
    begins = assignment(problem, name, before=getattr(problem.node, "lineno", 0))
    inside = assignment(problem, name, within=problem.node)
    begin = f"line {problem.line(begins)}: {_text(begins)}" if begins is not None else name
    return Hint(
        f"{name} is {first} before the loop, and here it becomes {later}",
        "a variable keeps one type and one shape through all turns of a loop",
        f"begin with the type that the loop gives it, as {name} = {_zero(later)}\n({begin})",
        inside,
    )


@when(r"initial value for `(\w+)` is of type (\S+), but the (\w+) block redefines it as (\S+)")
def _arms(problem: Problem, found: re.Match[str]) -> Hint | None:
    name, first, later = found[1], found[2].rstrip("[]"), found[4].rstrip("[]")
    return Hint(
        f"{name} is {first} before the if, and here it becomes {later}",
        "a variable keeps one type and one shape, whichever way an if goes",
        f"begin with the type that the if gives it, as {name} = {_zero(later)}",
        assignment(problem, name, within=problem.node),
    )


@when(r"[Mm]ismatched type for (\w+) between then block \((.*?)\) and else block \((.*?)\)")
def _two_arms(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        f"{found[1]} is {found[2]} after one arm of the if, and {found[3]} after the other",
        "a variable keeps one type and one shape, whichever way an if goes",
        "cast one of them: .to(tl.float32)",
    )


@when(r"Cannot have `return` statements inside `while` or `for`")
def _return_inside(problem: Problem, found: re.Match[str]) -> Hint | None:
    inside = problem.node and next(
        (n for n in ast.walk(problem.node) if isinstance(n, ast.Return)), None
    )
    return Hint(
        "return inside of a loop",
        "a loop of a kernel runs to its end",
        "mask what no longer counts, or write the condition into a while",
        inside,
    )


@when(r"Return type mismatch: (\S+) and (\S+?)\.|Inconsistent return types: (\S+) and (\S+)")
def _returns(problem: Problem, found: re.Match[str]) -> Hint | None:
    one, other = found[1] or found[3], found[2] or found[4]
    ends = [n for n in ast.walk(problem.tree) if isinstance(n, ast.Return)]
    return Hint(
        f"{problem.function.__name__} returns {one} here, and {other} elsewhere",
        "all returns of a function give the same types",
        "cast: .to(tl.float32), or write 1.0 for 1",
        ends[-1] if ends else None,
    )


@when(r"failed to legalize operation 'tt.return'")
def _kernel_returns(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        "a kernel returns nothing",
        "a kernel returns nothing: its results are what it stores",
        "tl.store(pointer, value), and no value behind return",
    )


@when(r"Boolean value of Tensor with more than one value is ambiguous")
def _if_on_a_tile(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        "if asks a whole tile",
        "an if asks one number of the program; elements of a tile differ",
        "choose by element: tl.where(condition, this, that), or mask=condition on the access",
    )


@when(r"non-constexpr conversion values|f-string")
def _f_string(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        "an f-string of a value that is known only when the kernel runs",
        "text is fixed when the kernel is compiled; values are printed beside it",
        'tl.device_print("v", v)',
    )


def _text(node: ast.AST | None) -> str:
    return ast.unparse(node) if node is not None else ""


def _zero(type_: str) -> str:
    """A first value of a type as Triton names it."""
    shaped = re.match(r"<\[([^\]]*)\], (\w+)>", type_)
    if shaped:
        sizes = shaped[1].replace("'", "")
        return f"tl.zeros(({sizes},), tl.{_TYPES.get(shaped[2], shaped[2])})"
    if type_ == "fp32":
        return "0.0"
    if type_ in ("int32", "int1"):
        return "0" if type_ == "int32" else "False"
    return f"tl.full((), 0, tl.{_TYPES.get(type_, type_)})"


_TYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}

RULES: tuple[Rule, ...] = (
    _statement,
    _comprehension,
    _loop,
    _bounds,
    _carried,
    _arms,
    _two_arms,
    _return_inside,
    _returns,
    _kernel_returns,
    _if_on_a_tile,
    _f_string,
    always(
        r"simultaneous multiple comparison",
        None,
        "one comparison at a time",
        "(0 <= offsets) & (offsets < n)",
    ),
    always(
        r"MatMult",
        "the operator @ in a kernel",
        "tl.dot(a, b) multiplies tiles",
        "tl.dot(a, b), which adds to a third: tl.dot(a, b, accumulator)",
    ),
)
