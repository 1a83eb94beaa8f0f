"""Which answer files were saved, however the editor writes and whatever the file system tells.

Editors write in place, in several goes, or into another file that then takes the name; some file
systems (a Windows drive under WSL, a network mount) tell nobody. So whatever wakes us, the files
themselves are looked at, and a save is over when they have kept still for a moment.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from watchfiles import watch

LOOK_SECONDS = 0.1  # between two looks, if nothing wakes us before
STILL_SECONDS = 0.05  # for so long the files must not change before a save is over
LONGEST_SAVE_SECONDS = 1.0
_SILENT = {"9p", "drvfs", "v9fs", "cifs", "smb3", "smbfs", "nfs", "nfs4", "afs", "vboxsf", "prl_fs"}
_MOUNTS = Path("/proc/self/mounts")

Print = tuple[int, int, int] | None  # when written, how long, which file; None: not there


class Saves:
    """Compares files with how they were when they were last run."""

    def __init__(self) -> None:
        self.files: tuple[Path, ...] = ()
        self._seen: dict[Path, Print] = {}

    def follow(self, files: Sequence[Path]) -> None:
        """Compare these from now on; of those followed before, no save is missed."""
        self.files = tuple(files)
        self._seen = self._prints() | {p: s for p, s in self._seen.items() if p in self.files}

    def look(self) -> list[Path]:
        """The files saved since the last look that found some; empty if none was."""
        if self._prints() == self._seen:
            return []
        before, self._seen = self._seen, self._settled()
        return [path for path in self.files if before[path] != self._seen[path]]

    def _settled(self) -> dict[Path, Print]:
        """The files' state once they keep still, and none is away to be replaced."""
        end = time.monotonic() + LONGEST_SAVE_SECONDS
        now = self._prints()
        while True:
            time.sleep(STILL_SECONDS)
            before, now = now, self._prints()
            absent = any(now[path] is None and self._seen[path] is not None for path in self.files)
            if (now == before and not absent) or time.monotonic() > end:
                return now

    def _prints(self) -> dict[Path, Print]:
        return {path: _print_of(path) for path in self.files}


def saved_at(files: Sequence[Path]) -> float | None:
    """When the last of some files was written, by the file system's clock."""
    times = [found[0] / 1e9 for path in files if (found := _print_of(path))]
    return max(times, default=None)


def woken(folders: Sequence[Path], poll: bool) -> Iterator[None]:
    """Yield whenever something in the folders changes, and each LOOK_SECONDS in any case.

    poll  look at the folders instead of asking the system to tell
    """
    options = {
        "watch_filter": None,
        "debounce": 100,
        "step": 20,
        "rust_timeout": int(1000 * LOOK_SECONDS),
        "yield_on_timeout": True,
        "recursive": False,
    }
    try:
        for _ in watch(*folders, force_polling=poll or None, **options):  # type: ignore[arg-type]
            yield
    except OSError:  # no inotify, or no watches left
        if poll:
            raise
        yield from woken(folders, poll=True)


def tells_nobody(folder: Path) -> bool:
    """Whether `folder` is on a file system that reports no changes made elsewhere."""
    try:
        rows = [line.split() for line in _MOUNTS.read_text(encoding="utf-8").splitlines()]
    except OSError:  # not Linux
        return False
    here = folder.resolve()
    mounts = [(row[1].replace("\\040", " "), row[2]) for row in rows if len(row) > 2]
    kinds = [(len(at), kind) for at, kind in mounts if here.is_relative_to(at)]
    kind = max(kinds, default=(0, ""))[1]
    return kind in _SILENT or kind.startswith("fuse")


def _print_of(path: Path) -> Print:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
