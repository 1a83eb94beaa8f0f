"""All pictures of the lessons: where each is kept, and whether what is kept is what is drawn."""

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from harness.drawing.canvas import Canvas

_LISTS = Path(__file__).parent  # one lesson_NN.py for each lesson that has pictures
FOLDER = "pictures"

Pictures = Mapping[str, Callable[[], Canvas]]  # by the name of the file, without .svg


def lessons_with_pictures() -> list[str]:
    return sorted(path.stem for path in _LISTS.glob("lesson_*.py"))


def drawn(lesson: str) -> dict[str, str]:
    """Each picture of a lesson as text, by its path from the root."""
    pictures: Pictures = import_module(f"harness.drawing.{lesson}").PICTURES
    return {
        f"curriculum/{lesson}/{FOLDER}/{name}.svg": draw().svg() for name, draw in pictures.items()
    }


def every_picture() -> dict[str, str]:
    return {
        path: text for lesson in lessons_with_pictures() for path, text in drawn(lesson).items()
    }


def write(root: Path) -> list[str]:
    """Write what differs, remove what no list draws any more; the paths of both."""
    pictures = every_picture()
    changed = drifted(root, pictures)
    for path in changed:
        if path in pictures:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(pictures[path], encoding="utf-8", newline="\n")
        else:
            (root / path).unlink()
    return changed


def drifted(root: Path, pictures: Mapping[str, str]) -> list[str]:
    """The paths that are absent, differ, or are drawn by no list."""
    kept = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in root.glob(f"curriculum/lesson_*/{FOLDER}/*.svg")
    }
    return sorted(
        path for path in kept.keys() | pictures.keys() if kept.get(path) != pictures.get(path)
    )
