"""printf from a kernel: read the packed arguments, format them, keep the text in thread order."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.running.buffers import LOCAL_WINDOW, AddressMap
from simulator.running.lanes import Lanes

if TYPE_CHECKING:
    from simulator.running.execution import Execution

LIMIT = 1 << 20  # characters; CUDA's own buffer holds 1 MiB by default
_CONVERSION = re.compile(
    r"%([-+ #0]*)(\d*|\*)(?:\.(\d*|\*))?(hh|h|ll|l|z|j|t)?([diouxXeEfFgGaAcsp%])"
)


def text_at(addresses: AddressMap, pointer: int) -> str:
    """The zero-terminated text at a global address."""
    found = addresses.find(pointer)
    if found is None:
        return "?"
    buffer, base = found
    raw = buffer.data[pointer - base :].tobytes()
    return raw.split(b"\0", 1)[0].decode(errors="replace")


class Printer:
    """Collects what a launch prints."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.cut = False  # whether something did not fit

    @property
    def output(self) -> str:
        more = f"\n[printf: more than {LIMIT} characters; the rest is left out]\n"
        return "".join(self._pieces) + (more if self.cut else "")

    def print(self, run: "Execution", format_: Any, arguments: Any, lanes: Lanes) -> None:
        """One vprintf for each lane."""
        pattern = run.text(int(format_ if format_.ndim == 0 else format_[0]))
        where = np.broadcast_to(arguments, (lanes.count,)).astype(np.int64) - LOCAL_WINDOW
        for lane, offset in zip(lanes.indices().tolist(), where.tolist(), strict=True):
            if self._length > LIMIT:
                self.cut = True
                return
            start = lane * run.wave.local_stride
            memory = run.wave.local[start : start + run.wave.local_bytes]
            piece = _format(run, pattern, memory, offset, lane)
            self._pieces.append(piece)
            self._length += len(piece)


def _format(run: "Execution", pattern: str, memory: Any, offset: int, lane: int) -> str:
    """Arguments are packed at their natural alignment; a float has been promoted to double."""

    def argument(size: int) -> Any:
        nonlocal offset
        offset = -(-offset // size) * size
        raw = memory[offset : offset + size]
        if run.undefined is not None:
            run.undefined.printed(lane, offset, size)
        offset += size
        return raw

    def number_or_star(text: str | None) -> int | None:
        """A width or a precision: `*` takes it from the arguments."""
        if text == "*":
            return int(argument(4).view(np.int32)[0])
        return None if text is None else int(text or 0)

    def convert(found: re.Match[str]) -> str:
        flags, width_text, precision_text, length, kind = found.groups()
        if kind == "%":
            return "%"
        width, precision = number_or_star(width_text) or 0, number_or_star(precision_text)
        flags += "-" * (width < 0) + (str(abs(width)) if width else "")
        if precision is not None and precision >= 0:
            flags += f".{precision}"
        wide = kind in "eEfFgGaAsp" or length in ("l", "ll", "z", "j", "t")
        size = 8 if wide else 4
        raw = argument(size)
        if kind in "eEfFgG":
            return str(f"%{flags}{kind}" % float(raw.view(np.float64)[0]))
        if kind in "aA":
            return float(raw.view(np.float64)[0]).hex()
        number = int(raw.view(f"{'i' if kind in 'di' else 'u'}{size}")[0])
        if kind == "s":
            return f"%{flags}s" % run.text(number)
        if kind == "p":
            return hex(number)
        if kind == "c":
            return chr(number & 0xFF)
        return f"%{flags}{kind}" % number

    return _CONVERSION.sub(convert, pattern)
