"""Who waits for whom, said when nobody can run any more.

A lane that is parked in a loop waits for a word of memory: the one that the loop reads so that it
sees others' writes. Who wrote that word last may wait too, and so on: two locks taken in opposite
order show as a ring.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.faults import FaultKind, KernelFault, Place, short
from simulator.observing.events import Kind, MemoryEvent, Space
from simulator.observing.shared_names import spoken
from simulator.reading.lines import with_calls
from simulator.running.lanes import Lanes
from simulator.running.wave import Wave, unravel
from simulator.running.writers import Writer, Writers, buffer_of, bytes_of

NOT_STARTED = "not started"
_LONGEST = 6  # threads told of
_LOOKED_AT = 4096  # lanes of a loop


@dataclass(frozen=True, slots=True)
class Waiting:
    """Lanes parked in one loop.

    line    of the loop
    asks    it waits for others; else it only goes round and round
    events  what they access in one more turn
    """

    lanes: Lanes
    line: int | None
    asks: bool
    events: list[MemoryEvent]


@dataclass(frozen=True, slots=True)
class Held:
    """Lanes that wait somewhere else for those in a loop: `at` is "the barrier", for instance."""

    lanes: Lanes
    at: str
    line: int | None


@dataclass(frozen=True, slots=True)
class _Word:
    """What a lane waits for."""

    event: MemoryEvent
    byte: int  # in the buffer, or in all shared memory
    inside: int  # in the buffer, or in the block's shared memory


class Deadlock:
    """All who are left, and what is known of them."""

    def __init__(
        self,
        wave: Wave,
        parties: list[Waiting],
        held: list[Held],
        writers: Writers | None,
        shared_names: dict[str, int],
        foretell: Callable[[], Writers | None],
    ) -> None:
        """foretell: what the blocks that start when some of these have ended would write."""
        self.wave = wave
        self.parties = parties
        self.held = held
        self.writers = writers
        self.shared_names = shared_names
        self.foretell = foretell

    def fault(self) -> KernelFault:
        """What to tell: of a loop that waits for others, if there is one."""
        party = next((p for p in self.parties if p.asks), self.parties[0])
        lane = int(party.lanes.indices()[0])
        place = self.wave.place(lane)
        words = self.wave.words
        if not party.asks:
            return KernelFault(
                FaultKind.ENDLESS_LOOP,
                f"{place} loops for ever: it comes back to where it was, and nothing else changes "
                f"({self._count()} in all)",
                line=party.line,
                expected="Something in the loop's condition moves in every turn.",
                advice=words.endless,
                place=place,
            )
        told, ring = self._chain(party, lane)
        absent = [] if ring else self._not_started()
        if absent and (missing := self._missing()) is not None:
            party, lane, line = missing
            place, told = self.wave.place(lane), [line]
        if ring:
            headline = f"{', '.join(map(str, ring[:-1]))} and {ring[-1]} wait for each other"
            expected = words.ring_expected
            advice = "Take locks in the same order everywhere, or give one back before you wait."
        else:
            headline = f"{place} waits in a loop, and nobody is left to change what it waits for"
            if not (several := self._count()).startswith("1 "):
                headline = (
                    f"{several} wait in loops, and nobody is left to change what they wait for"
                )
            expected = "Whoever is waited for runs and writes the value."
            advice = words.nobody_left
        lines = [headline, *told, *self._held(place), *absent]
        return KernelFault(
            FaultKind.DEADLOCK,
            "\n  ".join(lines),
            line=party.line,
            expected=expected,
            advice=advice,
            place=place,
        )

    def _count(self) -> str:
        """Of all who are in loops: "12 threads"."""
        lanes = np.concatenate([party.lanes.indices() for party in self.parties])
        blocks = len(np.unique(self.wave.slot[lanes]))
        return self.wave.words.count(len(lanes), blocks)

    def _chain(self, party: Waiting, lane: int) -> tuple[list[str], list[Place]]:
        """(a line for a lane, one for whom it waits for …; those who wait for each other)."""
        told: list[str] = []
        named: dict[int, str] = {}  # lanes, and the words that they wait for
        while True:
            word = self._word(party, lane)
            waits = self._waits(party, lane, word)
            if word is None:
                return [*told, waits], []
            named[lane] = self._name(word)
            writer = self.writers.of(word.event, word.byte) if self.writers is not None else None
            if writer is None:
                return [*told, f"{waits}, which nobody has written"], []
            found = self._lane(writer.block, writer.thread)
            line = f" at {with_calls(writer.line)}" if writer.line else ""
            who = self._place(writer)
            if found == lane:
                return [*told, f"{waits}, which it wrote itself{line}"], []
            next_party = None if found is None else self._party(found)
            next_word = None
            if found is not None and next_party is not None:
                next_word = self._word(next_party, found)
            waits = f"{waits}; {who} wrote that{line}"
            if found is None or next_party is None:
                return [*told, f"{waits} and {self._whereabouts(found)}"], []
            if next_word is not None and self._name(next_word) == named[lane]:
                return [*told, f"{waits} and waits for it too"], []
            told.append(waits)
            if found in named or len(named) == _LONGEST:
                ring = list(named)
                ring = ring[ring.index(found) :] if found in named else []
                return told, [self.wave.place(k) for k in ring]
            party, lane = next_party, found

    def _waits(self, party: Waiting, lane: int, word: _Word | None) -> str:
        at = f"{self.wave.place(lane)}{f', {with_calls(party.line)}' if party.line else ''}"
        if word is None:
            return f"{at}: waits for memory to change"
        return f"{at}: waits for {self._name(word)} to change from {self._value(word)}"

    def _missing(self) -> tuple[Waiting, int, str] | None:
        """Who waits for a block that has not started: (its loop, the lane, what to say)."""
        later = self.foretell()
        if later is None:
            return None
        for party in self.parties:
            for lane in party.lanes.indices()[:_LOOKED_AT].tolist() if party.asks else ():
                word = self._word(party, lane)
                writer = None if word is None else later.of(word.event, word.byte)
                if writer is None or not np.isin(writer.block, self.wave.later):
                    continue
                line = f" at {with_calls(writer.line)}" if writer.line else ""
                waits = self._waits(party, lane, word)
                return party, lane, f"{waits}; {self._place(writer)} would write that{line}"
        return None

    def _place(self, writer: Writer) -> Place:
        return self.wave.place_of(writer.block, writer.thread)

    def _whereabouts(self, lane: int | None) -> str:
        if lane is None or not self.wave.alive[lane]:
            return "has returned"
        for held in self.held:
            if _holds(held.lanes, lane):
                return f"waits at {held.at}{f' at {with_calls(held.line)}' if held.line else ''}"
        return "waits elsewhere"

    def _party(self, lane: int) -> Waiting | None:
        return next((p for p in self.parties if _holds(p.lanes, lane)), None)

    def _lane(self, block: int, thread: int) -> int | None:
        """The lane of a thread of this wave."""
        slots = np.flatnonzero(self.wave.blocks == block)
        return int(slots[0]) * self.wave.padded + thread if len(slots) else None

    def _held(self, place: Place) -> list[str]:
        """Who waits elsewhere, of the block of the thread that is named."""
        if not self.wave.words.tells_of_threads:
            return []
        slot = next(k for k in range(len(self.wave.blocks)) if self.wave.block_at(k) == place.block)
        counts: dict[str, list[int]] = {}  # by where, the lanes
        for held in self.held:
            indices = held.lanes.indices()
            where = f"at {held.at}{f' at {with_calls(held.line)}' if held.line else ''}"
            counts.setdefault(where, []).extend(indices[self.wave.slot[indices] == slot].tolist())
        return [
            f"{len(lanes)} threads of block {short(place.block)} wait {where}"
            if len(lanes) > 1
            else f"{self.wave.place(lanes[0])} waits {where}"
            for where, lanes in counts.items()
            if lanes
        ]

    # ---- the word that a lane waits for

    def _word(self, party: Waiting, lane: int) -> _Word | None:
        """What a lane reads in a turn of its loop so that it sees others' writes."""
        strong = [e for e in party.events if e.access.strong]
        for event in strong or party.events:
            access = event.access
            if access.kind is Kind.STORE or access.space not in (Space.GLOBAL, Space.SHARED):
                continue
            place = self._place_in(event.lanes, lane)
            if place is None:
                continue
            inside = int(event.addresses.offsets()[place]) + event.offset
            return _Word(event, int(bytes_of(event)[place]), inside)
        return None

    def _place_in(self, lanes: Lanes, lane: int) -> int | None:
        """Where a lane is among others; where no threads are told of, anyone of its block will do.

        In code of Triton's one thread looks for all of its block.
        """
        indices, slot = lanes.indices(), self.wave.slot
        own = indices == lane if self.wave.words.tells_of_threads else slot[indices] == slot[lane]
        return int(np.argmax(own)) if own.any() else None

    def _name(self, word: _Word) -> str:
        access = word.event.access
        if access.space is Space.SHARED:
            names = [(at, n) for n, at in self.shared_names.items() if at <= word.inside]
            if not names:
                return f"byte {word.inside} of its block's shared memory"
            at, name = max(names)
            size = access.element.itemsize
            return f"{spoken(name)}[{(word.inside - at) // size}] in its block's shared memory"
        buffer = buffer_of(word.event)
        size = (buffer.element or access.element).itemsize
        return f"{spoken(buffer.name)}[{(word.inside - buffer.origin) // size}]"

    def _value(self, word: _Word) -> Any:
        buffer, element = buffer_of(word.event), word.event.access.element
        if buffer.element is not None and buffer.element.itemsize == element.itemsize:
            element = buffer.element
        elif element.kind == "u":
            element = np.dtype(f"i{element.itemsize}")  # PTX does not tell; most flags are an int
        return buffer.data[word.byte : word.byte + element.itemsize].view(element)[0].item()

    def _not_started(self) -> list[str]:
        """Who cannot be waited for: the blocks that start when some of these have ended."""
        later, grid, words = self.wave.later, self.wave.grid, self.wave.words
        if not len(later):
            return []
        first, last = short(unravel(int(later.min()), grid)), short(unravel(int(later.max()), grid))
        if len(later) == 1:
            names = f"{words.block} {first} has"
        elif later.max() - later.min() == len(later) - 1:
            names = f"{words.blocks} {first} .. {last} have"
        else:
            names = f"{len(later)} {words.blocks}, {first} among them, have"
        together = len(self.wave.blocks)
        resident = f"{together} {'are' if together > 1 else 'is'} resident"
        return [f"{names} {NOT_STARTED}: only {resident}"]


def _holds(lanes: Lanes, lane: int) -> bool:
    if lanes.index is None:
        return True
    place = int(np.searchsorted(lanes.index, lane))
    return place < lanes.count and int(lanes.index[place]) == lane
