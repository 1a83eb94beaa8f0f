"""A fault that the simulator found, told at the learner's source line."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.launching.call_site import shown_path
from harness.telling.learner_error import four_parts
from harness.telling.taught import in_taught_words, later_words, taught_lines

if TYPE_CHECKING:
    from simulator import KernelFault

_MOST_LINES = 25


@dataclass(frozen=True, slots=True)
class FaultyLaunch:
    """The launch that the fault ended."""

    path: Path
    launch: str  # "vec_add <<<4, 256>>>"
    call: str  # "curriculum/lesson_03/host.py:12    vec_add_kernel(…)"


def fault_report(fault: "KernelFault", launch: FaultyLaunch) -> str:
    """What happened, where, what was expected, what to try: 25 lines at most."""
    where = way_to(launch.path, fault.line)
    shape = f"launched as {launch.launch} by"
    later = later_words(launch.path)
    report = four_parts(
        f"{fault.kind.value}: {taught_lines(fault.what, later)}",
        f"{where}\n\n{shape}\n{launch.call}",
        in_taught_words(fault.expected, later),
        in_taught_words(fault.advice, later),
    )
    lines = report.splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "…"]
    return "\n".join(lines)


def way_to(path: Path, line: int | None) -> str:
    """The line of the fault and, where it is in a function put inline, those that called it."""
    from simulator import frames_of

    frames = [(Path(frame.file) if frame.file else path, frame.line) for frame in frames_of(line)]
    told = [source_line(*frame) for frame in frames] or [shown_path(path)]
    return "\ncalled from ".join(told)


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
