"""What `lesson stubs` says: written, kept, drifted, or impossible to cut."""

from pathlib import Path

from harness.lessons import integrity
from harness.stubs.files import Stubs, drifted, stubs_of, write_stubs
from harness.telling.invocation import typed

_SHOWN = 12  # files listed before the rest are counted


def generate_stubs(root: Path, lesson: str | None, force: bool) -> int:
    """Write the stubs and the hashes that go with them; the exit status."""
    stubs = stubs_of(root, lesson)
    outcome = write_stubs(root, stubs, force)
    for path in outcome.written:
        print(f"written    {path}")
    for path in outcome.backups:
        print(f"backed up  {path}")
    print(f"{len(outcome.written)} written, {len(outcome.unchanged)} already right")
    if outcome.edited:
        print("\nEdited since they were generated, so left alone:")
        _list(outcome.edited)
        print("To overwrite them, after a backup to .backups/:  " + typed("stubs --force"))
    integrity.write_hashes(root)
    return 1 if _print_problems(stubs) or outcome.edited else 0


def check_stubs(root: Path, lesson: str | None) -> int:
    """Compare without writing; the exit status."""
    stubs = stubs_of(root, lesson)
    failed = _print_problems(stubs)
    paths = drifted(root, stubs)
    if paths:
        print("These files are not the stubs of their solutions:")
        _list(paths)
        print("Edit the solution, never the stub; then run:  " + typed("stubs"))
        failed = True
    changed = integrity.check(root)
    if changed:
        print(f"These files differ from {integrity.MANIFEST.as_posix()}:")
        _list(changed)
        print("If the changes are meant, run:  " + typed("stubs"))
        failed = True
    if not failed:
        print(f"{len(stubs.contents)} stubs match their solutions, and every hash fits")
    return 1 if failed else 0


def _print_problems(stubs: Stubs) -> bool:
    for problem in stubs.problems[:_SHOWN]:
        print(problem)
    if len(stubs.problems) > _SHOWN:
        print(f"… and {len(stubs.problems) - _SHOWN} more")
    return bool(stubs.problems)


def _list(paths: list[str]) -> None:
    for path in paths[:_SHOWN]:
        print(f"  {path}")
    if len(paths) > _SHOWN:
        print(f"  … and {len(paths) - _SHOWN} more")
