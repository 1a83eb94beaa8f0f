"""The kernels of a PTX text and what a launch must know of them; the simulator reads the rest."""

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{]*)\{")
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.([a-z]+)(\d+)\s+[^,\[\]]*(?:\[(\d+)\])?")
_MAXIMUM = re.compile(r"\.maxntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


@dataclass(frozen=True, slots=True)
class ParameterSize:
    bytes: int


@dataclass(frozen=True, slots=True)
class EntryHead:
    """One kernel, up to its body."""

    name: str
    parameters: tuple[ParameterSize, ...]
    maximum_threads: int | None  # __launch_bounds__


def entry_heads(ptx: str) -> dict[str, EntryHead]:
    """The kernels of a PTX text by the names that a launch would ask for."""
    return {found[1]: _head(*found.groups()) for found in _ENTRY.finditer(ptx)}


def source_name(entry: str) -> str | None:
    """`_Z7vec_addPKfS0_Pfi` -> `vec_add`: what a mangled kernel is called in the source."""
    found = re.match(r"_Z(\d+)", entry)
    if not found:
        return None
    return entry[found.end() : found.end() + int(found[1])]


def _head(name: str, parameters: str | None, directives: str) -> EntryHead:
    sizes = tuple(
        ParameterSize(int(bits) // 8 * int(count or 1))
        for _, bits, count in _PARAMETER.findall(parameters or "")
    )
    bound = _MAXIMUM.search(directives)
    most = None
    if bound:
        most = int(bound[1]) * int(bound[2] or 1) * int(bound[3] or 1)
    return EntryHead(name, sizes, most)
