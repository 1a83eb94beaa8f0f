"""Bring a lesson back to its stubs, after a dated backup; needs neither git nor a network."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from harness.lessons.backups import FOLDER, back_up
from harness.stubs.files import drifted, stubs_of
from harness.telling.invocation import typed


def edited_files(root: Path, lesson: str) -> list[str]:
    """The files of a lesson that a reset would change, by path from the root."""
    return drifted(root, stubs_of(root, lesson))


def reset_lesson(root: Path, lesson: str, now: datetime | None = None) -> Path | None:
    """Write the lesson's stubs again; the folder with the backup, or None with nothing to do."""
    stubs = stubs_of(root, lesson)
    targets = drifted(root, stubs)
    if not targets:
        return None
    backup = back_up(root, lesson, now) if (root / "curriculum" / lesson).is_dir() else None
    for target in targets:
        path = root / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stubs.contents[target])
    return backup


def reset_command(root: Path, lessons: list[str], ask: Callable[[str], bool] | None) -> int:
    """Ask, back up, restore, and say what happened; the exit status."""
    problems = [problem for lesson in lessons for problem in stubs_of(root, lesson).problems]
    if problems:
        print("The solutions do not yield stubs, so nothing was changed:")
        print("\n".join(problems[:8]))
        return 1
    missing = [lesson for lesson in lessons if not (root / "solutions" / lesson).is_dir()]
    if missing:
        print(f"There is no solutions/{missing[0]}/, which its stubs are made from.")
        print("Bring the folder back from the repository, or check the number:  " + typed("status"))
        return 1
    edited = {lesson: files for lesson in lessons if (files := edited_files(root, lesson))}
    if not edited:
        print("Nothing to reset: every file is as it was given.")
        return 0
    for lesson, files in edited.items():
        names = ", ".join(file.removeprefix(f"curriculum/{lesson}/") for file in files)
        print(f"{lesson}: {names}")
    print(f"These go back to how they were given. Your versions are copied to {FOLDER}/ first.")
    if ask is not None and not ask("Reset them?"):
        print("Nothing was changed.")
        return 1
    for lesson in edited:
        backup = reset_lesson(root, lesson)
        kept = f"; your files are in {backup.relative_to(root).as_posix()}/" if backup else ""
        print(f"{lesson} is reset{kept}")
    return 0
