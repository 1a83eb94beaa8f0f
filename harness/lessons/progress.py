"""What a learner has done so far: .progress.json at the root.

Records are kept by stable lesson id. Every change is one read, one change and one atomic
replacement under a lock, so that a killed process leaves the old file or the new one. A file that
cannot be understood is renamed, never overwritten.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

VERSION = 1
FILE_NAME = ".progress.json"


class ProgressUnwritable(Exception):
    """The record could not be written; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Pass:
    """All required tests of a lesson passed in one run."""

    on: str  # "simulator", or the GPU's name
    date: str  # local time, ISO 8601
    hashes: Mapping[str, str] = field(default_factory=dict)  # the learner's files, by name
    tests: str = ""  # hash of the tests that judged them
    by_override: bool = False  # an earlier lesson was still open


@dataclass(frozen=True, slots=True)
class Record:
    """One lesson's history."""

    attempts: int = 0  # runs of this lesson until the first pass
    last_run: str = ""
    hints: tuple[str, ...] = ()  # hints read, in order, as `lesson hint` names them
    opened_by_override: str = ""  # date of the first run under --unlocked
    passes: tuple[Pass, ...] = ()  # at most one for each device
    marks: tuple[str, ...] = ()  # stretch tests that passed
    medals: tuple[str, ...] = ()  # speed tests that passed
    failing: tuple[int, ...] = ()  # tasks whose tests failed last; the first to mend comes first

    @property
    def passed(self) -> bool:
        return bool(self.passes)

    def with_pass(self, new: Pass) -> Record:
        """Keep the first pass on each device."""
        known = any(old.on == new.on for old in self.passes)
        return self if known else replace(self, passes=(*self.passes, new))


@dataclass(frozen=True, slots=True)
class Progress:
    """All records. Ids that no lesson has any more are kept."""

    records: Mapping[str, Record] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what reading the file had to say; not stored

    def record(self, lesson_id: str) -> Record:
        return self.records.get(lesson_id, Record())

    def passed(self, lesson_id: str) -> bool:
        return self.record(lesson_id).passed

    def changed(self, lesson_id: str, **values: Any) -> Progress:
        """The same progress with fields of one record replaced."""
        record = replace(self.record(lesson_id), **values)
        return replace(self, records={**self.records, lesson_id: record})

    def with_record(self, lesson_id: str, record: Record) -> Progress:
        return replace(self, records={**self.records, lesson_id: record})


def now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def load(root: Path) -> Progress:
    """Read the progress under `root`; a bad file is set aside, and `notes` says so."""
    path = root / FILE_NAME
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return Progress()
    except UnicodeDecodeError:
        return _set_aside(path, "corrupt", "is damaged")
    except OSError as error:
        return Progress(notes=(f"{path} cannot be read: {error.strerror or error}",))
    try:
        table = json.loads(text)
        version = int(table["version"])
        if version > VERSION:
            return _set_aside(path, "newer", f"was written by a newer version ({version})")
        return Progress({key: _record(row) for key, row in table["lessons"].items()})
    except (ValueError, TypeError, KeyError, AttributeError):
        return _set_aside(path, "corrupt", "is damaged")


def save(root: Path, progress: Progress) -> None:
    """Replace the file by one atomic step; raises ProgressUnwritable."""
    path = root / FILE_NAME
    table = {
        "version": VERSION,
        "lessons": {key: asdict(record) for key, record in sorted(progress.records.items())},
    }
    text = json.dumps(table, indent=2) + "\n"
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=root, prefix=f"{FILE_NAME}.new-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise ProgressUnwritable(
            f"{path} could not be written: {error.strerror or error}"
        ) from error


def update(root: Path, change: Callable[[Progress], Progress]) -> Progress:
    """Apply `change` to what the file holds now and write the result; raises ProgressUnwritable."""
    with _only_writer(root):
        for left_over in root.glob(f"{FILE_NAME}.new-*"):  # of a writer that was killed
            with contextlib.suppress(OSError):
                left_over.unlink()
        progress = change(load(root))
        save(root, progress)
    return progress


@contextlib.contextmanager
def _only_writer(root: Path) -> Iterator[None]:
    import fcntl

    path = root / f"{FILE_NAME}.lock"
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise ProgressUnwritable(
            f"{root / FILE_NAME} could not be written: {error.strerror or error}"
        ) from error
    try:
        with contextlib.suppress(OSError):  # some network drives have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _record(row: Any) -> Record:
    passes = tuple(
        Pass(
            on=str(one["on"]),
            date=str(one["date"]),
            hashes={str(name): str(digest) for name, digest in one.get("hashes", {}).items()},
            tests=str(one.get("tests", "")),
            by_override=bool(one.get("by_override", False)),
        )
        for one in row.get("passes", [])
    )
    return Record(
        attempts=int(row.get("attempts", 0)),
        last_run=str(row.get("last_run", "")),
        failing=tuple(int(task) for task in row.get("failing", [])),
        hints=_texts(row.get("hints", [])),
        opened_by_override=str(row.get("opened_by_override", "")),
        passes=passes,
        marks=_texts(row.get("marks", [])),
        medals=_texts(row.get("medals", [])),
    )


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"expected a list, got {values!r}")
    return tuple(str(value) for value in values)


def _set_aside(path: Path, kind: str, why: str) -> Progress:
    """Rename a file we cannot use, so that nothing is lost."""
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    aside = path.with_name(f"{path.name}.{kind}-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.{kind}-{stamp}-{number}")
    try:
        os.rename(path, aside)
    except OSError as error:
        note = f"{path} {why} and could not be set aside ({error.strerror or error})"
    else:
        note = f"{path.name} {why}; it is kept as {aside.name}, and a new record begins"
    return Progress(notes=(note,))
