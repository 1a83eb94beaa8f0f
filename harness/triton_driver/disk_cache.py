"""Triton's compiled kernels on disk: Triton's own files, kept from filling or failing.

Where the disk takes no more, a folder of this process's own does; what was cut short is compiled
anew; what has not been used for long goes.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from harness.triton_driver.triton_internals import FileCacheManager, knobs

_MOST_BYTES = 1 << 30
_DAYS = 30  # unused for so long, an entry goes
_EVERY_SECONDS = 24 * 3600  # between two looks at all entries
_LOOKED = ".looked_through"


class DiskCache(FileCacheManager):  # type: ignore[misc]  # Triton has no types
    """The files of one compiled kernel."""

    def __init__(self, key: str, **options: Any) -> None:
        try:
            super().__init__(key, **options)
        except OSError as error:
            self.key = key
            self._move(error)

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        """Store one file; its path."""
        try:
            return str(super().put(data, filename, binary))
        except OSError as error:
            self._move(error)
            return str(super().put(data, filename, binary))

    def get_group(self, filename: str) -> dict[str, str] | None:
        """The files of a kernel that was compiled before, if they are all there and whole."""
        try:
            group: dict[str, str] | None = super().get_group(filename)
            if not group or group.keys() != self._stored(filename):
                return None
            if not all(os.path.getsize(path) for path in group.values()):
                return None
            os.utime(self.cache_dir)  # used: the oldest go first
            return group
        except (OSError, ValueError):
            return None

    def _stored(self, filename: str) -> set[str]:
        """The files that a group was stored with: some Tritons leave out those that are gone."""
        with open(self._make_path(f"__grp__{filename}"), encoding="utf-8") as file:
            return set(json.load(file)["child_paths"])

    def _move(self, error: OSError) -> None:
        self.cache_dir = os.path.join(_own_folder(error.strerror), self.key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        os.makedirs(self.cache_dir, exist_ok=True)


@cache
def _own_folder(why: str | None) -> str:
    print(f"no disk for Triton's cache ({why}): kernels compile anew each run", file=sys.stderr)
    return tempfile.mkdtemp(prefix="triton-")


def use() -> None:
    """From now on Triton keeps its kernels so, unless the environment names another way."""
    if knobs.cache.manager_class is None:
        knobs.cache.manager_class = DiskCache
        with suppress(OSError):
            look_through(Path(knobs.cache.dir))


def look_through(folder: Path, now: float | None = None) -> None:
    """Once a day: remove what has not been used for long, and the oldest beyond a gigabyte."""
    now = time.time() if now is None else now
    mark = folder / _LOOKED
    if not folder.is_dir() or (mark.exists() and now - mark.stat().st_mtime < _EVERY_SECONDS):
        return
    mark.touch()
    os.utime(mark, (now, now))
    entries = [entry for entry in folder.iterdir() if entry.is_dir()]
    newest_first = sorted(entries, key=lambda entry: entry.stat().st_mtime, reverse=True)
    total = 0
    for entry in newest_first:
        total += sum(file.stat().st_size for file in entry.rglob("*") if file.is_file())
        if total > _MOST_BYTES or now - entry.stat().st_mtime > _DAYS * 24 * 3600:
            shutil.rmtree(entry, ignore_errors=True)
