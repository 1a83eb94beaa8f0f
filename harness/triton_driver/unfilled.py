"""Masked loads without `other`: what they give outside of their mask, the language leaves open.

The compiler fills it with zeros for NVIDIA's GPUs, exactly as for integers with other=0, so that
PTX does not tell the two apart. Triton's own IR does. What it says is written into the PTX as a
comment, so that it lies in the disk cache too.
"""

import re
from collections.abc import Iterator
from typing import Any

from harness.triton_driver.lines import is_learners

_COMMENT = "// masked loads without other at the lines:"
_LOAD = re.compile(r"\btt\.load (%[\w#]+(?:, %[\w#]+)*).*\bloc\((.*)\)$")
_KERNEL = re.compile(r"^\s*tt\.func public @.*?\n.*?^\s*\} loc\((#\w+)\)$", re.M | re.S)
_NAMED = re.compile(r"^(#\w+) = loc\((.*)\)$", re.M)
_PLACE = re.compile(r'^"([^"]*)":(\d+):\d+$')
_CALL = re.compile(r"^callsite\((.+) at (.+)\)$")
_WRAPPED = re.compile(r'^"[^"]*"\((.*)\)$')
_POINTER_AND_MASK = 2  # operands of a load without other


def lines_without_other(ttir: str) -> frozenset[int]:
    """The kernel's lines at which every masked load lacks `other`, from the text of the IR."""
    places = dict(_NAMED.findall(ttir))
    head = _KERNEL.search(ttir)
    frames = list(_frames(head[1], places)) if head else []
    own = frames[0][0] if frames else None
    lacking: set[int] = set()
    filled: set[int] = set()
    for text in ttir.splitlines():
        found = _LOAD.search(text)
        if found:
            line = _line(found[2], places, own)
            operands = found[1].count(",") + 1
            if line and operands >= _POINTER_AND_MASK:
                (lacking if operands == _POINTER_AND_MASK else filled).add(line)
    return frozenset(lacking - filled)


def noted(ptx: str, lines: frozenset[int]) -> str:
    """PTX that says so."""
    return f"{_COMMENT} {' '.join(map(str, sorted(lines)))}\n{ptx}" if lines else ptx


def noted_lines(ptx: str) -> frozenset[int]:
    first = ptx.partition("\n")[0]
    if not first.startswith(_COMMENT):
        return frozenset()
    return frozenset(map(int, first.removeprefix(_COMMENT).split()))


def note_stages(stages: dict[str, Any]) -> None:
    """Let the stage that writes PTX note what the one before all others has left of the loads."""
    read_ir, write_ptx = stages["ttir"], stages["ptx"]
    lines: list[frozenset[int]] = []

    def with_ir(*args: Any) -> Any:
        module = read_ir(*args)
        lines.append(lines_without_other(str(module)))
        return module

    def with_note(*args: Any) -> Any:
        return noted(write_ptx(*args), lines[-1] if lines else frozenset())

    stages.update(ttir=with_ir, ptx=with_note)


def _line(text: str, places: dict[str, str], own: str | None) -> int:
    """The innermost of the lines that lead to a load that is the kernel's file's; 0: none is."""
    return next((line for file, line in _frames(text, places) if file == own), 0)


def _frames(text: str, places: dict[str, str]) -> Iterator[tuple[str, int]]:
    """(file, line) of a location, the innermost function's first."""
    if text in places:
        yield from _frames(places[text], places)
    elif found := _PLACE.match(text):
        if is_learners(found[1]):
            yield found[1], int(found[2])
    elif found := _CALL.match(text):
        yield from _frames(found[1], places)
        yield from _frames(found[2], places)
    elif found := _WRAPPED.match(text):
        yield from _frames(found[1], places)
