"""Declarations of PTX: arrays in memory, their initial values and places, and parameters."""

import re

from simulator.reading.cut import PtxError
from simulator.reading.ptx import Parameter, PointerValue, Variable
from simulator.types import DTYPES

_VARIABLE = re.compile(
    r"(\.extern\s+)?\.(shared|const|global|local)\s+(?:\.align\s+(\d+)\s+)?(?:\.attribute\([^)]*\)\s*)?"
    r"\.(\w+)\s+([\w$%]+)\s*(?:\[(\d*)\])?\s*(?:=\s*(\{[^}]*\}|[^;]+))?\s*$"
)
_POINTER = re.compile(r"\s*(?:generic\()?\s*([A-Za-z_$][\w$]*)\s*\)?\s*([+-]\s*\d+)?\s*$")
# One byte of a pointer in an array of bytes: `0xFF(name)`, then `0xFF00(name)`, and so on.
_BYTE_OF_POINTER = re.compile(r"\s*0[xX]FF((?:00)*)\((.+)\)\s*$")
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
    pointers: tuple[PointerValue, ...] = ()
    if initial:
        values = initial.strip("{} \n").split(",")
        bytes_ = [_BYTE_OF_POINTER.match(v) for v in values]
        aims = [_POINTER.match(m[2] if m else v) for v, m in zip(values, bytes_, strict=True)]
        pointers = tuple(
            PointerValue(k * item.itemsize, m[1], int((m[2] or "0").replace(" ", "")))
            for k, (m, byte) in enumerate(zip(aims, bytes_, strict=True))
            if m and not (byte and byte[1])  # the first byte stands for all of them
        )
        numbers = [0 if m else _initial_number(v) for v, m in zip(values, aims, strict=True)]
        data = b"".join(
            (n % (1 << 8 * item.itemsize)).to_bytes(item.itemsize, "little") for n in numbers
        )
    return Variable(
        name,
        space,
        int(alignment or item.itemsize),
        size,
        data,
        bool(extern) and not size,
        pointers,
    )


def _initial_number(text: str) -> int:
    if text.strip()[:2].lower() in ("0f", "0d"):
        return int(text.strip()[2:], 16)
    return integer(text)


def integer(text: str) -> int:
    """An integer in PTX's spelling: 12, -1, 0x1FU, 017, 0b11."""
    text = text.strip().rstrip("U")
    return int(text, 8 if re.match(r"-?0[0-7]", text) else 0)


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
