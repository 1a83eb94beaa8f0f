"""Sentences for races: both threads, both lines, both values, the place, and why no order holds."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.faults import DIVERGENT_ADVICE, BarrierBetween, FaultKind, KernelFault, Place
from simulator.observing.events import Access, Kind, Space
from simulator.observing.happens_before import HappensBefore
from simulator.observing.shared_names import shared_element
from simulator.reading.lines import Line, frames_of, with_calls
from simulator.reading.ptx import Entry
from simulator.running.buffers import Buffer
from simulator.translating.barriers_between import barrier_between
from simulator.translating.program import Program
from simulator.vocabulary import Told, Vocabulary

_ORDERING = frozenset(("acquire", "release", "acq_rel", "fence", "membar"))


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
    def line(self) -> Line:
        return self.access.instruction.line


class Reporter:
    """Words for the races of one launch."""

    def __init__(self, entry: Entry, program: Program, order: HappensBefore) -> None:
        self._order = order
        self._program = program
        self._shared = entry.shared

    @property
    def _words(self) -> Vocabulary:
        return self._order.wave.words

    # ---- the fault and the notes

    def fault(
        self,
        kind: FaultKind,
        later: Party,
        earlier: Party,
        byte: int,
        buffer: Buffer,
        updates: bool = False,
    ) -> KernelFault:
        """updates: the block that writes has read the element too, as the other one does."""
        place = self._place(later.thread)
        where = self._where(later, byte, buffer)
        if kind is FaultKind.UNFINISHED_COPY:
            return self._unfinished(later, earlier, where, place)
        reason, advice = self._reason(later, earlier, updates)
        both = self._both(later, earlier, where)
        between = self._barrier_between(later, earlier, both)
        if between is not None and between.behind and between.line:
            reason = f"not both have passed the barrier of line {between.line}{between.aside}"
            advice = DIVERGENT_ADVICE
        fault = KernelFault(
            kind,
            f"{both}, in no order:\n{reason}",
            line=later.line,
            expected=self._words.race_expected,
            advice=advice,
            place=place,
        )
        fault.between = between
        return fault

    def _barrier_between(
        self, later: Party, earlier: Party, accesses: str
    ) -> BarrierBetween | None:
        """The barrier that one of two threads of a block may have gone round."""
        padded = self._order.wave.padded
        if earlier.thread < 0 or earlier.thread // padded != later.thread // padded:
            return None
        instructions = later.access.instruction, earlier.access.instruction
        found = barrier_between(self._program, *instructions)
        return found and replace(found, accesses=accesses)

    def _both(self, later: Party, earlier: Party, where: str) -> str:
        one, other = self._place(later.thread), self._other(later, earlier)
        does, did = _does(later, where), _did(earlier, "it")
        if later.line and frames_of(later.line) == frames_of(earlier.line):
            return f"{one} {does} and {other} {did}, both at {with_calls(later.line)}"
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
        return f"{self._both(later, earlier, where)}, in no order. {self._words.beside_an_atomic()}"

    def by_shuffle(self, later: Party, earlier: Party, byte: int, buffer: Buffer) -> str:
        where = self._where(later, byte, buffer)
        return (
            f"{self._both(later, earlier, where)}; only a shuffle, a vote or the like stands "
            "between, which promises no order of memory: __syncwarp() does"
        )

    # ---- why there is no order

    def _reason(self, later: Party, earlier: Party, updates: bool) -> Told:
        """Why the two have no order, and what to try."""
        padded, words = self._order.wave.padded, self._words
        if earlier.thread >= 0 and earlier.thread // padded == later.thread // padded:
            if earlier.moment == later.moment:
                return words.together()
            between = _between(later, earlier)
            if earlier.thread >> 5 == later.thread >> 5:
                return words.in_a_warp(between)
            shared = later.access.space is Space.SHARED
            updates = Kind.ATOMIC in (later.access.kind, earlier.access.kind)
            return words.in_a_block(between, shared_atomic=updates and shared)
        return self._in_two_blocks(later, earlier, updates)

    def _in_two_blocks(self, later: Party, earlier: Party, updates: bool) -> Told:
        flags = self._order.flags
        if later.access.narrow or earlier.access.narrow:
            return self._words.atomic_of_a_block()
        if flags is not None and later.lane is not None and earlier.thread >= 0:
            if flags.has_seen(later.lane, earlier.thread, earlier.moment):
                return self._words.no_acquire(f"line {later.line}")
            told = self._fence_of(earlier)
            if told is not None:
                return told
        lost = self._words.lost_update() if updates else None
        return self._by_relaxed() or lost or self._words.in_two_blocks()

    def _by_relaxed(self) -> Told | None:
        """Blocks talk to each other, and only by atomics that order nothing."""
        code = self._program.instructions
        words = {word for i in code for word in i.parts}
        if not self._program.blocks_talk or words & _ORDERING:
            return None
        relaxed = next((i for i in code if i.parts[0] == "atom" and "relaxed" in i.parts), None)
        return None if relaxed is None else self._words.relaxed(with_calls(relaxed.line))

    def _fence_of(self, earlier: Party) -> Told | None:
        """What the earlier thread's fences lack."""
        lane = self._lane(earlier.thread)
        assert self._order.flags is not None
        if lane is None:
            return None
        last = self._order.flags.fences.last
        if last[True][lane] > earlier.moment:
            return None
        if last[False][lane] > earlier.moment:
            return self._words.narrow_fence(_at(earlier).strip())
        return self._words.no_release(f"line {earlier.line}")

    # ---- names

    def _lane(self, thread: int) -> int | None:
        """The lane of a thread, if it is in this wave."""
        found = np.flatnonzero(self._order.thread == thread)
        return int(found[0]) if len(found) else None

    def _place(self, thread: int) -> Place:
        wave = self._order.wave
        return wave.place_of(*divmod(thread, wave.padded))

    def _other(self, later: Party, earlier: Party) -> str:
        if earlier.thread < 0:
            return "another thread"
        one, other = self._place(later.thread), self._place(earlier.thread)
        if one.block == other.block:
            return self._words.neighbour(other.thread)
        return str(other)

    def _where(self, later: Party, byte: int, buffer: Buffer) -> str:
        """buffer[index], or the __shared__ array by its name."""
        if later.access.space is Space.GLOBAL:
            size = (buffer.element or later.access.element).itemsize
            return f"{buffer.name}[{(byte - buffer.origin) // size}]"
        own = byte % self._order.wave.shared_stride
        return shared_element(self._shared, own, later.access)


def _between(later: Party, earlier: Party) -> str:
    """Between two lines of one function: of those that call, where the two are in others."""
    ways = [list(reversed(frames_of(party.line))) for party in (later, earlier)]
    apart = [pair for pair in zip(*ways, strict=False) if pair[0] != pair[1]]
    if apart and apart[0][0].file == apart[0][1].file:
        lines = sorted(frame.line for frame in apart[0])
        return f"between line {lines[0]} and line {lines[1]}"
    return "between the two"


def _at(party: Party) -> str:
    return f" at {with_calls(party.line)}" if party.line else ""


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
