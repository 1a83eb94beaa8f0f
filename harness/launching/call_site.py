"""Where in the learner's Python a launch was written, and the text of each of its arguments."""

import ast
import linecache
import os
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType

_HARNESS = str(Path(__file__).resolve().parent.parent) + os.sep


@dataclass(frozen=True, slots=True)
class CallSite:
    path: str
    line: int
    text: str
    arguments: tuple[str, ...]  # the text of each kernel argument; empty where it cannot be told

    def __str__(self) -> str:
        return f"{shown_path(self.path)}:{self.line}    {self.text}"

    def argument(self, index: int, otherwise: str) -> str:
        """What the learner wrote for one kernel argument."""
        return self.arguments[index] if index < len(self.arguments) else otherwise


def call_site() -> CallSite:
    """The innermost frame outside harness/ and Triton: the line that launches the kernel."""
    frame: FrameType | None = sys._getframe(1)
    ours = (_HARNESS, *_triton())
    while frame is not None and frame.f_code.co_filename.startswith(ours):
        frame = frame.f_back
    if frame is None:
        return CallSite("<unknown>", 0, "", ())
    path, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(path, line).strip()
    return CallSite(path, line, text, _argument_texts(frame))


def _triton() -> tuple[str, ...]:
    """Triton's folder, if it is there: its launches come to us through it."""
    triton = sys.modules.get("triton")
    file = getattr(triton, "__file__", None)
    return (str(Path(file).parent) + os.sep,) if file else ()


def shown_path(path: str | Path) -> str:
    """A path as a learner would type it: from the working directory, where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):  # no working directory, or another drive
        return str(path)
    return min(relative, str(path), key=len)


def _argument_texts(frame: FrameType) -> tuple[str, ...]:
    """The texts in the third argument of the call, where that is written as a tuple or list."""
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if positions is None or None in positions:
        return ()
    first, last, start, end = (int(p or 0) for p in positions)
    lines = [linecache.getline(frame.f_code.co_filename, n) for n in range(first, last + 1)]
    if not lines:
        return ()
    encoded = [line.encode() for line in lines]
    encoded[-1] = encoded[-1][:end]
    encoded[0] = encoded[0][start:]
    source = b"".join(encoded).decode(errors="replace")
    try:
        call = ast.parse(source, mode="eval").body
    except SyntaxError:
        return ()
    if not isinstance(call, ast.Call):
        return ()
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    written = call.args[2] if len(call.args) > 2 else named.get("args")
    if not isinstance(written, (ast.Tuple, ast.List)):
        return ()
    if any(isinstance(element, ast.Starred) for element in written.elts):
        return ()
    return tuple(ast.unparse(element) for element in written.elts)
