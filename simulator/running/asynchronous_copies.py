"""cp.async: copies from global into shared memory that go on while their lanes do something else.

A copy belongs to the group that its lane commits next, and a lane waits until all but its N newest
groups have come. PTX lets a copy take place at any time between its start and that wait. Here it
takes place at the wait, as late as it may: until then the destination holds what it held before,
and the source is not read. A program that uses the destination too early gets the old bytes, and
one that overwrites the source too early copies the new ones: both are wrong here whether or not a
check looks on. Bounds and alignment are looked at when the copy starts, as hardware does.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind, KernelFault
from simulator.observing.events import Access, Copy, MemoryEvent, Observer, Space, listeners
from simulator.running.copies_under_way import CopyInstruction, Part, Underway
from simulator.running.lanes import Lanes
from simulator.running.memory import Memory
from simulator.running.wave import Wave
from simulator.running.wording import misaligned

_ALL = 0  # groups that a wait_all leaves under way


class AsynchronousCopies:
    """The copies of one wave that are under way, oldest first.

    notes  what is worth knowing and no fault, by line
    """

    def __init__(self, wave: Wave, memory: Memory, observers: list[Observer]) -> None:
        self._wave = wave
        self._memory = memory
        self._underway: list[Underway] = []
        # Groups that a lane has committed: one number while all lanes agree, or [lanes of the wave]
        self._committed: Any = np.int64(0)
        self._started = listeners(observers, "copy_started")
        self._waited_for = listeners(observers, "copy_waited_for")
        self.notes: dict[int | None, str] = {}

    # ---- what instructions call

    def start(
        self,
        what: CopyInstruction,
        to: Any,
        to_offset: int,
        source: Any,
        source_offset: int,
        valid: Any,
        lanes: Lanes,
        guard: Any,
    ) -> None:
        """cp.async of `valid` bytes, [count] or one number, at most what.size."""
        chosen = self._chosen(lanes, guard)
        if chosen is None:
            return
        if chosen is not lanes:
            selection = self._memory.cache.selections.get(guard, lanes)
            to, source = selection.addresses(to), selection.addresses(source)
            valid, lanes = selection.part(valid), chosen
        if valid.max() > what.size:
            raise self._too_many_bytes(what, valid, lanes)
        destination = self._memory.planned(what.destination, to, to_offset, lanes)
        assert destination is not None, "shared memory is one region"
        # Unchecked: it goes past the end where lanes copy fewer bytes.
        known = self._memory.cache.find(source, lanes, Space.GLOBAL).addresses
        reading = MemoryEvent(what.source, known, source_offset, lanes, None)
        copy = Copy(destination.event, (), reading)
        group = _of(self._committed, lanes)
        under = Underway(what, copy, to, to_offset, source, source_offset, valid, lanes, group)
        parts = under.parts()
        sources: list[MemoryEvent] = []
        for part in parts:
            self._check_alignment(what, part, source_offset)
            for access, begin in what.loads(part.valid):
                sources += self._checked(access, part.source, source_offset + begin, part.lanes)
        copy.sources = tuple(sources)
        if sum(part.lanes.count for part in parts) < lanes.count:
            copy.reaching = np.broadcast_to(valid > 0, (lanes.count,))
        for tell in self._started:
            tell(copy)
        self._underway.append(under)

    def commit(self, lanes: Lanes, guard: Any) -> None:
        """cp.async.commit_group: what these lanes have started and not committed is a group."""
        chosen = self._chosen(lanes, guard)
        if chosen is None:
            return
        for under in self._underway:
            under.told.committed = True
        self._close_group(chosen)

    def wait(self, left: int | None, line: int, lanes: Lanes, guard: Any) -> None:
        """cp.async.wait_group: all but the `left` newest groups have come; None: wait_all."""
        chosen = self._chosen(lanes, guard)
        if chosen is None:
            return
        if left is None:
            self._close_group(chosen)
            left = _ALL
        if not self._underway:
            return
        limit = _of(self._committed, chosen) - left  # the first group that may be under way
        limits = np.full(self._wave.size, -1, np.int64)  # of lanes that do not wait: none has come
        limits[chosen.indices()] = limit
        waiting = np.zeros(len(self._wave.blocks), bool)
        waiting[self._wave.slots_with(chosen)] = True
        still = []
        parted: dict[tuple[int, bytes], tuple[Lanes, Lanes]] = {}  # copies of one set part alike
        for under in self._underway:
            if not waiting[self._wave.slots_with(under.lanes)].any():
                still.append(under)  # of other blocks
                continue
            due = self._due(under, chosen, limit, limits)
            if due is None:
                self._land(under)
                continue
            if due.any():
                key = (id(under.lanes), due.tobytes())
                if key not in parted:
                    parted[key] = under.lanes.split(due)
                come, others = parted[key]
                self._land(under.select(due, come))
                under = under.select(~due, others)
            under.told.left = (left, line)
            still.append(under)
        self._underway = still

    def finish(self) -> None:
        """The wave has ended: copies that nobody has waited for come as well, too late for all."""
        for under in self._underway:
            line = under.what.instruction.line
            count = sum(u.lanes.count for u in self._underway if u.what is under.what)
            self.notes.setdefault(
                line or None,
                f"line {line}: copies (cp.async) of {count} threads are under way when the kernel "
                "ends; nobody has waited for them",
            )
            self._land(under)
        self._underway = []

    # ---- groups

    def _chosen(self, lanes: Lanes, guard: Any) -> Lanes | None:
        """The lanes that a guard lets through; None: no one."""
        if guard is None:
            return lanes
        if guard.ndim == 0:
            return lanes if guard else None
        if guard.all():
            return lanes
        found = self._memory.cache.selections.get(guard, lanes).lanes
        return found if found.count else None

    def _close_group(self, lanes: Lanes) -> None:
        if lanes.index is None or lanes.count == self._wave.live.sum():
            # Everybody who is left: what those have who have returned is of no account.
            committed = _of(self._committed, lanes)
            if committed.ndim and (committed == committed[0]).all():
                committed = committed[0]
            if committed.ndim == 0:
                self._committed = committed + 1
                return
        if self._committed.ndim == 0:
            self._committed = np.full(self._wave.size, self._committed)
        self._committed[lanes.indices()] += 1

    def _due(
        self, under: Underway, lanes: Lanes, limit: Any, limits: NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """[under.lanes] whose copies have come when `lanes` have waited; None: all of them.

        limit, limits  the first group that may be under way, of `lanes` and [lanes of the wave]
        """
        covered = lanes.index is None or lanes is under.lanes
        if covered and limit.ndim == 0 and under.group.ndim == 0:
            return None if under.group < limit else np.zeros(under.lanes.count, bool)
        index = under.lanes.index
        due: NDArray[np.bool_] = under.group < (limits if index is None else limits.take(index))
        return None if due.all() else due

    # ---- bytes

    def _land(self, under: Underway) -> None:
        """The copy takes place."""
        for tell in self._waited_for:
            tell(under.told, under.lanes)
        what, parts = under.what, under.parts()
        if len(parts) == 1 and parts[0].mask is None and parts[0].valid == what.size:
            items = self._memory.load_whole(
                what.source, under.source, under.source_offset, under.lanes
            )
            self._memory.store_whole(
                what.destination, under.to, under.to_offset, items, under.lanes
            )
            return
        values = self._pieced_together(under, parts)
        self._memory.store(what.destination, under.to, under.to_offset, values, under.lanes, None)

    def _pieced_together(self, under: Underway, parts: list[Part]) -> tuple[Any, ...]:
        """What each lane stores where some copy fewer bytes than others: zero behind those."""
        bytes_ = np.zeros((under.lanes.count, under.what.size), np.uint8)
        for part in parts:
            some = slice(None) if part.mask is None else part.mask
            for access, begin in under.what.loads(part.valid):
                offset = under.source_offset + begin
                loaded = self._memory.load(access, part.source, offset, part.lanes, None)
                for k, values in enumerate(loaded):
                    size = access.element.itemsize
                    first = begin + k * size
                    wide = np.array(np.broadcast_to(values, (part.lanes.count,)))
                    bytes_[some, first : first + size] = wide.view(np.uint8).reshape(-1, size)
        return tuple(bytes_.view(under.what.destination.element).T)

    def _checked(self, access: Access, base: Any, offset: int, lanes: Lanes) -> list[MemoryEvent]:
        """What an access will tell, one event for each buffer; looked at, and told to nobody."""
        plan = self._memory.planned(access, base, offset, lanes)
        if plan is not None:
            return [plan.event]
        masks = self._memory.apart(access, base, offset, lanes)
        return [
            event
            for mask in masks
            for event in self._checked(access, base[mask], offset, lanes.select(mask))
        ]

    def _check_alignment(self, what: CopyInstruction, part: Part, offset: int) -> None:
        """A source is aligned to the whole size, also where fewer bytes are copied."""
        if part.valid == what.size:
            return  # looked at with its bounds
        known = self._memory.cache.find(part.source, part.lanes, Space.GLOBAL).addresses
        wrong = ((known.signed.reshape(-1) + offset) & (what.size - 1)) != 0
        if wrong.any():
            found = self._memory.map.find(known.low + offset)
            first = int(np.argmax(wrong))
            raise misaligned(self._wave, what.source, known, offset, found, first)

    def _too_many_bytes(self, what: CopyInstruction, valid: Any, lanes: Lanes) -> KernelFault:
        where = 0 if valid.ndim == 0 else int(np.argmax(valid > what.size))
        place = self._wave.place(int(lanes.indices()[where]))
        count = int(valid if valid.ndim == 0 else valid[where])
        return KernelFault(
            FaultKind.OUT_OF_BOUNDS,
            f"{place} asks for {count} bytes in a copy (cp.async) of {what.size}",
            line=what.instruction.line,
            expected=f"The source's size lies in 0 .. {what.size} bytes; what is missing is zero.",
            advice="A negative number of bytes counts as a huge one: clamp it at 0.",
            place=place,
        )


def _of(values: Any, lanes: Lanes) -> Any:
    """Of an array over the wave, or of one number for all, what these lanes have."""
    if values.ndim == 0:
        return values
    return values.copy() if lanes.index is None else values[lanes.index]
