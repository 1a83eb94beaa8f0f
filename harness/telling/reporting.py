"""What a learner reads when a test of a lesson fails: at most 25 lines.

The task and the place to edit, what was wrong, the lines of theirs and of the test that led there,
and one command to run it again. Frames of our own code are never shown. An exception that carries
`learner_report: str` says it better than a traceback would, and is printed instead of one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from harness.telling.failure import FailedTest, Frame, is_verdict, raised_inside, unwritten_task
from harness.telling.place import shown

MOST_LINES = 25
MOST_COLUMNS = 160
LEAST_TABLE = 9  # lines of counters that a long message leaves room for
UNWRITTEN = "is not written yet"
TOLD_ABOVE = "told in full above"
UNCOMPARED = "(pytest_assertion plugin: representation of details failed"
NOISE = re.compile(  # pytest's words about itself
    rf"\s*(?:{re.escape(UNCOMPARED)}|Probably an object has a faulty __repr__"
    r"|Use -v to get more diff|Omitting \d+ identical items, use -vv)"
)
ADDRESS = re.compile(
    r"<(?:function|built-in function|built-in method|bound method|class|generator object) "
    r"'?([\w.<>]+?)'?(?: (?:at 0x[0-9a-f]+|of .*?))?>"
)
OBJECT = re.compile(r"<(?:[\w<>]+\.)*(\w+) object at 0x[0-9a-f]+>")
SOURCE_ROW = re.compile(r"  +(?:\d+|…)(?: |$)")  # of a counter table, not marked
SAYING = re.compile(r"  line \d")
WHERE_FROM = re.compile(r"^\s*\+\s+(?:where|and)\s+.+? = .*\.[\w]+$")


def failure_text(
    error: BaseException, frames: Sequence[Frame], test: FailedTest, head: str, told: str | None
) -> str:
    """The report of one failure; `told` stands in for what the exception says of itself."""
    tail = ["", f"rerun: {_rerun(test)}"]
    if isinstance(told, str):
        middle: list[str] = []
        body = _cut_columns(told.rstrip("\n").splitlines())
    else:
        body = _what(error, frames)
        middle = _lines(frames)
        if not middle or (not is_verdict(error) and raised_inside(error, frames)):
            tail.append("(every frame: add --tb=long)")
    body = [*_fit(body, MOST_LINES - 1 - len(middle) - len(tail) - len(test.notes)), *test.notes]
    room = MOST_LINES - 1 - len(middle) - len(tail)
    table = _fit_table(test.counters, max(LEAST_TABLE, room - len(body) - 1))
    body = _fit(body, room - len(table) - bool(table))
    return "\n".join([head, *body, *([""] if table else []), *table, *middle, *tail])


def short_form(text: str, test: FailedTest, first: str) -> str:
    """A failure of a kind that was told in full under the test called `first`."""
    head = text.splitlines()[:2]
    return "\n".join([*head, f"(as in {first}, {TOLD_ABOVE})", f"rerun: {_rerun(test)}"])


def is_short_form(text: str) -> bool:
    """Whether a report only points to another one."""
    return f", {TOLD_ABOVE})" in text


def is_unwritten(text: str) -> bool:
    """Whether a report says that a task is still to be done."""
    return any(line.endswith(UNWRITTEN) for line in text.splitlines()[1:2])


def kind_of_failure(text: str) -> str:
    """The first two lines without their numbers: what failures of one kind share."""
    return re.sub(r"-?\d[\d,.]*", "#", "\n".join(text.splitlines()[:2]))


def _what(error: BaseException, frames: Sequence[Frame]) -> list[str]:
    """What went wrong, in the words of the exception."""
    unwritten = unwritten_task(error)
    if unwritten and any(not frame.is_test for frame in frames):
        return [f"task {unwritten} {UNWRITTEN}"]
    name = type(error).__name__
    message = str(error).rstrip()
    if isinstance(error, AssertionError):
        text = message or "the assertion does not hold"
    elif name in {"Failed", "Skipped", "XFailed"} or hasattr(error, "pytrace"):
        text = message
        if found := re.match(r"Timeout \(>([\d.]+)s\)", message):
            text = f"the test took longer than its limit of {float(found[1]):g} s and was stopped"
    else:
        text = f"{name}: {message}" if message else name
    notes = [line for note in getattr(error, "__notes__", []) for line in note.splitlines()]
    return _cut_columns([*_plain(text), *notes])


def _plain(text: str) -> list[str]:
    """pytest's own words without addresses and without where each function came from."""
    kept = []
    for line in text.splitlines():
        if NOISE.match(line):
            continue
        line = ADDRESS.sub(lambda found: found[1].rpartition(".")[2], line)
        line = OBJECT.sub(r"\1", line)
        if not WHERE_FROM.match(line):
            kept.append(line)
    while kept and not kept[-1].strip():
        kept.pop()
    if UNCOMPARED in text and re.match(r"assert None\b|assert .* == None$", kept[0]):
        kept.append("None was returned: does each path end in a return?")
    return kept


def _lines(frames: Sequence[Frame]) -> list[str]:
    """The innermost line of the test and the innermost line of the learner's."""
    chosen = [
        next((frame for frame in reversed(frames) if frame.is_test is is_test), None)
        for is_test in (False, True)
    ]
    known = [frame for frame in chosen if frame is not None]
    if not known:
        return []
    width = max(len(frame.place) for frame in known)
    return ["", *(_column(f"  {frame.place:<{width}}   {frame.source}") for frame in known)]


def _rerun(test: FailedTest) -> str:
    path, _, rest = test.node_id.partition("::")
    node = f"{shown(test.root / path)}::{rest}" if rest else shown(test.root / path)
    return " ".join(["pytest", shlex.quote(node), *test.options])


def _fit(lines: list[str], room: int) -> list[str]:
    """The first and the last lines, when all are too many."""
    if len(lines) <= room:
        return lines
    tail = min(4, room // 3)
    left_out = len(lines) - (room - 1)
    return [*lines[: room - 1 - tail], f"… {left_out} lines left out …", *lines[-tail:]]


def _fit_table(lines: Sequence[str], room: int) -> list[str]:
    """Counter tables; where there is no room, without the lines of source they do not point at."""
    kept = list(lines)
    for left_out in (SOURCE_ROW, SAYING):
        spare = [k for k, line in enumerate(kept) if left_out.match(line)]
        dropped = set(spare[max(0, room - len(kept) + len(spare)) :])
        kept = [line for k, line in enumerate(kept) if k not in dropped]
    return _cut_columns(kept) if len(kept) <= room else []


def _cut_columns(lines: Sequence[str]) -> list[str]:
    return [_column(line) for line in lines]


def _column(line: str) -> str:
    return line if len(line) <= MOST_COLUMNS else line[: MOST_COLUMNS - 1] + "…"
