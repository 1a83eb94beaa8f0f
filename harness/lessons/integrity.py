"""Whether the files that judge a learner are the ones that came with the lessons.

curriculum/hashes.json covers tests, supplied files, harness, simulator and references. What a
learner edits and reads (answer files and Markdown) is not covered. Line endings do not count.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MANIFEST = Path("curriculum", "hashes.json")
VERSION = 1
COVERED_FOLDERS = ("curriculum", "harness", "simulator", "references")
COVERED_FILES = ("conftest.py", "pytest.ini")
IGNORED_FOLDERS = {"__pycache__", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache"}
IGNORED_SUFFIXES = {".md", ".pyc", ".svg", ".png", ".orig", ".rej", ".swp"}
MACHINERY = ("harness", "simulator", "references")  # a new .py here is a change as well


def file_hash(path: Path) -> str:
    """SHA-256 of the content with every line ending read as one newline."""
    content = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return hashlib.sha256(content).hexdigest()


def editable_files(root: Path) -> dict[str, list[str]]:
    """By lesson folder name, the files a learner edits: those that solutions/ holds."""
    found: dict[str, list[str]] = {}
    for folder in sorted((root / "solutions").glob("lesson_*")):
        found[folder.name] = [path.relative_to(folder).as_posix() for path in _files(folder)]
    return found


def write_hashes(root: Path) -> Path:
    """Write curriculum/hashes.json for the tree as it is now; returns its path."""
    editable = editable_files(root)
    table = {
        "version": VERSION,
        "editable": editable,
        "files": {
            path.relative_to(root).as_posix(): file_hash(path) for path in _covered(root, editable)
        },
    }
    path = root / MANIFEST
    path.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path


def check(root: Path) -> list[str]:
    """The covered files that changed, went missing, or came in beside them; relative to `root`.

    An absent or damaged manifest is itself the one changed file.
    """
    table = _manifest(root)
    if table is None:
        return [MANIFEST.as_posix()]
    files: dict[str, str] = table["files"]
    changed = {
        name
        for name, expected in files.items()
        if not (root / name).is_file() or file_hash(root / name) != expected
    }
    for path in _covered(root, table["editable"]):
        name = path.relative_to(root).as_posix()
        if name not in files and _would_be_run(path, name):
            changed.add(name)
    return sorted(changed)


def tests_hash(root: Path, lesson_name: str) -> str:
    """One hash over the tests and supplied files of a lesson."""
    folder = root / "curriculum" / lesson_name
    table = _manifest(root)
    editable = table["editable"] if table else editable_files(root)
    digest = hashlib.sha256()
    for path in _covered(root, editable):
        if path.is_relative_to(folder):
            digest.update(f"{path.relative_to(folder).as_posix()} {file_hash(path)}\n".encode())
    return digest.hexdigest()


def answer_hashes(root: Path, lesson_name: str) -> dict[str, str]:
    """The hash of each file of the lesson that the learner edits."""
    folder = root / "curriculum" / lesson_name
    table = _manifest(root)
    names = (table["editable"] if table else editable_files(root)).get(lesson_name, [])
    return {name: file_hash(folder / name) for name in names if (folder / name).is_file()}


def _manifest(root: Path) -> dict[str, Any] | None:
    try:
        table = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(table, dict) or not isinstance(table.get("files"), dict):
        return None
    table.setdefault("editable", {})
    return table


def _would_be_run(path: Path, name: str) -> bool:
    if path.name == "conftest.py" or path.match("test_*.py"):
        return True
    return name.partition("/")[0] in MACHINERY and path.suffix == ".py"


def _covered(root: Path, editable: dict[str, list[str]]) -> Iterator[Path]:
    answers = {
        root / "curriculum" / lesson / name for lesson, names in editable.items() for name in names
    }
    for name in COVERED_FILES:
        if (root / name).is_file():
            yield root / name
    for folder in COVERED_FOLDERS:
        for path in _files(root / folder):
            if path not in answers and path != root / MANIFEST:
                yield path


def _files(folder: Path) -> Iterator[Path]:
    """Files that matter below `folder`, sorted; editors' leftovers and caches do not."""
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - IGNORED_FOLDERS)
        for name in sorted(names):
            path = Path(current, name)
            if not name.startswith(".") and path.suffix not in IGNORED_SUFFIXES:
                yield path
