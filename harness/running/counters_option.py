"""--counters: what each kernel of a lesson counted, printed when the run is over.

One table a kernel, of its largest launch: a table for each test would be pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.judging.counter_report import CLOSING, FOOT, HEAD, WASTES, CounterTable

COUNTED = pytest.StashKey[list[dict[str, Any]]]()
MOST_LINES = 60  # of a lesson
LEAST_ROWS = 3  # of source, in a table
SAYINGS = 1  # in a table
FRAME_ROWS = HEAD + FOOT + SAYINGS + 1  # of a table, with a blank one


@contextmanager
def counted(item: pytest.Item) -> Iterator[None]:
    """Count what happens inside, and keep with the test the largest launch of each kernel."""
    from harness.launching import launch_settings
    from harness.launching.recording import LaunchRecord, recording

    launches: list[LaunchRecord] = []
    try:
        with launch_settings.changed(counters=True), recording() as launches:
            yield
    finally:
        kernels = dict.fromkeys((launch.kernel, launch.path) for launch in launches)
        groups = [[one for one in launches if (one.kernel, one.path) == key] for key in kernels]
        item.stash[COUNTED] = [_plain(group, item.name) for group in groups]


@dataclass(slots=True)
class CountedKernels:
    """The largest launch of each kernel, lesson by lesson."""

    lessons: dict[str, dict[tuple[str, str], dict[str, Any]]] = field(default_factory=dict)

    def add(self, lesson: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """`rows`: what a test counted, as plain values."""
        kernels = self.lessons.setdefault(lesson, {})
        for row in rows:
            before = kernels.get((row["source"], row["kernel"]))
            largest = max([before, row] if before else [row], key=_size)
            launches = row["launches"] + (before["launches"] if before else 0)
            kernels[row["source"], row["kernel"]] = {**largest, "launches": launches}

    def lines(self) -> list[str]:
        """The tables, at most MOST_LINES of a lesson."""
        return [
            line for kernels in self.lessons.values() for line in _lesson(list(kernels.values()))
        ]


def _lesson(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    from simulator import Counters

    space = MOST_LINES - 2  # two lines below all tables
    most = space // (LEAST_ROWS + FRAME_ROWS)
    kept = sorted(rows, key=_size, reverse=True)[:most]
    for row in (row for row in rows if row in kept):
        of = f", the largest of {row['launches']} launches" if row["launches"] > 1 else ""
        yield from CounterTable(
            row["kernel"],
            Path(row["source"]),
            {int(line): Counters(**counts) for line, counts in row["lines"].items()},
            Counters(**row["counters"]),
            room=space // len(kept) - FRAME_ROWS,
            note=f"{of} ({row['test']})",
            sayings=SAYINGS,
            hottest=row.get("hottest", {}),
        ).rows()
        yield ""
    others = [row["kernel"] for row in rows if row not in kept]
    also = f"; also launched: {', '.join(others)}" if others else ""
    yield f"{WASTES}{CLOSING}"
    yield f"one test alone: add -k {kept[0]['test'].partition('[')[0]}{also}"


def _plain(launches: Sequence[Any], test: str) -> dict[str, Any]:
    largest = max(launches, key=lambda launch: _weight(_nonzero(launch.launched.counters)))
    return {
        "kernel": largest.kernel,
        "source": str(largest.path),
        "test": test,
        "launches": len(launches),
        "counters": _nonzero(largest.launched.counters),
        "lines": {str(line): _nonzero(one) for line, one in largest.launched.lines.items()},
        "hottest": {
            name: traffic.hottest_updates
            for name, traffic in largest.launched.buffers.items()
            if traffic.hottest_updates
        },
    }


def _nonzero(counters: Any) -> dict[str, int]:
    names = type(counters).__dataclass_fields__
    return {name: int(value) for name in names if (value := getattr(counters, name))}


def _size(row: Mapping[str, Any]) -> tuple[int, int]:
    return _weight(row["counters"])


def _weight(counts: Mapping[str, int]) -> tuple[int, int]:
    """What makes a launch large: what it moves through memory, and then its instructions.

    A launch of many idle threads has many instructions and says little.
    """
    traffic = [name for name in counts if name.endswith(("_sectors", "_wavefronts"))]
    moved = sum(counts[name] for name in traffic if "ideal" not in name)
    return moved, counts.get("warp_instructions", 0)
