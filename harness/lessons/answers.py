"""Where `from curriculum.lesson_NN import host` and `cuda.module(__file__, "kernel.cu")` look.

The answer folder comes first (the learner's, solutions/, or --answers DIR), then curriculum/ for
the files that a lesson supplies. Modules are lazy: what is wrong with one is raised inside each
test that uses it, at the learner's line, and never while tests are collected.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from harness.lessons.answer_module import AnswerModule
from harness.lessons.curriculum import find_root

LESSON = re.compile(r"lesson_\d\d+")


@dataclass(frozen=True, slots=True)
class Source:
    """Whose answers are under test."""

    root: Path  # holds curriculum/
    folder: Path  # holds lesson_NN/: curriculum/, solutions/ or the folder of --answers
    parts: Mapping[str, Path] = field(default_factory=dict)  # lesson name → its own such folder

    @property
    def supplied(self) -> Path:
        return self.root / "curriculum"

    def path(self, lesson_name: str, file: str) -> Path:
        """The file to use; when there is none, where the learner's would be."""
        wanted = self.parts.get(lesson_name, self.folder) / lesson_name / file
        supplied = self.supplied / lesson_name / file
        return wanted if wanted.is_file() or not supplied.is_file() else supplied

    def files(self, lesson_name: str) -> list[Path]:
        """Python and CUDA files of a lesson, each once, its tests left out."""
        folders = (self.supplied, self.parts.get(lesson_name, self.folder))
        names = {
            path.name
            for folder in folders
            for path in (folder / lesson_name).glob("*.*")
            if path.suffix in {".py", ".cu"} and not path.match("test_*.py")
        }
        return [self.path(lesson_name, name) for name in sorted(names)]

    def owns(self, path: Path) -> bool:
        """Whether `path` is an answer or a supplied file, not a test."""
        if path.match("test_*.py") or not LESSON.fullmatch(path.parent.name):
            return False
        folders = (self.supplied, self.folder, *self.parts.values())
        return path.parent.parent in folders


class Finder(importlib.abc.MetaPathFinder):
    """Resolves curriculum, curriculum.lesson_NN and curriculum.lesson_NN.<module>."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        names = fullname.split(".")
        if names[0] != "curriculum" or len(names) > 3:
            return None
        if len(names) == 1:
            return _package(fullname, self.source.supplied)
        if not LESSON.fullmatch(names[1]):
            return None
        if len(names) == 2:
            return _package(fullname, self.source.supplied / names[1])
        if names[2].startswith(("test_", "conftest", "_")):
            return None  # pytest's to import
        file = self.source.path(names[1], f"{names[2]}.py")
        return importlib.machinery.ModuleSpec(fullname, AnswerLoader(file), origin=str(file))


class AnswerLoader(importlib.abc.Loader):
    """Makes a lazy module; nothing of the file is read here."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return AnswerModule(spec.name, self.file)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self.file)


def set_answers(
    folder: Path | None, root: Path | None = None, parts: Mapping[str, Path] | None = None
) -> Source:
    """From now on take answers from `folder` (None: the learner's own, in curriculum/).

    `root` is the folder that holds curriculum/ (default: found from the working directory). What
    was imported from other answers is forgotten.
    """
    root = root or find_root(Path.cwd())
    if root is None:
        raise FileNotFoundError("no curriculum/curriculum.toml at or above the working directory")
    root = Path(os.path.abspath(root))
    source = Source(root, Path(os.path.abspath(folder or root / "curriculum")), dict(parts or {}))
    _forget()
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Finder)]
    sys.meta_path.insert(0, Finder(source))
    return source


@contextmanager
def answers_from(
    folder: Path | None, root: Path | None = None, parts: Mapping[str, Path] | None = None
) -> Iterator[Source]:
    """`set_answers` for the length of a `with` block; the answers before come back after it."""
    finders = [finder for finder in sys.meta_path if isinstance(finder, Finder)]
    modules = _ours()
    try:
        yield set_answers(folder, root, parts)
    finally:
        _forget()
        sys.modules.update(modules)
        rest = [finder for finder in sys.meta_path if not isinstance(finder, Finder)]
        sys.meta_path[:] = [*finders, *rest]


def current() -> Source | None:
    """The answers in use, if any were set."""
    return next((f.source for f in sys.meta_path if isinstance(f, Finder)), None)


def answer_path(file_in_lesson: str | Path, name: str) -> Path:
    """The file `name` of the lesson that `file_in_lesson` (a `__file__`) belongs to."""
    path = Path(os.path.abspath(file_in_lesson))
    beside = path.parent / name
    lesson_name = path.parent.name
    if not LESSON.fullmatch(lesson_name):
        return beside
    source = current()
    if source is not None and path.is_relative_to(source.supplied):
        return source.path(lesson_name, name)  # a test or a supplied file asks
    if beside.is_file():
        return beside
    if source is None:
        root = find_root(path.parent)
        return beside if root is None else root / "curriculum" / lesson_name / name
    return source.path(lesson_name, name)


def _package(name: str, folder: Path) -> importlib.machinery.ModuleSpec:
    spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    return spec


def _ours() -> dict[str, ModuleType]:
    return {
        name: module
        for name, module in sys.modules.items()
        if name == "curriculum" or name.startswith("curriculum.")
    }


def _forget() -> None:
    for name in _ours():
        del sys.modules[name]
