"""Sentences for races: both threads, both lines, both values, the place, and why no order holds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.faults import FaultKind, KernelFault, Place, short
from simulator.observing.events import Access, Kind, Space
from simulator.observing.happens_before import HappensBefore
from simulator.observing.shared_names import shared_element
from simulator.reading.ptx import Entry
from simulator.running.buffers import Buffer
from simulator.running.wave import unravel

_TOGETHER = (
    "both execute the same instruction",
    "Give each thread an element of its own, or update it with an atomic.",
)


@dataclass(frozen=True, slots=True)
class Party:
    """One of the two threads at a place.

    thread  its number in the grid; -1: not known any more
    lane    in the wave, of the later one
    value   what it stores, or what lies there; None: not known
    issued  when its copy was started, if it was a copy
    """

    access: Access
    thread: int
    lane: int | None
    moment: int
    value: Any
    issued: int | None

    @property
    def line(self) -> int:
        return self.access.instruction.line


class Reporter:
    """Words for the races of one launch."""

    def __init__(self, entry: Entry, order: HappensBefore) -> None:
        self._order = order
        self._shared = entry.shared

    # ---- the fault and the notes

    def fault(
        self, kind: FaultKind, later: Party, earlier: Party, byte: int, buffer: Buffer
    ) -> KernelFault:
        place = self._place(later.thread)
        where = self._where(later, byte, buffer)
        if kind is FaultKind.UNFINISHED_COPY:
            return self._unfinished(later, earlier, where, place)
        reason, advice = self._reason(later, earlier)
        return KernelFault(
            kind,
            f"{self._both(later, earlier, where)}, in no order:\n{reason}",
            line=later.line,
            expected="Where one thread writes and another one reads or writes, a barrier stands "
            "between, or a flag with its fences.",
            advice=advice,
            place=place,
        )

    def _both(self, later: Party, earlier: Party, where: str) -> str:
        one, other = self._place(later.thread), self._other(later, earlier)
        does, did = _does(later, where), _did(earlier, "it")
        if later.line and later.line == earlier.line:
            return f"{one} {does} and {other} {did}, both at line {later.line}"
        return f"{one} {does}{_at(later)}, {other} {did}{_at(earlier)}"

    def _unfinished(self, later: Party, earlier: Party, where: str, place: Place) -> KernelFault:
        side = "into" if earlier.access.space is Space.SHARED else "from"
        return KernelFault(
            FaultKind.UNFINISHED_COPY,
            f"{place} {_does(later, where)}{_at(later)}, and nothing makes it wait for the copy "
            f"(cp.async) {side} it that {self._other(later, earlier)} started{_at(earlier)}",
            line=later.line,
            expected="The thread that starts a copy waits for it, and a barrier behind that wait "
            "lets the others know.",
            advice="Put __syncthreads() behind the wait (wait_group), before the first use.",
            place=place,
        )

    def same_value(self, later: Party, earlier: Party, byte: int, buffer: Buffer) -> str:
        where = self._where(later, byte, buffer)
        return (
            f"{self._place(later.thread)}{_at(later)} and {self._other(later, earlier)}"
            f"{_at(earlier)} write the same value to {where} in no order: the outcome is certain"
        )

    def look(self, later: Party, earlier: Party, byte: int, buffer: Buffer) -> str:
        where = self._where(later, byte, buffer)
        return (
            f"{self._both(later, earlier, where)}, in no order. A plain read beside an atomic may "
            "be out of date, and the compiler may keep it: read through volatile"
        )

    def by_shuffle(self, later: Party, earlier: Party, byte: int, buffer: Buffer) -> str:
        where = self._where(later, byte, buffer)
        return (
            f"{self._both(later, earlier, where)}; only a shuffle, a vote or the like stands "
            "between, which promises no order of memory: __syncwarp() does"
        )

    # ---- why there is no order

    def _reason(self, later: Party, earlier: Party) -> tuple[str, str]:
        """(why the two have no order, what to try)."""
        padded = self._order.wave.padded
        shared = later.access.space is Space.SHARED
        between = _between(later, earlier)
        if earlier.thread >> 5 == later.thread >> 5 and earlier.thread >= 0:
            if earlier.moment == later.moment:
                return _TOGETHER
            return (
                f"they are lanes of one warp, which need not run in lock step: no __syncwarp() "
                f"stands {between}",
                f"Put __syncwarp() {between}, or __syncthreads() where other warps take part.",
            )
        if earlier.thread >= 0 and earlier.thread // padded == later.thread // padded:
            return self._in_one_block(later, earlier, between, shared)
        return self._in_two_blocks(later, earlier)

    def _in_one_block(
        self, later: Party, earlier: Party, between: str, shared: bool
    ) -> tuple[str, str]:
        if earlier.moment == later.moment:
            return _TOGETHER
        updates = Kind.ATOMIC in (later.access.kind, earlier.access.kind)
        more = "An atomic orders nothing around it. " if updates and shared else ""
        return (
            f"no __syncthreads() stands {between}",
            f"{more}Put __syncthreads() {between}, where all threads of the block come by.",
        )

    def _in_two_blocks(self, later: Party, earlier: Party) -> tuple[str, str]:
        flags = self._order.flags
        if later.access.narrow or earlier.access.narrow:
            return (
                "they are in two blocks, and an atomic of block scope is one only among the "
                "threads of its own block",
                "Let both name the device as their scope.",
            )
        if flags is not None and later.lane is not None and earlier.thread >= 0:
            if flags.has_seen(later.lane, earlier.thread, earlier.moment):
                return (
                    "a flag that tells of it was seen, but no __threadfence() stands between that "
                    f"look and line {later.line}",
                    "Put __threadfence() behind the look at the flag, before the data is read.",
                )
            told = self._fence_of(earlier)
            if told is not None:
                return told
        return (
            "they are in two blocks, and blocks have no order within a launch",
            "Let each block keep to its own elements, use an atomic, or cut the kernel in two: a "
            "new launch comes after all of the last one.",
        )

    def _fence_of(self, earlier: Party) -> tuple[str, str] | None:
        """What the earlier thread's fences lack."""
        lane = self._lane(earlier.thread)
        assert self._order.flags is not None
        if lane is None:
            return None
        last = self._order.flags.fences.last
        if last[True][lane] > earlier.moment:
            return None
        if last[False][lane] > earlier.moment:
            return (
                "the fence behind the access "
                f"{_at(earlier).strip()} orders it for its own block only, and they are in two",
                "Use __threadfence(), which reaches all blocks, or a scope of the device.",
            )
        return (
            "they are in two blocks, and no __threadfence() stands between line "
            f"{earlier.line} and a flag that would tell of it",
            "Write the data, then __threadfence(), then raise the flag; behind the look at the "
            "flag, __threadfence() again.",
        )

    # ---- names

    def _lane(self, thread: int) -> int | None:
        """The lane of a thread, if it is in this wave."""
        found = np.flatnonzero(self._order.thread == thread)
        return int(found[0]) if len(found) else None

    def _place(self, thread: int) -> Place:
        wave = self._order.wave
        block, own = divmod(thread, wave.padded)
        return Place(unravel(block, wave.grid), unravel(own, wave.block))

    def _other(self, later: Party, earlier: Party) -> str:
        if earlier.thread < 0:
            return "another thread"
        one, other = self._place(later.thread), self._place(earlier.thread)
        if one.block == other.block:
            return f"thread {short(other.thread)} of the same block"
        return str(other)

    def _where(self, later: Party, byte: int, buffer: Buffer) -> str:
        """buffer[index], or the __shared__ array by its name."""
        if later.access.space is Space.GLOBAL:
            size = (buffer.element or later.access.element).itemsize
            return f"{buffer.name}[{(byte - buffer.origin) // size}]"
        own = byte % self._order.wave.shared_stride
        return shared_element(self._shared, own, later.access)


def _between(later: Party, earlier: Party) -> str:
    lines = sorted({later.line, earlier.line} - {0})
    if len(lines) == 2:
        return f"between line {lines[0]} and line {lines[1]}"
    return "between the two"


def _at(party: Party) -> str:
    return f" at line {party.line}" if party.line else ""


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)


def _does(party: Party, where: str) -> str:
    if party.access.kind is Kind.ATOMIC:
        return f"updates {where}"
    if party.access.kind is Kind.LOAD:
        return f"reads {where}"
    return f"writes {where}" if party.value is None else f"writes {_value(party.value)} to {where}"


def _did(party: Party, where: str) -> str:
    if party.access.kind is Kind.ATOMIC:
        return f"updates {where}"
    if party.access.kind is Kind.LOAD:
        return f"reads {where}" + ("" if party.value is None else f" ({_value(party.value)})")
    return f"writes {where}" if party.value is None else f"writes {_value(party.value)} to {where}"
