"""What NVRTC and the assembler complain about, read from their logs."""

import re
from dataclasses import dataclass

_MESSAGE = re.compile(
    r"^(?P<file>[^\n(]*)\((?P<line>\d+)\): (?:catastrophic )?error: (?P<text>.+)$"
)
_OPERANDS = re.compile(r"^\s+operand types are: (.+)$")
_AT_THE_END = re.compile(r"^At end of source: error: (?P<text>.+)$")
_MATCHING = re.compile(r"^kernel\.cu\((\d+)\): note #\d+-D: to match this")
_INSTANTIATED = re.compile(r"instantiation of .* at line (\d+)$")
_ASSEMBLER = re.compile(
    r"ptxas (?:error|fatal|application ptx input, line \d+; error)\s*: (?P<text>.+)$"
)
_PROGRAM = "kernel.cu"  # the name under which NVRTC knows the learner's file


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error of the compiler's."""

    line: int | None  # in the learner's file
    column: int | None
    text: str
    file: str = _PROGRAM


def complaints(log: str) -> list[Complaint]:
    """Read the compiler's log; errors only, in its order."""
    found: list[Complaint] = []
    lines = log.splitlines()
    for number, line in enumerate(lines):
        message = _MESSAGE.match(line)
        if message:
            learners = message["file"] == _PROGRAM
            text, below = message["text"], lines[number + 1 : number + 4]
            if operands := _OPERANDS.match(below[0] if below else ""):
                text, below = f"{text}: {operands[1]}", below[1:]
            column = _caret(below[1]) if len(below) > 1 else None
            at: int | None = int(message["line"])
            if not learners:  # inside a header: look for the learner's line that led there
                at, column = _instantiated_at(lines[number + 1 :]), None
            found.append(Complaint(at, column, text, message["file"]))
        elif end := _AT_THE_END.match(line):
            opening = _MATCHING.match(lines[number + 1]) if number + 1 < len(lines) else None
            found.append(Complaint(int(opening[1]) if opening else None, None, end["text"]))
        elif "assembly aborted" in line:
            continue
        elif assembler := _ASSEMBLER.match(line.strip()):
            found.append(Complaint(None, None, assembler["text"]))
    return found


def _caret(line: str) -> int | None:
    """NVRTC indents source and caret by two."""
    return len(line) - 2 if line.strip() == "^" else None


def _instantiated_at(following: list[str]) -> int | None:
    for line in following:
        if _MESSAGE.match(line):
            return None
        if found := _INSTANTIATED.search(line):
            return int(found[1])
    return None
