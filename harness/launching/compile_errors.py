"""What NVRTC says about a file, told at the learner's line with a hint for the usual mistakes."""

from pathlib import Path

from harness.launching.call_site import shown_path
from harness.launching.compile_hints import hint
from harness.launching.compiler_log import Complaint, complaints
from harness.launching.punctuation import at_the_cause
from harness.telling.learner_error import LearnerError, labelled

_MOST_LINES = 12


class CompileError(LearnerError):
    """The learner's file does not compile."""

    def __init__(self, log: str, path: Path, source: str) -> None:
        self.log = log
        self.path = path
        self.complaints = at_the_cause(complaints(log), source)
        self._report = _report(self.complaints, log, path, source)
        super().__init__(self._report.splitlines()[0])
        self.args = (self._report,)

    @property
    def learner_report(self) -> str:
        return self._report


def _report(found: list[Complaint], log: str, path: Path, source: str) -> str:
    shown = shown_path(path)
    if not found:
        return "\n".join([f"{shown} does not compile", *log.splitlines()[: _MOST_LINES - 1]])
    source_lines = source.splitlines()
    first = found[0]
    lines = _told(first, shown, source_lines)
    advice = hint(first, source_lines)
    if advice:
        lines += labelled("try", advice)
    others = found[1:]
    if others:
        lines.append("")
        room = _MOST_LINES - len(lines)
        if len(others) > room:
            others = others[: room - 1]
        lines += [f"then      {_place(c, shown)}: {_short(c.text)}" for c in others]
        left = len(found) - 1 - len(others)
        if left:
            lines.append(f"          and {left} more")
    return "\n".join(lines[:_MOST_LINES])


def _told(complaint: Complaint, shown: str, source_lines: list[str]) -> list[str]:
    lines = [f"{_place(complaint, shown)}: {_short(complaint.text)}"]
    if complaint.line is None or not 0 < complaint.line <= len(source_lines):
        return lines
    text = source_lines[complaint.line - 1]
    bare = text.lstrip()
    lines += ["", f"  {bare.rstrip()}"]
    if complaint.column is not None:
        before = text[: complaint.column - 1]
        lines.append("  " + " " * (len(before) - (len(text) - len(bare))) + "^")
    lines.append("")
    return lines


def _place(complaint: Complaint, shown: str) -> str:
    if complaint.line is None:
        return shown
    column = f":{complaint.column}" if complaint.column is not None else ""
    return f"{shown}:{complaint.line}{column}"


def _short(text: str) -> str:
    if "without execution space annotations" in text:
        return "this function is marked neither __global__ nor __device__"
    return text if len(text) <= 160 else text[:157] + "…"
