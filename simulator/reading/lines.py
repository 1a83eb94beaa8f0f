"""From `.loc` directives to lines of the learner's files, through all functions put inline.

A directive names a file, a line and a column. How a function put inline says where it was called
differs: `inlined_at file line column` names one call, whose own directive stands before; Triton 3.6
has the whole chain in a comment, `// a.py:4:41 @[ b.py:8:25 ]`, by the files' base names.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple, Self

_DIRECTIVE = re.compile(
    r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)"
    r"(?:\s*,\s*function_name\s+[^,]+,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?"
    r"(?:\s*,\s*called_from\s+(.*))?"
)
_CALL = re.compile(r"@\[\s*([^\s\[\]]+):(\d+):(\d+)")
_COMMENTED = re.compile(r"^([ \t]*\.loc\b[^\n;{]*?)[ \t]*//[^\n@]*((?:@\[[^\n@]*)+)$", re.M)
_ASSEMBLY = re.compile(r"// begin inline asm\n.*?// end inline asm", re.S)
_LOCATION_LINE = re.compile(r"^[ \t]*\.loc\b.*\n", re.M)
_DEEPEST = 32  # calls

CallPath = tuple["Frame", ...]  # the lines that lead to an instruction, the innermost first
_Place = tuple[int, int, int]  # file, line, column


class Frame(NamedTuple):
    """One line that leads to an instruction."""

    file: str  # "": the program's own
    line: int


class Line(int):
    """A line of the program's own file, 0 where there is none, and how the code came there.

    frames  the learner's lines, the innermost function's first, its callers behind it. The line is
            that of the first frame in the program's own file
    """

    frames: CallPath

    def __new__(cls, line: int, frames: CallPath = ()) -> Self:
        made = super().__new__(cls, line)
        made.frames = frames or ((Frame("", line),) if line else ())
        return made

    @classmethod
    def of(cls, frames: CallPath) -> Self:
        return cls(next((frame.line for frame in frames if not frame.file), 0), frames)

    def inside(self, call: int) -> "Line":
        """The same line, in a function that the line `call` calls."""
        return Line.of((self.frames + frames_of(call))[:_DEEPEST])


def frames_of(line: int | None) -> CallPath:
    """The learner's lines that lead to an instruction, the innermost first."""
    if isinstance(line, Line):
        return line.frames
    return (Frame("", line),) if line else ()


def with_calls(line: int) -> str:
    """`line 12`, or `line 4 (called from line 12)`."""
    inner, *callers = frames_of(line) or (Frame("", line),)
    calls = "".join(f", called from {_named(frame)}" for frame in callers)
    return _named(inner) + (f" ({calls[2:]})" if calls else "")


def _named(frame: Frame) -> str:
    if not frame.file:
        return f"line {frame.line}"
    return f"line {frame.line} of {PurePath(frame.file).name}"


def from_comments(text: str) -> str:
    """Write what only comments tell of into the directives, before comments are cut.

    The calls of Triton 3.6; and of inline assembly, whose later lines Triton 3.9 counts as if they
    stood below the call in the learner's file, only the first directive.
    """
    text = _ASSEMBLY.sub(lambda found: _first_location(found[0]), text)
    return _COMMENTED.sub(r"\1, called_from \2", text)


def _first_location(assembly: str) -> str:
    head, location, rest = assembly.partition(".loc")
    return head + location + _LOCATION_LINE.sub("", rest)


def first_file(text: str) -> int:
    """The number of the file in which the first entry begins."""
    found = re.search(r"\.entry\b.*?\.loc\s+(\d+)", text, re.S)
    return int(found[1]) if found else 1


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a module: their names by number, the program's own, and the learner's."""

    names: Mapping[int, str]
    own: int
    learners: frozenset[int]

    @classmethod
    def of(
        cls, names: Mapping[int, str], first: int, learners: Callable[[str], bool] | None
    ) -> "Files":
        """learners  whether a file is the learner's. None: only the one that is numbered first is,
        which with NVRTC is the program; else the program is the one that its entry begins in.
        """
        if learners is None:
            return cls(names, 1, frozenset((1,)))
        found = frozenset(number for number, name in names.items() if learners(name))
        return cls(names, first, found | {first})

    def frame(self, file: int, line: int) -> Frame:
        return Frame("" if file == self.own else self.names[file], line)

    def called(self, name: str, outermost: bool) -> int | None:
        """The file of a caller, by its base name. One that several share may be no learner's.

        The outermost caller is the kernel.
        """
        found = [n for n, path in self.names.items() if PurePath(path).name == name]
        if outermost and self.own in found:
            return self.own
        others = [n for n in found if n not in self.learners]
        return next(iter(others or found), None)


class Locations:
    """What the directives of one body say, one after another."""

    def __init__(self, files: Files) -> None:
        self.line = Line(0)  # where the body's code is, so far
        self._files = files
        self._calls: dict[_Place, _Place | None] = {}  # of what is put inline -> its call

    def after(self, statement: str) -> Line:
        """The line from a directive on; one outside the learner's files changes nothing."""
        found = _DIRECTIVE.match(statement)
        if found:
            files = self._files
            chain = self._chain(found) if found[7] is None else self._told(found)
            frames = [files.frame(f, n) for f, n in chain if f in files.learners and n > 0]
            if frames:
                self.line = Line.of(tuple(frames[:_DEEPEST]))
        return self.line

    def _chain(self, found: re.Match[str]) -> Iterator[tuple[int, int]]:
        """(file, line) of each frame: the call of a call was told of by an earlier directive."""
        place: _Place | None = (int(found[1]), int(found[2]), int(found[3]))
        call = (int(found[4]), int(found[5]), int(found[6])) if found[4] else None
        assert place is not None
        self._calls[place] = call
        for _ in range(_DEEPEST):
            if place is None:
                return
            yield place[:2]
            place = self._calls.get(place)

    def _told(self, found: re.Match[str]) -> Iterator[tuple[int, int]]:
        """(file, line) of each frame: the directive's own, and the calls behind it."""
        yield int(found[1]), int(found[2])
        calls = _CALL.findall(found[7])
        for depth, (name, line, _) in enumerate(calls, 1):
            file = self._files.called(name, outermost=depth == len(calls))
            if file is not None:
                yield file, int(line)
