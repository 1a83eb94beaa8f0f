"""`profile(fn)`: what the simulator counted while fn ran, by kernel and by source line."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import pytest

from harness.judging.mismatch import Mismatch

if TYPE_CHECKING:
    from harness.judging.counter_report import CounterTable
    from harness.launching.recording import LaunchRecord
    from simulator import CallPath, Counters, Traffic

Result = TypeVar("Result")


@dataclass(frozen=True)
class KernelProfile:
    """All launches of one kernel, added up."""

    name: str
    launches: tuple[LaunchRecord, ...]

    def __repr__(self) -> str:
        return f"<profile of {self.name}>"

    @property
    def source(self) -> Path:
        return self.launches[0].path

    @property
    def grid(self) -> tuple[int, int, int]:
        return self._only().grid

    @property
    def block(self) -> tuple[int, int, int]:
        return self._only().block

    @cached_property
    def counters(self) -> Counters:
        return total(launch.launched.counters for launch in self.launches)

    @cached_property
    def lines(self) -> dict[int, Counters]:
        """The counters of each line of the kernel's source that has any."""
        found: dict[int, list[Counters]] = {}
        for launch in self.launches:
            for line, counters in launch.launched.lines.items():
                found.setdefault(line, []).append(counters)
        return {line: total(found[line]) for line in sorted(found)}

    @cached_property
    def paths(self) -> dict[CallPath, Counters]:
        """The counters of each line, apart for each way of calls that leads to it."""
        found: dict[CallPath, list[Counters]] = {}
        for launch in self.launches:
            for path, counters in launch.launched.paths.items():
                found.setdefault(path, []).append(counters)
        return {path: total(parts) for path, parts in found.items()}

    @cached_property
    def buffers(self) -> dict[str, Traffic]:
        """The bytes that an ideal cache would move for each tensor, by the parameter's name."""
        found: dict[str, list[Traffic]] = {}
        for launch in self.launches:
            for name, traffic in launch.launched.buffers.items():
                found.setdefault(name, []).append(traffic)
        return {name: total(traffic) for name, traffic in found.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for launch in self.launches for note in launch.launched.notes)

    def line(self, text: str) -> Counters:
        """The counters of the source lines that contain `text`, added up.

        What a function does that was put inline counts for the line that calls it too. Spaces do
        not matter: "c[i]" finds `c[ i ]`. Comments are not searched.
        """
        __tracebackhide__ = True
        code = _code_lines(self.source)
        wanted = _squeezed(text)
        matching = [number for number, line in code.items() if wanted in _squeezed(line)]
        wanted_lines = set(matching)
        counted = [
            counters
            for path, counters in self.paths.items()
            if any(not frame.file and frame.line in wanted_lines for frame in path)
        ]
        if counted:
            return total(counted)
        if matching:
            raise Mismatch(
                f"no instruction of {self.name} comes from line {matching[0]}, "
                f"`{code[matching[0]].strip()}`: the compiler removed it or moved it\n"
                + self._counted_lines(code)
            )
        raise Mismatch(f'no line of {self.name} contains "{text}"\n' + self._counted_lines(code))

    def _counted_lines(self, code: Mapping[int, str]) -> str:
        shown = [f"  {line:>4}  {code.get(line, '').rstrip()}" for line in self.lines][:20]
        return "\n".join([f"  lines with instructions in {self.source.name}:", *shown])

    def _only(self) -> LaunchRecord:
        __tracebackhide__ = True
        if len(self.launches) != 1:
            raise Mismatch(
                f"{self.name} was launched {len(self.launches)} times; this test looks at the "
                "shape of a single launch"
            )
        return self.launches[0]


