"""Messages keep to what the lesson has taught: each lesson's `teaches` in curriculum.toml.

Advice that names a later lesson's word gives way to what it carries `instead`; where there is
nothing simpler to say, nothing is said. Outside of lessons every word may be used.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from harness.lessons import answers, curriculum


def later_words(path: Path) -> tuple[str, ...]:
    """What the lessons after the one that a file belongs to are the first to teach."""
    source = answers.current()
    root = curriculum.find_root(path.parent) if source is None else source.root
    if root is None or not answers.LESSON.fullmatch(path.parent.name):
        return ()
    return words_after(root, path.parent.name)


@lru_cache(maxsize=64)
def words_after(root: Path, lesson_name: str) -> tuple[str, ...]:
    """What the lessons after this one are the first to teach."""
    path = curriculum.load(root)
    lesson = path.by_name(lesson_name)
    if lesson is None:
        return ()
    return tuple(
        word for other in path.lessons if other.number > lesson.number for word in other.teaches
    )


def in_taught_words(text: str, later: tuple[str, ...]) -> str:
    """`text`, or the first of what stands in for it that names none of `later`; else nothing."""
    while any(word in text for word in later):
        text = getattr(text, "instead", "")
    return text


def taught_lines(text: str, later: tuple[str, ...]) -> str:
    """The first line of what happened, and those of the others that name none of `later`."""
    first, *others = text.split("\n")
    kept = [first, *(line for line in others if not any(word in line for word in later))]
    return "\n".join(kept).rstrip(":") if len(kept) <= len(others) else text
