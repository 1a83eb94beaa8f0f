"""The figures that may stand beside a line of source: what each shows, and against which ideal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulator import Counters

    Figure = Callable[[Counters], int]

NOTABLE_LANES = 0.9  # a kernel that keeps fewer of its lanes active has them shown unasked


@dataclass(frozen=True, slots=True)
class Column:
    """One figure beside a line; a column of zeros is left out.

    title    two rows of it
    names    the counters that it helps to understand
    value    what is counted
    best     what would have done, or None where there is no better and no worse
    cell     how the two are written
    whole    of what the waste is a part: the value itself, or more
    saying   what a line's figures mean: of {line}, {got} where {best} would do; {often} in words,
             for {each} of the whole, {lanes} of 32
    unasked  whether it is shown where no counter is named
    """

    title: tuple[str, str]
    names: tuple[str, ...]
    value: Figure
    cell: Callable[[Counters], str]
    best: Figure | None = None
    whole: Figure | None = None
    saying: str = ""
    unasked: Callable[[Counters], bool] = lambda counters: False

    def waste(self, counters: Counters) -> int:
        """What a better kernel would not have."""
        return abs(self.value(counters) - self.best(counters)) if self.best is not None else 0

    def wasted(self, counters: Counters) -> float:
        """The same as a part of the whole, 0 .. 1."""
        whole = (self.whole or self.value)(counters)
        return self.waste(counters) / whole if whole else 0.0

    def says(self, line: int, counters: Counters) -> str:
        """How far from its best a line is, in plain words."""
        got, best = self.value(counters), self.best(counters) if self.best is not None else 0
        whole = (self.whole or self.best or self.value)(counters)
        part = got / whole if whole else 0.0
        return self.saying.format(
            line=f"line {line}",
            got=got,
            best=best,
            often="once" if got == 1 else f"{got} times",
            each=f"{part:.3g}",
            lanes=f"{32 * part:.2g}",
        )


def _named(name: str) -> Figure:
    return lambda counters: int(getattr(counters, name))


def _always(counters: Counters) -> bool:
    return True


def _plain(above: str, below: str, *names: str, own: str = "") -> Column:
    """A counter without a better and a worse, shown where one of `names` is named.

    own  the counter, where it is not the sum of those that are named
    """
    counted = (own,) if own else names

    def value(counters: Counters) -> int:
        return sum(int(getattr(counters, name)) for name in counted)

    return Column((above, below), names, value, lambda c: str(value(c) or ""))


def _against(
    title: tuple[str, str], names: tuple[str, ...], value: Figure, best: Figure, saying: str
) -> Column:
    """`32/4 8.0×`: what came, what would have done, and how many times that it is."""

    def cell(counters: Counters) -> str:
        got, ideal = value(counters), best(counters)
        if not got:
            return ""
        return f"{got}/{ideal} {got / ideal:.1f}×" if 0 < ideal < got else f"{got}/{ideal}"

    return Column(title, names, value, cell, best, saying=saying, unasked=_always)


def _sectors(direction: str) -> Column:
    name = f"global_{direction}"
    return _against(
        (direction, "sectors/ideal"),
        (f"{name}_sectors", f"{name}_ideal_sectors", f"{name}_efficiency"),
        _named(f"{name}_sectors"),
        _named(f"{name}_ideal_sectors"),
        f"{{line}} {direction}s {{got}} sectors of 32 bytes; the bytes it uses fill {{best}}",
    )


def _passes(direction: str) -> Column:
    name = f"shared_{direction}"
    return _against(
        (f"shared {direction}", "passes/ideal"),
        (f"{name}_wavefronts", f"{name}_conflicts"),
        _named(f"{name}_wavefronts"),
        lambda c: int(getattr(c, f"{name}_wavefronts") - getattr(c, f"{name}_conflicts")),
        "{line} takes {got} passes through the banks of shared memory; without conflicts {best}",
    )


def _conflicts(direction: str) -> Column:
    return _plain(f"{direction} bank", "conflicts", f"shared_{direction}_conflicts")


def _local_sectors(counters: Counters) -> int:
    return counters.local_load_sectors + counters.local_store_sectors


def _percent(counters: Counters) -> str:
    return f"{counters.execution_efficiency:.0%}" if counters.warp_instructions else ""


def _divergent(counters: Counters) -> str:
    return f"{counters.divergent_branches} of {counters.branches}" if counters.branches else ""


def _of_class(word: str) -> Column:
    return _plain(word, "instructions", f"{word}_instructions")


COLUMNS = (
    Column(
        ("warp", "instructions"),
        ("warp_instructions", "thread_instructions", "execution_efficiency"),
        _named("warp_instructions"),
        lambda c: str(c.warp_instructions or ""),
        unasked=_always,
    ),
    _plain("threads'", "instructions", "thread_instructions"),
    Column(
        ("active", "lanes"),
        ("thread_instructions", "execution_efficiency"),
        _named("thread_instructions"),
        _percent,
        best=lambda c: 32 * c.warp_instructions,
        whole=lambda c: 32 * c.warp_instructions,
        saying="{line} runs with {lanes} of a warp's 32 lanes on average",
        unasked=lambda c: c.execution_efficiency < NOTABLE_LANES,
    ),
    *(_of_class(word) for word in ("integer", "fma", "double", "special", "tensor")),
    *(_of_class(word) for word in ("convert", "move")),
    *(_of_class(word) for word in ("memory", "exchange", "control")),
    _plain("float", "operations", "float_operations"),
    _plain("tensor-core", "products", "mma"),
    _plain("of them with", "copies under way", "overlapped_mma"),
    _plain("load", "requests", "global_load_requests", "loads_in_flight",
           own="global_load_requests"),
    _sectors("load"),
    _plain("load", "bytes", "global_load_bytes", "global_load_efficiency",
           own="global_load_bytes"),
    _plain("copy", "requests", "async_copy_requests", "loads_in_flight",
           own="async_copy_requests"),
    _against(
        ("copy", "sectors/ideal"),
        ("async_copy_sectors", "async_copy_ideal_sectors", "async_copy_efficiency"),
        _named("async_copy_sectors"),
        _named("async_copy_ideal_sectors"),
        "{line} copies {got} sectors of 32 bytes; the bytes it uses fill {best}",
    ),
    _plain("copy", "bytes", "async_copy_bytes", "async_copy_efficiency", own="async_copy_bytes"),
    _against(
        ("copies'", "passes/ideal"),
        ("async_copy_wavefronts", "async_copy_conflicts"),
        _named("async_copy_wavefronts"),
        lambda c: int(c.async_copy_wavefronts - c.async_copy_conflicts),
        "{line} copies in {got} passes through the banks; without conflicts {best}",
    ),
    _plain("copies' bank", "conflicts", "async_copy_conflicts"),
    _plain("waits", "for loads", "load_waits", "loads_in_flight", own="load_waits"),
    _plain("store", "requests", "global_store_requests"),
    _sectors("store"),
    _plain("store", "bytes", "global_store_bytes", "global_store_efficiency",
           own="global_store_bytes"),
    _plain("local", "requests", "local_load_requests", "local_store_requests"),
    Column(
        ("local", "sectors"),
        ("local_load_sectors", "local_store_sectors"),
        _local_sectors,
        lambda c: str(_local_sectors(c) or ""),
        best=lambda c: 0,
        saying="{line} moves {got} sectors of local memory; what is in registers moves none",
        unasked=_always,
    ),
    _plain("local", "bytes", "local_load_bytes", "local_store_bytes"),
    _plain("shared", "requests", "shared_load_requests", "shared_store_requests"),
    _conflicts("load"),
    _passes("load"),
    _conflicts("store"),
    _passes("store"),
    Column(
        ("divergent", "branches"),
        ("divergent_branches", "branches", "execution_efficiency"),
        _named("divergent_branches"),
        _divergent,
        best=lambda c: 0,
        whole=_named("branches"),
        saying="{line} sends the lanes of a warp both ways {often}",
        unasked=_always,
    ),
    _against(
        ("atomic", "turns/ideal"),
        ("atomics", "atomic_turns", "atomic_contention", "hottest_updates"),
        _named("atomic_turns"),
        _named("atomics"),
        "{line}: of a warp's lanes {each} want the same address, on average, and take turns",
    ),
    _plain("atomic", "updates", "atomic_lanes", "hottest_updates", own="atomic_lanes"),
    _plain("global", "atomics", "global_atomic_requests"),
    _plain("atomic", "sectors", "global_atomic_sectors"),
    _plain("shared", "atomics", "shared_atomic_requests"),
    _plain("turns", "at a bank", "shared_atomic_turns"),
    _plain("block", "barriers", "barriers"),
    _plain("warp", "barriers", "warp_barriers"),
    _plain("warp", "shuffles", "shuffles"),
    _plain("warp", "votes", "votes"),
    _plain("warp", "reductions", "warp_reductions"),
)  # fmt: skip
COUNTERS = frozenset(name for column in COLUMNS for name in column.names)
