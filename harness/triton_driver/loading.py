"""From the PTX of a compiled kernel to the simulator's reading of it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.launching import kept_modules
from harness.triton_driver import lines, unfilled

if TYPE_CHECKING:
    from simulator import Entry, Module


def entry_of(name: str, ptx: str | bytes) -> "Entry":
    """Triton hands PTX over as text after a compile and as bytes from its disk cache."""
    text = ptx.decode() if isinstance(ptx, bytes) else ptx
    how = (Path(file).read_bytes() for file in (__file__, lines.__file__, unfilled.__file__))
    return kept_modules.module(lambda: _read(name, text), "Triton", name, text, *how).entries[name]


def _read(name: str, text: str) -> "Module":
    from simulator import parse

    read = parse(text, lines.is_learners)
    noted = unfilled.noted_lines(text)
    if not noted:
        return read
    return replace(read, entries={name: replace(read.entries[name], unfilled=noted)})
