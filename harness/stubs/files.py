"""Which stub each file of curriculum/ starts as, and how it is written without losing an answer."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.lessons.backups import back_up
from harness.lessons.integrity import editable_files
from harness.stubs.cutting import CUDA_SUFFIXES, PYTHON_SUFFIX, StubError, stub_of

RECORD = Path(".cache") / "stubs.json"  # what this checkout generated last, by path


@dataclass(slots=True)
class Stubs:
    """The stub of every solution file, by path from the root, and what could not be cut."""

    contents: dict[str, bytes] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Written:
    """What became of each stub."""

    written: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)  # somebody's answer: left alone
    backups: list[str] = field(default_factory=list)


def stubs_of(root: Path, lesson: str | None = None) -> Stubs:
    """The stubs of one lesson's solution ("lesson_05"), or of all."""
    stubs = Stubs()
    for path in _solution_files(root, lesson):
        shown = path.relative_to(root).as_posix()
        target = shown.replace("solutions/", "curriculum/", 1)
        try:
            stubs.contents[target] = _stub_of_file(path)
        except StubError as error:
            stubs.problems.append(error.shown(shown))
    return stubs


def _solution_files(root: Path, lesson: str | None) -> Iterator[Path]:
    for folder, names in editable_files(root).items():
        if lesson in (None, folder):
            yield from (root / "solutions" / folder / name for name in names)


def _stub_of_file(path: Path) -> bytes:
    if path.suffix in CUDA_SUFFIXES or path.suffix == PYTHON_SUFFIX:
        return stub_of(path.read_text(encoding="utf-8"), path.suffix).encode()
    return path.read_bytes()


def drifted(root: Path, stubs: Stubs) -> list[str]:
    """The files of curriculum/ that are not the stubs of their solutions."""
    return [
        target
        for target, content in stubs.contents.items()
        if not (root / target).is_file() or (root / target).read_bytes() != content
    ]


def write_stubs(root: Path, stubs: Stubs, force: bool = False) -> Written:
    """Write each stub, except over a file that somebody has edited since it was generated."""
    outcome = Written()
    record = _read_record(root)
    backed_up: set[str] = set()
    for target, content in stubs.contents.items():
        path = root / target
        if path.is_file() and path.read_bytes() == content:
            outcome.unchanged.append(target)
        else:
            if path.is_file() and _digest(path.read_bytes()) != record.get(target):
                if not force:
                    outcome.edited.append(target)
                    continue
                lesson = Path(target).parts[1]
                if lesson not in backed_up:
                    backup = back_up(root, lesson).relative_to(root).as_posix()
                    outcome.backups.append(backup)
                    backed_up.add(lesson)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            outcome.written.append(target)
        record[target] = _digest(content)
    _write_record(root, record)
    return outcome


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_record(root: Path) -> dict[str, str]:
    try:
        record = json.loads((root / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _write_record(root: Path, record: dict[str, str]) -> None:
    path = root / RECORD
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
