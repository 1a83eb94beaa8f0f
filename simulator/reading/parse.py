"""PTX text to the dataclasses of `simulator/reading/ptx.py`."""

import re

from simulator.reading.body import Body
from simulator.reading.cut import PtxError, top_level
from simulator.reading.linking import link
from simulator.reading.ptx import FUNCTION_BYTES, FUNCTIONS, Module, Outside, Variable
from simulator.reading.variables import variable

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_LINE_DIRECTIVE = re.compile(r"^[ \t]*(\.(?:loc|file|section)\b[^\n;{]*)$", re.M)
# Where the lines of two calls have become one, the compiler writes them inside of the statement.
_LOCATION_INSIDE = re.compile(r"(?<=[^\s;{}:])\s+(?:\.loc\b[^\n;{]*;\s*)+")
_ENTRY = re.compile(r"(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$]+)\s*(\([^)]*\))?([^{;]*)$")
_FUNCTION = re.compile(r"\.func\s*(\([^)]*\))?\s*([\w$]+)\s*(\([^)]*\))?[^{;]*$")

__all__ = ["PtxError", "parse"]


def parse(text: str) -> Module:
    """Read a whole PTX file.

    Raises PtxError, naming the statement, where the text cannot be read.
    """
    files = {int(n): name for n, name in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M)}
    text = _COMMENT.sub(" ", text)
    text = _LOCATION_INSIDE.sub(" ", _LINE_DIRECTIVE.sub(r"\1;", text))
    entries: list[Body] = []
    functions: dict[str, Body] = {}
    variables: dict[str, Variable] = {}
    for head, body in top_level(text):
        if body is None:
            declared = variable(head)
            if declared is not None:
                variables[declared.name] = declared
            continue
        found = _ENTRY.search(head)
        if found:
            entries.append(Body(found[1], found[2] or "()", found[3], body, variables).read())
        elif found := _FUNCTION.search(head):
            returns, name, parameters = found[1] or "()", found[2], found[3] or "()"
            functions[name] = Body(name, parameters, "", body, variables, returns).read()
    lasting = {n: v for n, v in variables.items() if v.space in ("global", "const")}
    places = {name: FUNCTIONS + FUNCTION_BYTES * k for k, name in enumerate(functions, 1)}
    linked = link(entries, functions, Outside(lasting, places))
    return Module({entry.name: entry for entry in linked}, files)
