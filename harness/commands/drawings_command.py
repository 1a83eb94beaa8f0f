"""What `lesson drawings` says: which pictures were written, or no longer are what is drawn."""

from pathlib import Path

from harness.drawing import pictures
from harness.telling.invocation import typed


def write_drawings(root: Path) -> int:
    """Draw every picture; the exit status."""
    changed = pictures.write(root)
    for path in changed:
        print(f"{'written' if (root / path).is_file() else 'removed'}    {path}")
    written = [path for path in changed if (root / path).is_file()]
    print(f"{len(pictures.every_picture()) - len(written)} already right")
    return 0


def check_drawings(root: Path) -> int:
    """Compare without writing; the exit status."""
    drawn = pictures.every_picture()
    changed = pictures.drifted(root, drawn)
    if not changed:
        print(f"{len(drawn)} pictures are as they are drawn")
        return 0
    print("These pictures are not what harness/drawing draws:")
    for path in changed:
        print(f"  {path}")
    print(
        "Never edit a picture; edit harness/drawing/lesson_NN.py, then run:  " + typed("drawings")
    )
    return 1
