"""Rules for tiles: their lengths and shapes, their dtypes, and the pointers that reach them."""

import ast
import re

from harness.triton_driver.compile_hint import Hint, Rule, always, when
from harness.triton_driver.compile_problem import Problem

_LENGTH = "a tile's length is a power of two, fixed when the kernel is compiled"


@when(r"range must be a power of 2")
def _power(problem: Problem, found: re.Match[str]) -> Hint | None:
    ends = _numbers(problem.node)
    what, advice = "a tile's length is no power of two", "BLOCK = triton.next_power_of_2(n)"
    if len(ends) == 2:
        length = ends[1] - ends[0]
        what = f"a tile of {length} elements: {length} is no power of two"
        advice = f"tl.arange({ends[0]}, {ends[0] + _next_power(length)})"
    return Hint(what, _LENGTH, f"{advice}, and mask=offsets < n on each access")


def _numbers(node: ast.AST | None) -> list[int]:
    """The arguments of a call that are written as whole numbers."""
    if not isinstance(node, ast.Call):
        return []
    values = [a.value for a in node.args if isinstance(a, ast.Constant)]
    return [value for value in values if isinstance(value, int)]


def _next_power(length: int) -> int:
    return 1 << max(0, length - 1).bit_length()


@when(r"arange's arguments must be of type tl\.constexpr|must have type `constexpr")
def _run_time(problem: Problem, found: re.Match[str]) -> Hint | None:
    names = [n.id for n in ast.walk(problem.node or ast.Pass()) if isinstance(n, ast.Name)]
    late = [n for n in names if problem.parameters.get(n) is False]
    advice = "BLOCK: tl.constexpr as a parameter, and mask=offsets < n"
    what = "a tile whose length is known only when the kernel runs"
    if late:
        what = f"{late[0]} is known only when the kernel runs, and a tile's length is fixed before"
        if late[0].isupper():
            advice = f"declare it so: {late[0]}: tl.constexpr"
        else:
            advice = f"tl.arange(0, BLOCK) with BLOCK: tl.constexpr, and mask=offsets < {late[0]}"
    return Hint(what, _LENGTH, advice)


@when(r"unsupported tensor index: (.*)")
def _index(problem: Problem, found: re.Match[str]) -> Hint | None:
    inside = [n for n in ast.walk(problem.node or ast.Pass()) if isinstance(n, ast.Subscript)]
    if not inside:
        return None
    value, index = ast.unparse(inside[0].value), ast.unparse(inside[0].slice)
    if value in problem.parameters:
        return Hint(
            f"{value}[{index}] takes an element of a pointer",
            "memory is reached by tl.load and tl.store",
            f"tl.load({value} + {index}), or tl.store({value} + {index}, …)",
            inside[0],
        )
    return Hint(
        f"{value}[{index}] takes elements out of a tile",
        "a tile is spread over registers: [:, None] and [None, :] add an axis, no more",
        f"load what is needed: tl.load(pointer + {index}); or pick one with\n"
        f"tl.sum(tl.where(tl.arange(0, BLOCK) == {index}, {value}, 0), axis=0)"
        if ":" not in index
        else "load the part that is needed, or mask the rest: tl.where(offsets < n, …)",
        inside[0],
    )


@when(r"Expected dtype (\[.*?\]) but got (\w+)")
def _dtype(problem: Problem, found: re.Match[str]) -> Hint | None:
    argument = ""
    if isinstance(problem.node, ast.Call) and problem.node.args:
        argument = ast.unparse(problem.node.args[0])
    widened = argument if argument.isidentifier() else f"({argument})"
    return Hint(
        f"{problem.call or 'this'} of {found[2]}",
        f"{found[1].strip('[]')}: such functions exist for these only".replace("'", ""),
        f"{problem.call}({widened}.to(tl.float32)), and .to(tl.float16) where it is stored",
    )


@when(r"[Cc]annot make_shape_compatible: incompatible (dimensions at index (\d+)|rank)")
def _shapes(problem: Problem, found: re.Match[str]) -> Hint | None:
    sizes = re.search(r"(\d+) and (\d+)$", problem.text)
    what = f"{problem.written}: the shapes do not match"
    if sizes and found[2]:
        what = f"{problem.written}: {sizes[1]} and {sizes[2]} elements along axis {found[2]}"
    return Hint(
        what,
        "along each axis the same length, or 1; masks and values are shaped as the pointers are",
        "make both from the same offsets; [:, None] makes a column, [None, :] a row",
    )


