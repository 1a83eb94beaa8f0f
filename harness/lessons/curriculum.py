"""Which lessons there are and where they live, read from curriculum/curriculum.toml.

Plain data: nothing here knows of pytest, of progress or of a device.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST = Path("curriculum", "curriculum.toml")


class CurriculumError(Exception):
    """curriculum.toml does not say what it must; the text names the lesson and the field."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One row of the path. `id` never changes; `number` and `title` may.

    teaches  words that messages may not use before: "__syncwarp", "atomic"
    """

    id: str
    number: int
    title: str
    part: str
    idea: str
    tradeoff: str
    minutes: int
    folder: Path  # absolute: <root>/curriculum/lesson_NN
    teaches: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The folder's name: lesson_03."""
        return self.folder.name

    @property
    def label(self) -> str:
        """How a sentence names the lesson: lesson 03 (First kernel)."""
        return f"lesson {self.number:02d} ({self.title})"

    def test_files(self) -> list[Path]:
        return sorted(self.folder.glob("test_*.py"))


@dataclass(frozen=True, slots=True)
class Curriculum:
    """All lessons in order, and the root folder that holds curriculum/ and solutions/."""

    root: Path
    lessons: tuple[Lesson, ...]

    @property
    def folder(self) -> Path:
        return self.root / "curriculum"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    def by_id(self, lesson_id: str) -> Lesson | None:
        return next((lesson for lesson in self.lessons if lesson.id == lesson_id), None)

    def by_number(self, number: int) -> Lesson | None:
        return next((lesson for lesson in self.lessons if lesson.number == number), None)

    def by_name(self, name: str) -> Lesson | None:
        """The lesson whose folder is called `name`."""
        return next((lesson for lesson in self.lessons if lesson.name == name), None)

    def containing(self, path: Path) -> Lesson | None:
        """The lesson whose folder is `path` or holds it. `path` is absolute."""
        path = path.resolve()
        return next(
            (row for row in self.lessons if path.is_relative_to(row.folder.resolve())), None
        )

    def after(self, lesson: Lesson) -> Lesson | None:
        later = [other for other in self.lessons if other.number > lesson.number]
        return later[0] if later else None


def find_root(start: Path) -> Path | None:
    """The nearest folder at or above `start` that holds curriculum/curriculum.toml."""
    start = Path(os.path.abspath(start))
    return next((f for f in (start, *start.parents) if (f / MANIFEST).is_file()), None)


def load(root: Path) -> Curriculum:
    """Read the curriculum under `root`."""
    root = Path(os.path.abspath(root))
    try:
        table = tomllib.loads((root / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CurriculumError(f"{MANIFEST} cannot be read: {error}") from error
    lessons = sorted(
        (_lesson(root, row) for row in table.get("lesson", [])), key=lambda lesson: lesson.number
    )
    for what, values in (
        ("id", [lesson.id for lesson in lessons]),
        ("number", [str(lesson.number) for lesson in lessons]),
    ):
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise CurriculumError(f"{MANIFEST}: two lessons share the {what} {', '.join(twice)}")
    return Curriculum(root, tuple(lessons))


def _lesson(root: Path, row: dict[str, Any]) -> Lesson:
    missing = [field for field in ("id", "number", "title") if field not in row]
    if missing:
        raise CurriculumError(f"{MANIFEST}: a lesson lacks {', '.join(missing)}: {row}")
    number = int(row["number"])
    return Lesson(
        id=str(row["id"]),
        number=number,
        title=str(row["title"]),
        part=str(row.get("part", "")),
        idea=str(row.get("idea", "")),
        tradeoff=str(row.get("tradeoff", "")),
        minutes=int(row.get("minutes", 0)),
        folder=root / "curriculum" / f"lesson_{number:02d}",
        teaches=tuple(map(str, row.get("teaches", ()))),
    )
