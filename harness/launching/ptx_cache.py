"""Compiled kernels on disk, by the hash of everything that went into them.

A cache is a convenience: where no disk takes it, everything works without and one line says so.
"""

import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent.parent
_notices: list[str] = []
_told: list[Path] = []


def key_of(*parts: str | bytes) -> str:
    """A name for whatever the parts make: the same parts, the same name."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load(key: str) -> bytes | None:
    """What was stored under a key, or None."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        return (folder / key).read_bytes()
    except OSError:
        return None


def store(key: str, data: bytes) -> None:
    """Keep data under a key; a reader sees all of it or nothing."""
    folder = cache_folder()
    if folder is None:
        return
    unfinished: str | None = None
    try:
        handle, unfinished = tempfile.mkstemp(dir=folder, prefix=".unfinished-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(unfinished, folder / key)
    except OSError as error:  # the disk is full, or has become read-only
        if unfinished is not None:
            Path(unfinished).unlink(missing_ok=True)
        _say_once(f"no disk for the kernel cache ({error.strerror}): kernels compile anew each run")


@cache
def cache_folder() -> Path | None:
    """What `keep_in` was told, else `.cache/` of the repository, else the user's cache folder, else
    None."""
    if _told:
        return _told[-1]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for folder in (_ROOT / ".cache" / "kernels", Path(home) / _ROOT.name / "kernels"):
        if _takes_files(folder):
            return folder
    _say_once("no disk for the kernel cache: kernels compile anew each run")
    return None


def keep_in(folder: Path) -> None:
    """Use this folder, which exists, from now on: a measurement begins with an empty one."""
    _told.append(folder)
    cache_folder.cache_clear()


def notices() -> tuple[str, ...]:
    """What the plugin may print once, at the end of a session."""
    return tuple(_notices)


def _takes_files(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _say_once(notice: str) -> None:
    if not _notices:
        _notices.append(notice)
        print(notice, file=sys.stderr)
