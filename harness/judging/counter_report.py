"""The learner's source with what each line asked of memory beside it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.judging.counter_columns import COLUMNS, Column
from harness.telling.place import shown

if TYPE_CHECKING:
    from simulator import Counters

CLOSING = "requested at L1; hits and DRAM are not modelled"
WASTES = "> furthest from the ideal; "
HEAD, FOOT = 3, 3  # rows above the lines of source, and below them beside the sayings
ROOM = 16  # lines of source
ROOM_IN_A_FAILURE = 8
SLIGHT = 0.05  # a smaller part of a column that is wasted is not pointed at unasked
GAP = 0  # among line numbers: lines left out
WIDTH = 100  # of a table, where the terminal is no wider
LEAST_CODE = 34  # columns of source; what is longer than there is room for ends in …


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
    sayings: int = 2  # sentences about the worst lines
    hottest: Mapping[str, int] = field(default_factory=dict)  # updates of an address, by buffer

    def __str__(self) -> str:
        rows = self.rows()
        wastes = WASTES if any(row.startswith(">") for row in rows) else ""
        return "\n".join([*rows, wastes + CLOSING])

    @property
    def columns(self) -> list[Column]:
        """Those that are not zero and say something of the counters that were named.

        Unasked, as many as there is room for: those that waste nothing go first.
        """
        columns = [column for column in COLUMNS if self._is_wanted(column)]
        if self.named is not None:
            return columns
        room = _width() - LEAST_CODE - _MARGIN
        last_first = list(reversed(columns[1:]))
        for column in sorted(last_first, key=lambda c: c.wasted(self.counters) > SLIGHT):
            if sum(self._width(one) + 2 for one in columns) <= room:
                break
            columns.remove(column)
        return columns

    def rows(self) -> list[str]:
        """Head, lines of source, the kernel as a whole, and what the worst lines mean."""
        columns = self.columns
        lines = self._shown_lines(columns)
        worst = self._worst(columns)
        code = _dedented({line: text for line, text in self._code().items() if line in lines})
        widths = [self._width(column) for column in columns]
        most = max(LEAST_CODE, _width() - _MARGIN - sum(width + 2 for width in widths))
        width = min(most, max(12, *map(len, code.values()), 0))

        def row(mark: str, number: object, text: str, cells: Sequence[str]) -> str:
            figures = "  ".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True))
            return f"{mark} {number:>6}  {_cut(text, width):<{width}}  {figures}".rstrip()

        return [
            f"{self.kernel} in {shown(self.source)}{self.note}",
            row(" ", "", "", [column.title[0] for column in columns]),
            row(" ", "line", "", [column.title[1] for column in columns]),
            *(
                row(
                    ">" if line in worst else " ",
                    line if line > 0 else "…",
                    code.get(line, ""),
                    [c.cell(self.lines[line]) if line in self.lines else "" for c in columns],
                )
                for line in lines
            ),
            row(" ", "all", "", [column.cell(self.counters) for column in columns]),
            *self._also(),
            *self._sayings(columns, worst),
        ]

    def _is_wanted(self, column: Column) -> bool:
        if not column.value(self.counters):
            return False
        return column.unasked(self.counters) if self.named is None else self._asks(column.names)

    def _width(self, column: Column) -> int:
        cells = [column.cell(counters) for counters in (self.counters, *self.lines.values())]
        return max(map(len, (*column.title, *cells)))

    def _code(self) -> dict[int, str]:
        try:
            lines = self.source.read_text(encoding="utf-8").splitlines()
        except OSError:
            return {}
        return {number: line.expandtabs(4) for number, line in enumerate(lines, start=1)}

    def _shown_lines(self, columns: list[Column]) -> list[int]:
        """The counted lines and single lines between them; GAP stands for more lines between.

        When they are too many, those that waste most and then those that ask for most.
        """
        counted = {
            line: counters
            for line, counters in self.lines.items()
            if any(column.value(counters) for column in columns)
        }

        def share(column: Column, counters: Counters, whole: int) -> float:
            return column.waste(counters) / whole if whole else 0.0

        wholes = [column.waste(self.counters) for column in columns]
        others = [column for column in columns if "warp_instructions" not in column.names]
        interesting = sorted(
            counted,
            key=lambda line: (
                -sum(share(c, counted[line], w) for c, w in zip(columns, wholes, strict=True)),
                -sum(column.value(counted[line]) for column in others),
                -counted[line].warp_instructions,
            ),
        )
        for kept in range(len(interesting), 0, -1):
            filled = _with_lines_between(sorted(interesting[:kept]))
            if len(filled) <= self.room:
                return filled
        return []

    def _wasting(self, columns: list[Column]) -> list[Column]:
        """The columns worth pointing at, the worst first."""
        least = SLIGHT if self.named is None else 0.0
        found = [column for column in columns if column.wasted(self.counters) > least]
        return sorted(found, key=lambda column: -column.wasted(self.counters))

    def _worst(self, columns: list[Column]) -> set[int]:
        """For each column the line that wastes most, and those that waste at least half as much."""
        worst: set[int] = set()
        for column in self._wasting(columns):
            waste = {line: column.waste(counters) for line, counters in self.lines.items()}
            most = max(waste.values(), default=0)
            worst |= {line for line, amount in waste.items() if most and amount >= most / 2}
        return worst

    def _sayings(self, columns: list[Column], worst: Collection[int]) -> Iterator[str]:
        """Sentences about the worst line of the worst columns."""
        for column in self._wasting(columns)[: self.sayings]:
            line = max(self.lines, key=lambda one: column.waste(self.lines[one]), default=None)
            if line in worst and line is not None:
                yield f"  {column.says(line, self.lines[line])}"

    def _also(self) -> Iterator[str]:
        """What belongs to no line: of what was named, or of everything."""
        counters, found = self.counters, []
        if counters.global_load_sectors and self._asks(_SECTORS["load"]):
            found.append(f"loads {counters.global_load_efficiency:.0%} useful")
        if counters.global_store_sectors and self._asks(_SECTORS["store"]):
            found.append(f"stores {counters.global_store_efficiency:.0%} useful")
        if counters.load_waits and self._asks({"load_waits", "loads_in_flight"}):
            found.append(f"{counters.loads_in_flight:.1f} loads under way at each wait")
        hottest = sorted(self.hottest.items(), key=lambda pair: -pair[1])
        if self._asks({"hottest_updates", "atomic_contention"}) and hottest:
            places = " and ".join(f"{count} in {name}" for name, count in hottest)
            found.append(f"most updates of one address: {places}")
        for name, words in _BESIDES.items():
            if self.named is None and (count := getattr(counters, name)):
                found.append(f"{count} {words}")
        if found:
            yield from textwrap.wrap(
                ", ".join(found),
                _width(),
                initial_indent=f"  {'also':>6}  ",
                subsequent_indent=" " * 10,
            )

    def _asks(self, names: Collection[str]) -> bool:
        return self.named is None or not set(names).isdisjoint(self.named)


_MARGIN = 12  # columns for mark, line number and what is between
_SECTORS = {
    direction: {f"global_{direction}_{what}" for what in ("sectors", "ideal_sectors", "efficiency")}
    for direction in ("load", "store")
}
_BESIDES = {
    "barriers": "barriers",
    "warp_barriers": "warp barriers",
    "shuffles": "shuffles",
    "votes": "votes",
    "warp_reductions": "reductions over a warp",
}


def _width() -> int:
    return max(WIDTH, shutil.get_terminal_size().columns)


def _with_lines_between(counted: Sequence[int]) -> list[int]:
    filled: list[int] = []
    for line in counted:
        between = line - filled[-1] - 1 if filled else 0
        filled += [GAP] if between > 1 else [line - 1] * between
        filled.append(line)
    return filled


def _dedented(code: Mapping[int, str]) -> dict[int, str]:
    """Without the spaces that all lines begin with."""
    spaces = [len(text) - len(text.lstrip()) for text in code.values() if text.strip()]
    return {line: text[min(spaces, default=0) :] for line, text in code.items()}


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
