"""A fault that the simulator found, told at the learner's source line."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.launching.call_site import shown_path
from harness.telling.learner_error import four_parts

if TYPE_CHECKING:
    from simulator import KernelFault

_MOST_LINES = 25


@dataclass(frozen=True, slots=True)
class FaultyLaunch:
    """The launch that the fault ended."""

    kernel: str
    path: Path
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    call: str  # "curriculum/lesson_03/host.py:12    vec_add_kernel(…)"


def fault_report(fault: "KernelFault", launch: FaultyLaunch) -> str:
    """What happened, where, what was expected, what to try: 25 lines at most."""
    where = source_line(launch.path, fault.line)
    shape = f"launched as {launch.kernel} <<<{_shape(launch.grid)}, {_shape(launch.block)}>>> by"
    what = f"{fault.kind.value}: {fault.what}"
    report = four_parts(what, f"{where}\n\n{shape}\n{launch.call}", fault.expected, fault.advice)
    lines = report.splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "…"]
    return "\n".join(lines)


def source_line(path: Path, line: int | None) -> str:
    """`curriculum/lesson_03/kernel.cu:17    c[i] = a[i] + b[i];`"""
    shown = shown_path(path)
    if not line:
        return shown
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    text = lines[line - 1].strip() if line <= len(lines) else ""
    return f"{shown}:{line}    {text}".rstrip()


def _shape(sizes: tuple[int, int, int]) -> str:
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return str(kept[0]) if len(kept) == 1 else f"({', '.join(map(str, kept))})"
