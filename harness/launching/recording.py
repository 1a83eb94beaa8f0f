"""Collects every simulator launch made inside a `with`, for profiles and counter tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator import Launched


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    kernel: str
    path: Path  # the learner's source file
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int  # dynamic ones
    launched: "Launched"

    def __repr__(self) -> str:
        return f"<launch of {self.kernel}, grid {self.grid}, block {self.block}>"


_open: list[list[LaunchRecord]] = []


@contextmanager
def recording() -> Iterator[list[LaunchRecord]]:
    """`with recording() as launches:` fills the list in the order of the launches, counters on."""
    launches: list[LaunchRecord] = []
    _open.append(launches)
    try:
        yield launches
    finally:
        _open.pop()


def is_recording() -> bool:
    return bool(_open)


def record(launch: LaunchRecord) -> None:
    for launches in _open:
        launches.append(launch)