@when(r"Input shapes should have M >= \d+, N >= \d+ and K >= \d+")
def _small_dot(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        f"{problem.written}: the tiles are too small for tl.dot",
        "[M, K] times [K, N]; 16 along each axis is enough for every dtype",
        "take tiles of 16 and mask what lies outside, or add up by hand:\n"
        "tl.sum(a[:, :, None] * b[None, :, :], axis=1)",
    )


@when(r"must be same dtype\. Got (\w+) and (\w+)")
def _dot_dtypes(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        f"{problem.written}: {found[1]} times {found[2]}",
        "both factors of tl.dot have one dtype",
        "cast the wider one: a.to(tl.float16); the sums are float32 all the same",
    )


@when(r"[Uu]nsupported ptr type (.*?) in `?(tl\.\w+)`?")
def _no_pointer(problem: Problem, found: re.Match[str]) -> Hint | None:
    first = ""
    if isinstance(problem.node, ast.Call) and problem.node.args:
        first = ast.unparse(problem.node.args[0])
    names = [n for n in problem.parameters if re.search(rf"\b{n}\b", first)]
    given = f" ({names[0]} is a number in this launch)" if names else ""
    return Hint(
        f"{found[2]} of {first or 'this'}, which is no pointer{given}",
        "a pointer, or pointer + offsets: what a tensor argument becomes in the kernel",
        "pass a tensor in that place of the launch, or add the offsets to a pointer",
    )


@when(r"^(invalid operands of type|cannot \w+ pointers).*")
def _operands(problem: Problem, found: re.Match[str]) -> Hint | None:
    types = re.findall(r"triton\.language\.(\w+)", problem.text)
    of = f" of {types[0]} and {types[1]}" if len(types) == 2 else f": {problem.text}"
    return Hint(
        f"{problem.written}{of}",
        "numbers of fitting kinds: &, |, ^, << and >> take integers, a pointer takes an offset",
        "load what the pointer points to, or cast: .to(tl.int32)",
    )


@when(r"type (\w+) not supported in this architecture\. The supported fp8 dtypes are (.*)")
def _fp8(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        f"{found[1]} needs a later GPU than the code is made for (sm_80)",
        f"here only {found[2].strip('()')}".replace("'", ""),
        "tl.float8e5, which sm_80 converts; float8e4nv from compute capability 8.9 on",
    )


@when(r"invalid axis (-?\d+)\. Expected (.*)")
def _axis(problem: Problem, found: re.Match[str]) -> Hint | None:
    return Hint(
        f"{problem.written}: the tile has no axis {found[1]}",
        found[2],
        "axis=0 where the tile has one axis; [:, None] and [None, :] add one",
    )


RULES: tuple[Rule, ...] = (
    _power,
    _run_time,
    _index,
    _dtype,
    _shapes,
    _small_dot,
    _dot_dtypes,
    _no_pointer,
    _operands,
    _fp8,
    _axis,
    always(
        r"Value argument cannot be block type if pointer argument is not a block",
        "a whole tile is stored to one address",
        "as many pointers as values",
        "tl.store(pointer + offsets, tile), or one number: tl.sum(tile, axis=0)",
    ),
    always(
        r"Mask argument cannot be block type if pointer argument is not a block",
        "a mask of many elements for one address",
        "as many pointers as mask elements",
        "add offsets to the pointer: pointer + offsets, mask=offsets < n",
    ),
    always(
        r"`other` cannot be provided without `mask`",
        "other= without mask=",
        "other= is what masked elements get: without a mask there are none",
        "add mask=offsets < n, or leave other= out",
    ),
    always(
        r"numel \(\d+\) exceeds triton maximum",
        None,
        "a tile of at most 1,048,576 elements: it lies in one program's registers",
        "smaller tiles: a loop over them, or more programs",
    ),
    always(
        r"input and other must have equal reduction dimensions|[Ff]irst input shape .* and second",
        None,
        "[M, K] times [K, N]: the columns of the first are the rows of the second",
        "tl.trans(b) turns a tile of [N, K] round; or load it with its strides swapped",
    ),
    always(
        r"must have equal ranks >= 2|Both inputs must be either 2D or 3D",
        "tl.dot of tiles that are no matrices",
        "[M, K] times [K, N]",
        "for two vectors: tl.sum(a * b, axis=0)",
    ),
    always(
        r"'torch\.dtype' object has no attribute|torch\.\w+.*has no attribute 'scalar'",
        "a dtype of torch's in a kernel",
        "dtypes of triton.language: tl.float16, tl.bfloat16, tl.int64 …",
        "tl.float16 for torch.float16; or pass it as tl.constexpr",
    ),
)
