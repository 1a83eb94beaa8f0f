"""Collects every simulator launch made inside a `with`, for profiles and counter tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from weakref import finalize

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


class Listener(Protocol):
    """Hears of each launch: a list, or whatever else takes records one by one."""

    def append(self, launch: LaunchRecord, /) -> None: ...


_open: list[Listener] = []


@contextmanager
def recording() -> Iterator[list[LaunchRecord]]:
    """`with recording() as launches:` fills the list in the order of the launches, counters on."""
    launches: list[LaunchRecord] = []
    hearing = listening(launches)
    try:
        yield launches
    finally:
        hearing.stop()


class Hearing:
    """Until it is stopped, or nobody holds it any more, launches are counted and told."""

    def __init__(self, listener: Listener) -> None:
        self._stop = finalize(self, _forget, listener)

    def stop(self) -> None:
        self._stop()


def listening(listener: Listener) -> Hearing:
    """Tell `listener` of each launch from now on."""
    _open.append(listener)
    return Hearing(listener)


def is_recording() -> bool:
    return bool(_open)


def record(launch: LaunchRecord) -> None:
    told: list[Listener] = []
    for listener in _open:  # one that listens twice is told once
        if not any(listener is known for known in told):
            told.append(listener)
            listener.append(launch)


def _forget(listener: Listener) -> None:
    """By identity: two empty lists are equal."""
    del _open[next(i for i, known in enumerate(_open) if known is listener)]
