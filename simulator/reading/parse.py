"""PTX text to the dataclasses of `simulator/reading/ptx.py`."""

import re
from collections.abc import Callable

from simulator.reading.body import Body
from simulator.reading.cut import PtxError, top_level
from simulator.reading.lines import Files, Locations, first_file, from_comments
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


def parse(text: str, learners: Callable[[str], bool] | None = None) -> Module:
    """Read a whole PTX file.

    learners  whether a file, by its name in `.file`, is the learner's: instructions have the lines
              of these. None: only the file numbered first is, which with NVRTC is the program

    Raises PtxError, naming the statement, where the text cannot be read.
    """
    files = {int(n): name for n, name in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M)}
    text = _COMMENT.sub(" ", from_comments(text))
    places = Files.of(files, first_file(text), learners)
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
            name, parameters = found[1], found[2] or "()"
            entry = Body(name, parameters, found[3], body, variables, Locations(places))
            entries.append(entry.read())
        elif found := _FUNCTION.search(head):
            returns, name, parameters = found[1] or "()", found[2], found[3] or "()"
            function = Body(name, parameters, "", body, variables, Locations(places), returns)
            functions[name] = function.read()
    lasting = {n: v for n, v in variables.items() if v.space in ("global", "const")}
    addresses = {name: FUNCTIONS + FUNCTION_BYTES * k for k, name in enumerate(functions, 1)}
    linked = link(entries, functions, Outside(lasting, addresses))
    return Module({entry.name: entry for entry in linked}, files)
