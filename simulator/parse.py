"""PTX text to the dataclasses of `simulator/ptx.py`."""

import re

from simulator.body import Body
from simulator.cut import PtxError, top_level
from simulator.ptx import Entry, Module, Variable
from simulator.variables import variable

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_LINE_DIRECTIVE = re.compile(r"^[ \t]*(\.(?:loc|file|section)\b[^\n;{]*)$", re.M)
_ENTRY = re.compile(r"(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$]+)\s*(\([^)]*\))?([^{;]*)$")

__all__ = ["PtxError", "parse"]


def parse(text: str) -> Module:
    """Read a whole PTX file.

    Raises PtxError, naming the statement, where the text cannot be read.
    """
    files = {int(n): name for n, name in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M)}
    text = _COMMENT.sub(" ", text)
    text = _LINE_DIRECTIVE.sub(r"\1;", text)
    entries: dict[str, Entry] = {}
    variables: dict[str, Variable] = {}
    for head, body in top_level(text):
        if body is None:
            declared = variable(head)
            if declared is not None:
                variables[declared.name] = declared
            continue
        found = _ENTRY.search(head)
        if found:
            entries[found[1]] = Body(found[1], found[2] or "()", found[3], body, variables).entry()
    return Module(entries, files)
