"""The learner's source with what each line asked of memory beside it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.telling.place import shown

if TYPE_CHECKING:
    from simulator import Counters

CLOSING = "requested at L1; hits and DRAM are not modelled"
WASTES = "> wastes most of a column; "
ROOM = 20  # lines of source; with head and foot the table has four more
ROOM_IN_A_FAILURE = 8
GAP = 0  # among line numbers: lines left out
CODE_WIDTH = 46  # columns of source at least; what is longer than there is room for ends in …


@dataclass(frozen=True, slots=True)
class Column:
    """One figure beside a line; a column of zeros is left out."""

    title: str
    names: tuple[str, ...]  # the counters that it helps to understand
    value: Callable[[Counters], int]
    waste: Callable[[Counters], int] = lambda counters: 0  # what a better kernel would not have
    always: bool = True  # False: only where one of its counters is named


COLUMNS = (
    Column(
        "instructions",
        ("warp_instructions", "thread_instructions", "execution_efficiency"),
        lambda c: c.warp_instructions,
    ),
    Column(
        "threads' instructions",
        ("thread_instructions", "execution_efficiency"),
        lambda c: c.thread_instructions,
        always=False,
    ),
    Column("load requests", ("global_load_requests",), lambda c: c.global_load_requests),
    Column(
        "load sectors",
        ("global_load_sectors", "global_load_ideal_sectors", "global_load_efficiency"),
        lambda c: c.global_load_sectors,
        lambda c: c.global_load_sectors - c.global_load_ideal_sectors,
    ),
    Column(
        "load bytes",
        ("global_load_bytes", "global_load_efficiency"),
        lambda c: c.global_load_bytes,
        always=False,
    ),
    Column("store requests", ("global_store_requests",), lambda c: c.global_store_requests),
    Column(
        "store sectors",
        ("global_store_sectors", "global_store_ideal_sectors", "global_store_efficiency"),
        lambda c: c.global_store_sectors,
        lambda c: c.global_store_sectors - c.global_store_ideal_sectors,
    ),
    Column(
        "store bytes",
        ("global_store_bytes", "global_store_efficiency"),
        lambda c: c.global_store_bytes,
        always=False,
    ),
    Column(
        "local requests",
        (
            *("local_load_requests", "local_load_sectors"),
            *("local_store_requests", "local_store_sectors"),
        ),
        lambda c: c.local_load_requests + c.local_store_requests,
    ),
    Column(
        "shared requests",
        ("shared_load_requests", "shared_store_requests"),
        lambda c: c.shared_load_requests + c.shared_store_requests,
        always=False,
    ),
    Column(
        "wavefronts",
        ("shared_load_wavefronts", "shared_store_wavefronts"),
        lambda c: c.shared_load_wavefronts + c.shared_store_wavefronts,
        always=False,
    ),
    Column(
        "conflicts",
        (
            *("shared_load_conflicts", "shared_store_conflicts"),
            *("shared_load_wavefronts", "shared_store_wavefronts"),
        ),
        lambda c: c.shared_load_conflicts + c.shared_store_conflicts,
        lambda c: c.shared_load_conflicts + c.shared_store_conflicts,
    ),
    Column("branches", ("branches",), lambda c: c.branches, always=False),
    Column(
        "divergent",
        ("divergent_branches", "execution_efficiency"),
        lambda c: c.divergent_branches,
        lambda c: c.divergent_branches,
    ),
    Column("atomics", ("atomics",), lambda c: c.atomics),
    Column("barriers", ("barriers",), lambda c: c.barriers),
    Column("shuffles", ("shuffles",), lambda c: c.shuffles),
)
COUNTERS = frozenset(name for column in COLUMNS for name in column.names)


@dataclass(frozen=True, slots=True)
class CounterTable:
    """The table of one kernel."""

    kernel: str
    source: Path
    lines: Mapping[int, Counters]  # by line of the source, from 1 on
    counters: Counters
    named: Collection[str] | None = None  # the counters that a test asks about; None: all
    room: int = ROOM
    note: str = ""

    def __str__(self) -> str:
        rows = self.rows()
        wastes = WASTES if any(row.startswith(">") for row in rows) else ""
        return "\n".join([*rows, wastes + CLOSING])

    @property
    def columns(self) -> list[Column]:
        """Those that are not zero and say something of the counters that were named."""
        return [
            column
            for column in COLUMNS
            if column.value(self.counters)
            and (column.always if self.named is None else set(column.names) & set(self.named))
        ]

    def rows(self) -> list[str]:
        """Head, lines of source, and the kernel as a whole."""
        columns = self.columns
        lines = self._shown_lines(columns)
        worst = self._worst(columns)
        code = _source_lines(self.source)
        titles = "  ".join(column.title for column in columns)
        most = max(CODE_WIDTH, shutil.get_terminal_size().columns - len(titles) - 12)
        efficiencies = self._efficiencies(columns)
        width = max(12, len(efficiencies), *(len(code.get(line, "")) for line in [0, *lines]))
        width = min(width, most)

        rows = [
            f"{self.kernel} in {shown(self.source)}{self.note}",
            f"  {'line':>6}  {'':<{width}}  {titles}",
        ]
        for line in lines:
            mark = ">" if line in worst else " "
            number = line if line > 0 else "…"
            text = _cut(code.get(line, ""), width)
            row = f"{mark} {number:>6}  {text:<{width}}  {self._figures(columns, line)}"
            rows.append(row.rstrip())
        rows.append(f"  {'all':>6}  {efficiencies:<{width}}  {_row(columns, self.counters)}")
        return rows

    def _figures(self, columns: list[Column], line: int) -> str:
        return _row(columns, self.lines[line]) if line in self.lines else ""

    def _shown_lines(self, columns: list[Column]) -> list[int]:
        """The counted lines and single lines between them; GAP stands for more lines between.

        When they are too many, those that waste and touch memory most.
        """
        counted = [
            line
            for line, counters in self.lines.items()
            if any(column.value(counters) for column in columns)
        ]
        interesting = sorted(
            counted,
            key=lambda line: (
                -sum(column.waste(self.lines[line]) for column in columns),
                -sum(
                    column.value(self.lines[line])
                    for column in columns
                    if column.title != "instructions"
                ),
                -self.lines[line].warp_instructions,
            ),
        )
        for kept in range(len(interesting), 0, -1):
            filled = _with_lines_between(sorted(interesting[:kept]))
            if len(filled) <= self.room:
                return filled
        return []

    def _worst(self, columns: list[Column]) -> set[int]:
        """For each column the line that wastes most, and those that waste at least half as much."""
        worst: set[int] = set()
        for column in columns:
            waste = {line: column.waste(counters) for line, counters in self.lines.items()}
            most = max(waste.values(), default=0)
            worst |= {line for line, amount in waste.items() if most and amount >= most / 2}
        return worst

    def _efficiencies(self, columns: list[Column]) -> str:
        counters, titles = self.counters, {column.title for column in columns}
        parts = []
        if "load sectors" in titles:
            parts.append(f"loads {counters.global_load_efficiency:.0%} useful")
        if "store sectors" in titles:
            parts.append(f"stores {counters.global_store_efficiency:.0%} useful")
        return ", ".join(parts)


def _with_lines_between(counted: Sequence[int]) -> list[int]:
    filled: list[int] = []
    for line in counted:
        between = line - filled[-1] - 1 if filled else 0
        filled += [GAP] if between > 1 else [line - 1] * between
        filled.append(line)
    return filled


def _row(columns: list[Column], counters: Counters) -> str:
    return "  ".join(
        f"{column.value(counters) or '':>{len(column.title)}}" for column in columns
    ).rstrip()


def _source_lines(source: Path) -> dict[int, str]:
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    return {number: line.expandtabs(4) for number, line in enumerate(lines, start=1)}


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
