"""The learner's source with what each line asked of memory beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.telling.place import shown

if TYPE_CHECKING:
    from simulator import Counters

CLOSING = "requested at L1; hits and DRAM are not modelled"
ROOM = 20  # lines of source; with head and foot the table has four more
GAP = 0  # among line numbers: lines left out
CODE_WIDTH = 46  # columns of source; what is longer ends in …


@dataclass(frozen=True, slots=True)
class Column:
    """One figure beside a line; a column of zeros is left out."""

    title: str
    value: Callable[[Counters], int]
    waste: Callable[[Counters], int] = lambda counters: 0  # what a better kernel would not have


COLUMNS = (
    Column("instructions", lambda c: c.warp_instructions),
    Column("load requests", lambda c: c.global_load_requests),
    Column(
        "load sectors",
        lambda c: c.global_load_sectors,
        lambda c: c.global_load_sectors - c.global_load_ideal_sectors,
    ),
    Column("store requests", lambda c: c.global_store_requests),
    Column(
        "store sectors",
        lambda c: c.global_store_sectors,
        lambda c: c.global_store_sectors - c.global_store_ideal_sectors,
    ),
    Column(
        "conflicts",
        lambda c: c.shared_load_conflicts + c.shared_store_conflicts,
        lambda c: c.shared_load_conflicts + c.shared_store_conflicts,
    ),
    Column("divergent", lambda c: c.divergent_branches, lambda c: c.divergent_branches),
    Column("atomics", lambda c: c.atomics),
    Column("barriers", lambda c: c.barriers),
)


@dataclass(frozen=True, slots=True)
class CounterTable:
    """The table of one kernel."""

    kernel: str
    source: Path
    lines: Mapping[int, Counters]  # by line of the source, from 1 on
    counters: Counters

    def __str__(self) -> str:
        columns = [column for column in COLUMNS if column.value(self.counters)]
        lines = self._shown_lines(columns)
        worst = self._worst(columns)
        code = _source_lines(self.source)
        width = max(12, *(min(CODE_WIDTH, len(code.get(line, ""))) for line in [0, *lines]))

        titles = "  ".join(column.title for column in columns)
        rows = [
            f"{self.kernel} in {shown(self.source)}",
            f"  {'line':>6}  {'':<{width}}  {titles}",
        ]
        for line in lines:
            mark = ">" if line in worst else " "
            number = line if line > 0 else "…"
            text = _cut(code.get(line, ""), width)
            row = f"{mark} {number:>6}  {text:<{width}}  {self._figures(columns, line)}"
            rows.append(row.rstrip())
        rows.append(
            f"  {'all':>6}  {self._efficiencies():<{width}}  {_row(columns, self.counters)}"
        )
        return "\n".join([*rows, CLOSING])

    def _figures(self, columns: list[Column], line: int) -> str:
        return _row(columns, self.lines[line]) if line in self.lines else ""

    def _shown_lines(self, columns: list[Column]) -> list[int]:
        """The counted lines and single lines between them; GAP stands for more lines between.

        When they are too many, those that waste and touch memory most.
        """
        counted = sorted(self.lines)
        if len(counted) > ROOM:
            interesting = sorted(
                counted,
                key=lambda line: (
                    -sum(column.waste(self.lines[line]) for column in columns),
                    -sum(column.value(self.lines[line]) for column in columns[1:]),
                    -self.lines[line].warp_instructions,
                ),
            )
            counted = sorted(interesting[: ROOM // 2])  # each may bring a gap along
        filled: list[int] = []
        for line in counted:
            between = line - filled[-1] - 1 if filled else 0
            filled += [GAP] if between > 1 else [line - 1] * between
            filled.append(line)
        return filled if len(filled) <= ROOM else counted[:ROOM]

    def _worst(self, columns: list[Column]) -> set[int]:
        """For each column the line that wastes most, and those that waste at least half as much."""
        worst: set[int] = set()
        for column in columns:
            waste = {line: column.waste(counters) for line, counters in self.lines.items()}
            most = max(waste.values(), default=0)
            worst |= {line for line, amount in waste.items() if most and amount >= most / 2}
        return worst

    def _efficiencies(self) -> str:
        counters = self.counters
        parts = []
        if counters.global_load_sectors:
            parts.append(f"loads {counters.global_load_efficiency:.0%} useful")
        if counters.global_store_sectors:
            parts.append(f"stores {counters.global_store_efficiency:.0%} useful")
        return ", ".join(parts)


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
