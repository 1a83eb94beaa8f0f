"""A dated copy of a lesson's folder, made before anything of the learner's is overwritten."""

import shutil
from datetime import datetime
from pathlib import Path

FOLDER = ".backups"


def back_up(root: Path, lesson: str, now: datetime | None = None) -> Path:
    """Copy curriculum/<lesson> to .backups/<lesson>-YYYY-MM-DD-HHMMSS, and return that folder."""
    stamp = (now or datetime.now()).strftime("%Y-%m-%d-%H%M%S")
    target = root / FOLDER / f"{lesson}-{stamp}"
    copies = 1
    while target.exists():  # two within a second
        copies += 1
        target = root / FOLDER / f"{lesson}-{stamp}-{copies}"
    shutil.copytree(
        root / "curriculum" / lesson, target, ignore=shutil.ignore_patterns("__pycache__")
    )
    return target
