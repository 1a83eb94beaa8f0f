"""A module of the learner's that is read on first use, inside the test that uses it.

Whatever is wrong with the file is raised as AnswerError at each use, ready to print.
"""

from __future__ import annotations

import linecache
import re
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from harness.telling.place import shown

TASK = re.compile(r"task\s+(\d+)", re.IGNORECASE)
_collecting = 0  # how many collections are going on: one inside the other when pytest runs itself


class AnswerError(Exception):
    """An answer file cannot be used. `learner_report` is what the learner reads."""

    def __init__(self, report: str, path: Path, line: int | None = None) -> None:
        super().__init__(report)
        self.learner_report = report
        self.path = path
        self.line = line


class MissingName(AnswerError, AttributeError):
    """The file is fine and lacks a name: `hasattr` keeps its meaning."""


class Unusable:
    """Stands for a name imported from a broken file while tests are collected; any use raises."""

    def __init__(self, name: str, error: AnswerError) -> None:
        self._name = name
        self._error = error

    def _raise(self, *_: object, **__: object) -> NoReturn:
        raise self._error.with_traceback(None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._raise()

    def __repr__(self) -> str:
        return f"<{self._name}: not usable yet>"

    __call__ = __getitem__ = __iter__ = __len__ = __index__ = __float__ = __int__ = _raise
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _raise
    __floordiv__ = __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = _raise
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __enter__ = _raise


class AnswerModule(ModuleType):
    """The lazy module. `__getattr__` runs only for names that are not there yet."""

    def __init__(self, name: str, file: Path) -> None:
        super().__init__(name)
        self.__dict__["__answer__"] = _Answer(file)

    def __getattr__(self, name: str) -> Any:
        answer: _Answer = self.__dict__["__answer__"]
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        error = answer.load(self)
        if error is None and name in self.__dict__:
            return self.__dict__[name]
        if answer.loading or name == "__all__":
            raise AttributeError(f"{self.__name__} has no {name}")
        error = error or MissingName(
            f"{shown(answer.file)} has no `{name}`, which this test uses", answer.file
        )
        if _collecting:
            return Unusable(name, error)
        raise error.with_traceback(None)

    def __dir__(self) -> list[str]:
        self.__dict__["__answer__"].load(self)
        return sorted(self.__dict__)


class _Answer:
    """Reads one file once and remembers how that went."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.loading = False
        self.error: AnswerError | None = None
        self.loaded = False

    def load(self, module: ModuleType) -> AnswerError | None:
        if self.loaded or self.loading:
            return self.error
        self.loading = True
        try:
            # Always from source: a compiled file of the same second and size would be stale.
            linecache.checkcache(str(self.file))
            code = compile(self.file.read_bytes(), str(self.file), "exec", dont_inherit=True)
            exec(code, module.__dict__)
        except AnswerError as error:
            self.error = error  # from another file that this one imports
        except (Exception, SystemExit) as error:
            self.error = explain(error, self.file)
            self.error.__cause__ = error
        finally:
            self.loading = False
            self.loaded = True
        return self.error


def explain(error: BaseException, file: Path) -> AnswerError:
    """What a learner reads when `file` cannot be imported."""
    if isinstance(error, FileNotFoundError) and not file.is_file():
        number = file.parent.name.removeprefix("lesson_")
        restore = f"bring it back: python -m harness reset {number}"
        return AnswerError(f"{shown(file)} is missing; {restore}", file)
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines = [f"{shown(file)}:{error.lineno} is not Python: {error.msg}"]
        if error.text:
            text = error.text.rstrip("\n")
            stripped = text.lstrip()
            lines.append(f"    {stripped}")
            if error.offset:
                column = max(error.offset - 1 - (len(text) - len(stripped)), 0)
                lines.append("    " + " " * column + "^")
        return AnswerError("\n".join(lines), file, error.lineno)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    line = frames[-1].lineno if frames else None
    place = f"{shown(file)}:{line}" if line else shown(file)
    task = TASK.search(str(error)) if isinstance(error, NotImplementedError) else None
    if task:
        what = f"task {task[1]} is not written yet: {place}"
    else:
        what = f"{place} does not import: {type(error).__name__}: {error}"
    source = linecache.getline(str(file), line).strip() if line else ""
    return AnswerError(f"{what}\n    {source}" if source else what, file, line)


def collecting(starts: bool) -> None:
    """Tells modules whether tests are being collected now."""
    global _collecting
    _collecting += 1 if starts else -1
