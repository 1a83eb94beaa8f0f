"""Declarations of PTX: arrays in memory, their initial values and places, and parameters."""

import re

from simulator.cut import PtxError
from simulator.ptx import Parameter, Variable
from simulator.types import DTYPES

_VARIABLE = re.compile(
    r"(\.extern\s+)?\.(shared|const|global|local)\s+(?:\.align\s+(\d+)\s+)?(?:\.attribute\([^)]*\)\s*)?"
    r"\.(\w+)\s+([\w$%]+)\s*(?:\[(\d*)\])?\s*(?:=\s*(\{[^}]*\}|[^;]+))?\s*$"
)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr[\s.\w]*?\s)?([\w$]+)\s*(?:\[(\d+)\])?$"
)


def variable(statement: str) -> Variable | None:
    found = _VARIABLE.search(statement)
    if not found:
        return None
    extern, space, alignment, type_, name, count, initial = found.groups()
    item = DTYPES[type_]
    size = item.itemsize * (1 if count is None else int(count or 0))
    data = b""
    if initial:
        numbers = [_initial_number(n) for n in initial.strip("{} \n").split(",")]
        data = b"".join(
            (n % (1 << 8 * item.itemsize)).to_bytes(item.itemsize, "little") for n in numbers
        )
    return Variable(
        name, space, int(alignment or item.itemsize), size, data, bool(extern) and not size
    )


def _initial_number(text: str) -> int:
    text = text.strip().rstrip("U")
    if text[:2].lower() in ("0f", "0d"):
        return int(text[2:], 16)
    return int(text, 0)


def parameters(head: str) -> tuple[Parameter, ...]:
    parameters = []
    for text in filter(None, (t.strip() for t in head.strip()[1:-1].split(","))):
        found = _PARAMETER.match(text)
        if not found:
            raise PtxError(f"cannot read the parameter {text!r}")
        type_, name, count = found.groups()
        parameters.append(Parameter(name, type_, DTYPES[type_].itemsize * int(count or 1)))
    return tuple(parameters)


def layout(variables: list[Variable]) -> tuple[dict[str, int], int]:
    """Give each variable an aligned offset; return the offsets and the bytes in all."""
    offsets = {}
    end = 0
    for variable in variables:
        end = -(-end // variable.alignment) * variable.alignment
        offsets[variable.name] = end
        end += variable.size
    return offsets, end
