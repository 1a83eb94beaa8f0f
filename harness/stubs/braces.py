"""Whether a region of CUDA C++ stands in a function, keeps its braces, and declares nothing missed.

Light, by words and braces: a compiler has the last word on every stub.
"""

import re
from collections.abc import Iterator

from harness.stubs.regions import Region, StubError

_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.S
)
_QUALIFIERS = r"(?:(?:const|constexpr|static|extern|volatile|register|__shared__)\s+)*"
_TYPE = r"(?:(?:unsigned|signed|long|short|struct)\s+)*[A-Za-z_][\w:]*(?:<[^;(){}]*?>)?"
_DECLARATION = re.compile(
    rf"(?:^|(?<=[;{{}}]))\s*{_QUALIFIERS}(?P<type>{_TYPE})(?:\s+const)?(?:\s+[*&]*|\s*[*&]+\s*)"
    rf"(?:const\s+|__restrict__\s+)?(?P<names>[A-Za-z_]\w*\s*(?:=|\[|;|,|\{{)[^;]*)",
    re.M,
)
_WORD_BEFORE = re.compile(r"([A-Za-z_]\w*)(\s+[*&]*|\s*[*&]+\s*)$")
_NOT_A_TYPE = frozenset(
    ["return", "else", "goto", "delete", "throw", "case", "new", "using", "typedef", "do"]
)
_PLAIN_TYPES = frozenset(
    ["int", "unsigned", "long", "short", "char", "bool", "float", "double", "half", "float4"]
)


def check_cuda(text: str, regions: list[Region]) -> None:
    """Refuse a region outside a body, one that splits a block, or one whose names are missed."""
    code = _COMMENT_OR_STRING.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    lines = code.splitlines()
    for region in regions:
        number = region.task.number
        before = "\n".join(lines[: region.first])
        if before.count("{") <= before.count("}"):
            raise StubError(
                f"TASK {number} is not inside a function body",
                "Move it between the braces of a function: the stub must compile.",
                region.task.line,
            )
        body = "\n".join(lines[region.body : region.last])
        if not _is_balanced(body):
            raise StubError(
                f"the braces between TASK {number} and its END TASK do not match",
                "A region holds whole statements: both braces of a block, or neither.",
                region.task.line,
            )
        after = "\n".join(lines[region.last + 1 :])[: _scope_end(lines, region)]
        for name in _declared(body):
            offset = _first_use(after, name)
            if offset is not None:
                line = region.last + 2 + after[:offset].count("\n")
                raise StubError(
                    f"TASK {number} declares `{name}`, which line {line} uses after the region",
                    f"Declare `{name}` above the TASK line, or take line {line} into the region.",
                    region.task.line,
                )


def _is_balanced(code: str) -> bool:
    depth = 0
    for character in code:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def _scope_end(lines: list[str], region: Region) -> int:
    """How far after END TASK the block that holds the region goes on, in characters."""
    after = "\n".join(lines[region.last + 1 :])
    depth = 0
    for offset, character in enumerate(after):
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return offset
    return len(after)


def _declared(body: str) -> Iterator[str]:
    """The names that the outermost block of a region declares."""
    for found in _DECLARATION.finditer(_outermost(body)):
        if found["type"].split()[-1] in _NOT_A_TYPE:
            continue
        for declarator in _split(found["names"]):
            name = re.match(r"[\s*&]*([A-Za-z_]\w*)", declarator)
            if name:
                yield name[1]


def _outermost(body: str) -> str:
    """The body with what stands in braces or parentheses blanked out."""
    depth = 0
    kept: list[str] = []
    for character in body:
        if character in ")}":
            depth -= 1
        kept.append(character if depth == 0 or character == "\n" else " ")
        if character in "({":
            depth += 1
    return "".join(kept)


def _split(names: str) -> list[str]:
    depth = 0
    parts = [""]
    for character in names:
        depth += (character in "<[") - (character in ">]")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _first_use(code: str, name: str) -> int | None:
    """Where code reads a name that it does not declare anew first."""
    found = re.search(rf"(?<![\w.])(?<!->){re.escape(name)}\b", code)
    if found is None:
        return None
    word = _WORD_BEFORE.search(code[: found.start()])
    if word and word[1] not in _NOT_A_TYPE:
        # Two words in a row declare; `a * b` is a product unless `a` is a type.
        is_pointer = word[2].strip() != ""
        if not is_pointer or word[1] in _PLAIN_TYPES:
            return None
    return found.start()
