"""Cutting PTX text into statements and operands.

Inline assembly arrives in `{ }` scopes, several instructions to a line: so the text is cut at
`;`, `{` and `}`, never at line ends.
"""

import re
from collections.abc import Iterator


class PtxError(ValueError):
    """The text is not PTX that this parser understands."""


def closing(text: str, opening: int) -> int:
    """The index of the brace that closes the one at `opening`."""
    depth = 0
    for found in re.finditer(r"[{}]", text[opening:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return opening + found.start()
    raise PtxError("a brace is never closed")


def top_level(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield (head, body) of each function and (statement, None) of everything else."""
    start = position = 0
    while position < len(text):
        character = text[position]
        if character == ";":
            yield text[start:position].strip(), None
            start = position + 1
        elif character == "{":
            end = closing(text, position)
            if "=" in text[start:position]:  # an initial value, not a body
                position = end
                continue
            yield text[start:position].strip(), text[position + 1 : end]
            start = end + 1
            position = end
        position += 1


def statements(body: str) -> Iterator[str]:
    """Cut a body into statements, scope braces and labels; operand braces stay inside."""
    start = position = 0
    while position < len(body):
        character = body[position]
        if character == ";":
            yield body[start:position].strip()
            start = position + 1
        elif character in "{}":
            before = body[start:position].strip()
            if before and not before.endswith(":") and character == "{":
                position = closing(body, position)  # operands: {%f1, %f2}
            else:
                if before:
                    yield before
                yield character
                start = position + 1
        position += 1
    rest = body[start:].strip()
    if rest:
        yield rest


def split_operands(text: str) -> tuple[str, ...]:
    """Cut at the commas outside brackets: "%r1, [%rd1+4], {%f1, %f2}" has three operands."""
    operands: list[str] = []
    depth = 0
    current = ""
    for character in text:
        if character in "[{(":
            depth += 1
        elif character in "]})":
            depth -= 1
        if character == "," and depth == 0:
            operands.append(current)
            current = ""
        elif not character.isspace():
            current += character
    if current:
        operands.append(current)
    return tuple(operands)