class Profile(Sequence["LaunchRecord"], Generic[Result]):
    """The launches of one call in order, and what the call returned."""

    def __init__(self, launches: Sequence[LaunchRecord], result: Result) -> None:
        self.launches = tuple(launches)
        self.result = result
        self._looked_at: dict[str, KernelProfile] = {}

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels' names, each once, in the order of their first launch."""
        return tuple(dict.fromkeys(launch.kernel for launch in self.launches))

    @property
    def counters(self) -> Counters:
        """Everything the call did, all kernels added up."""
        for name in self.kernels:
            self._kernel(name)
        return total(launch.launched.counters for launch in self.launches)

    @overload
    def __getitem__(self, key: str) -> KernelProfile: ...
    @overload
    def __getitem__(self, key: int) -> LaunchRecord: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[LaunchRecord]: ...
    def __getitem__(
        self, key: str | int | slice
    ) -> KernelProfile | LaunchRecord | Sequence[LaunchRecord]:
        __tracebackhide__ = True
        if isinstance(key, str):
            return self._kernel(key)
        if isinstance(key, int):
            self._kernel(self.launches[key].kernel)
        return self.launches[key]

    def __contains__(self, kernel: object) -> bool:
        return kernel in self.kernels or kernel in self.launches

    def __iter__(self) -> Iterator[LaunchRecord]:
        return iter(self.launches)

    def __len__(self) -> int:
        return len(self.launches)

    def __repr__(self) -> str:
        return f"<profile of {', '.join(self.kernels)}>"

    def tables(self, named: Collection[str] | None = None) -> list[CounterTable]:
        """The tables of the kernels that the test looked at, about the counters `named`."""
        from harness.judging.counter_report import ROOM, ROOM_IN_A_FAILURE, CounterTable

        room = ROOM if named is None else ROOM_IN_A_FAILURE
        tables = [
            CounterTable(
                kernel.name,
                kernel.source,
                kernel.lines,
                kernel.counters,
                named,
                room,
                hottest={
                    name: one.hottest_updates
                    for name, one in kernel.buffers.items()
                    if one.hottest_updates
                },
            )
            for kernel in self._looked_at.values()
        ]
        return [table for table in tables if table.columns]

    def _kernel(self, name: str) -> KernelProfile:
        __tracebackhide__ = True
        if name not in self._looked_at:
            launches = tuple(launch for launch in self.launches if launch.kernel == name)
            if not launches:
                raise Mismatch(
                    f"{name} was not launched\n"
                    f"  launched instead: {', '.join(self.kernels) or 'no kernel'}"
                )
            self._looked_at[name] = KernelProfile(name, launches)
        return self._looked_at[name]


# What a test profiled, for the plugin to show when the test fails.
COUNTER_TABLES = pytest.StashKey[list[Profile[Any]]]()


def counter_tables_of(item: pytest.Item, named: Collection[str] | None = None) -> list[str]:
    """The learner's source with counts, one text for each kernel that the test looked at.

    `named`: the counters that matter; all without it.
    """
    return [
        str(table)
        for profile in item.stash.get(COUNTER_TABLES, [])
        for table in profile.tables(named)
    ]


class Profiler:
    """The `profile` fixture: runs a call on the simulator with counters on."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def __call__(self, function: Callable[[], Result]) -> Profile[Result]:
        __tracebackhide__ = True
        from harness.launching import launch_settings
        from harness.launching.recording import recording

        with launch_settings.changed(device="cpu", counters=True), recording() as launches:
            result = function()
        if not launches:
            raise Mismatch(
                "no kernel was launched\n"
                "  expected at least one launch on CPU tensors, which run on the simulator\n"
                "  Does the host function call its kernel, and return before it does?"
            )
        profile = Profile(launches, result)
        self._item.stash.setdefault(COUNTER_TABLES, []).append(profile)
        return profile


Sums = TypeVar("Sums", "Counters", "Traffic")


def total(parts: Iterable[Sums]) -> Sums:
    """The sum as the parts add themselves: a maximum among their figures stays a maximum."""
    return reduce(operator.add, parts)


def _code_lines(source: Path) -> dict[int, str]:
    """The source by line number from 1 on, without what follows // or #."""
    marker = "#" if source.suffix == ".py" else "//"
    lines = source.read_text(encoding="utf-8").splitlines()
    return {number: line.split(marker)[0] for number, line in enumerate(lines, start=1)}


def _squeezed(text: str) -> str:
    return "".join(text.split())
