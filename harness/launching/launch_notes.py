"""What the simulator noted of a test's launches: no fault, but maybe why a result is wrong."""

from collections.abc import Sequence

_noted: dict[str, str] = {}  # each note once, with the kernel


def keep(kernel: str, notes: Sequence[str]) -> None:
    """A launch has ended with these notes."""
    for note in notes:
        _noted.setdefault(note, kernel)


def forget() -> None:
    """Another test begins."""
    _noted.clear()


def kept() -> list[str]:
    """The notes since then, each with its kernel, in the order of the launches."""
    return [f"{kernel}: {note}" for note, kernel in _noted.items()]
