"""Where the tasks of an answer lie: `TASK 2: …` to `END TASK`, in C++ and in Python comments."""

import re
from dataclasses import dataclass

_MARK = re.compile(r"^(?P<indent>\s*)(?P<marker>//|#) ?(?P<word>END TASK|TASK)\b(?P<rest>.*)$")
_NUMBERED = re.compile(r"^\s+(?P<number>[1-9]\d*)\b[^:]*:\s*(?P<text>\S.*)$")


class StubError(Exception):
    """A solution from which no stub can be cut: what is wrong, where, and what to do."""

    def __init__(self, what: str, advice: str, line: int) -> None:
        super().__init__(f"line {line}: {what}\n  {advice}")
        self.what = what
        self.advice = advice
        self.line = line

    def shown(self, path: str) -> str:
        return f"{path}:{self.line}  {self.what}\n  {self.advice}"


@dataclass(frozen=True, slots=True)
class Task:
    """One TASK line, in a solution or in the stub cut from it."""

    number: int
    text: str
    line: int  # 1-based


@dataclass(frozen=True, slots=True)
class Region:
    """One task and the lines that answer it; indices into the lines of the text."""

    task: Task
    indent: str
    marker: str  # "//" or "#"
    first: int  # the TASK line
    body: int  # the first line after the task's text
    last: int  # the END TASK line


def _task(match: re.Match[str], lines: list[str], index: int) -> tuple[Task, int]:
    """The task that starts at lines[index], and the index just after its text."""
    numbered = _NUMBERED.match(match["rest"])
    if numbered is None:
        raise StubError(
            "this TASK has no number, or says nothing",
            f"Write it as: {match['marker']} TASK 2: what the learner has to do",
            index + 1,
        )
    words = [numbered["text"].strip()]
    index += 1
    while index < len(lines):
        following = lines[index].strip()
        if not following.startswith(match["marker"]) or _MARK.match(lines[index]):
            break
        if _is_todo(following, match["marker"]):  # the text is a stub
            break
        words.append(following.removeprefix(match["marker"]).strip())
        index += 1
    return Task(int(numbered["number"]), " ".join(words), index - len(words) + 1), index


def tasks_of(text: str) -> list[Task]:
    """The tasks that a text names, whether or not it still holds their answers."""
    lines = text.splitlines()
    return [
        _task(match, lines, index)[0]
        for index, line in enumerate(lines)
        if (match := _MARK.match(line)) and match["word"] == "TASK"
    ]


def open_tasks_of(text: str) -> list[Task]:
    """The tasks of a stub whose TODO still stands under their text."""
    lines = text.splitlines()
    found: list[Task] = []
    for index, line in enumerate(lines):
        match = _MARK.match(line)
        if match and match["word"] == "TASK":
            task, after = _task(match, lines, index)
            if after < len(lines) and _is_todo(lines[after], match["marker"]):
                found.append(task)
    return found


def _is_todo(line: str, marker: str) -> bool:
    words = line.strip()
    return words.startswith(marker) and words.removeprefix(marker).strip().startswith("TODO:")


def regions_of(text: str) -> list[Region]:
    """The regions of a solution, first to last."""
    lines = text.splitlines()
    regions: list[Region] = []
    opened: tuple[re.Match[str], Task, int, int] | None = None
    for index, line in enumerate(lines):
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise StubError(
                "this line is indented with a tab",
                "Indent with spaces, so that the stub looks the same in every editor.",
                index + 1,
            )
        match = _MARK.match(line)
        if match is None:
            continue
        if match["word"] == "TASK":
            if opened is not None:
                raise StubError(
                    f"this TASK begins inside TASK {opened[1].number}, "
                    f"which opened on line {opened[1].line}",
                    f"Write `{match['marker']} END TASK` above it: regions do not nest.",
                    index + 1,
                )
            task, body = _task(match, lines, index)
            opened = (match, task, index, body)
            continue
        if opened is None:
            raise StubError(
                "this END TASK closes no TASK",
                f"Open the region with `{match['marker']} TASK 1: …`, or remove this line.",
                index + 1,
            )
        start, task, first, body = opened
        regions.append(Region(task, start["indent"], start["marker"], first, body, index))
        opened = None
        _check_body(regions[-1], lines)
    if opened is not None:
        raise StubError(
            f"TASK {opened[1].number} has no END TASK",
            f"Write `{opened[0]['marker']} END TASK` under the last line of its answer.",
            opened[1].line,
        )
    return regions


def _check_body(region: Region, lines: list[str]) -> None:
    if answer_lines(region, lines) == 0:
        raise StubError(
            f"TASK {region.task.number} holds no line to write",
            "Put the answer between the task's text and END TASK.",
            region.task.line,
        )


def answer_lines(region: Region, lines: list[str]) -> int:
    """How many lines of code answer the task: the learner's size hint."""
    body = (line.strip() for line in lines[region.body : region.last])
    return sum(1 for line in body if line and not line.startswith(region.marker))
