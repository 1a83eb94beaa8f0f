"""Which suspects are a race: not the same value twice, not a look beside an atomic."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind
from simulator.observing.events import Access, Kind, Space
from simulator.observing.happens_before import HappensBefore
from simulator.observing.race_tiles import of_one_element
from simulator.observing.race_ways import CONFLICTS, STORES
from simulator.observing.race_wording import Party, Reporter
from simulator.observing.shadow import Shadow, Suspects
from simulator.observing.shadow_log import Touch
from simulator.observing.shadow_places import granules, part
from simulator.reading.ptx import Entry
from simulator.running.buffers import Buffer
from simulator.translating.program import Program

_Note = Callable[[Party, Party, int, Buffer], str]


class Judge:
    """Says what is a race, keeps notes of what is none."""

    def __init__(
        self, entry: Entry, program: Program, order: HappensBefore, strict: bool, tiles: bool
    ) -> None:
        self.order = order
        self._tiles = tiles
        self.notes: dict[int | None, str] = {}
        self._strict = strict
        self._accesses: list[tuple[Access, int | None] | None] = []  # by moment
        self._reporter = Reporter(entry, program, order)

    def remember(self, moment: int, access: Access, issued: int | None) -> None:
        """An access took place; issued: when the copy that it belongs to was started."""
        if moment > len(self._accesses):
            self._accesses += [None] * (moment - len(self._accesses))
        self._accesses.append((access, issued))

    def _access(self, moment: int) -> Access:
        known = self._accesses[moment]
        assert known is not None, "a moment at which nothing was accessed"
        return known[0]

    def _issued_at(self, moment: int) -> int | None:
        known = self._accesses[moment]
        return known and known[1]

    def judge(self, touch: Touch, suspects: Suspects, shadow: Shadow) -> None:
        """Raises KernelFault if any of the suspects is a race."""
        in_global = touch.event.access.space is Space.GLOBAL
        if suspects.conflict.look and in_global and not self._strict:
            self._note(touch, suspects, shadow, self._reporter.look)
            return
        if touch.way in STORES and suspects.conflict.earlier in STORES:
            same = _store_the_same(touch, suspects, shadow)
            if same.any():
                self._note(touch, suspects.where(same), shadow, self._reporter.same_value)
                suspects = suspects.where(~same)
        if self._tiles and len(suspects.positions):
            loads = {m: self._access(m).instruction for m in set(suspects.moments.tolist())}
            padded = self.order.wave.padded
            harmless = of_one_element(touch, suspects, shadow, loads, padded)
            suspects = suspects.where(~harmless)
        if not len(suspects.positions):
            return
        lanes = touch.event.lanes.indices()[suspects.positions]
        soft = self.order.met_without_promise(
            lanes, touch.moment, suspects.threads, suspects.moments
        )
        if soft.any():
            self._note(touch, suspects.where(soft), shadow, self._reporter.by_shuffle)
            suspects = suspects.where(~soft)
            if not len(suspects.positions):
                return
        later, earlier, byte = self._parties(touch, suspects, shadow)
        kind = FaultKind.RACE
        if earlier.issued is not None:
            lane, thread = np.array([later.lane]), np.array([earlier.thread])
            if self.order.knows(lane, thread, np.array([earlier.issued]))[0]:
                kind = FaultKind.UNFINISHED_COPY
        assert touch.event.buffer is not None
        updates = _is_an_update(
            later, earlier, byte >> shadow.shift, shadow, self.order.wave.padded
        )
        raise self._reporter.fault(kind, later, earlier, byte, touch.event.buffer, updates)

    def note_same_value(
        self,
        touch: Touch,
        one: NDArray[np.intp],
        other: NDArray[np.intp],
        granule: NDArray[np.int64],
        shift: int,
    ) -> None:
        """Two lanes of one access, [1] their positions in it, write the same to a granule [1]."""
        line = touch.event.access.instruction.line or None
        if line not in self.notes:
            itself = next(c for c in CONFLICTS[touch.way] if c.earlier is touch.way)
            threads, moments = touch.threads[other], np.array([touch.moment])
            shadow = Shadow(self.order, 0, live=False)
            shadow.shift = shift
            pair = Suspects(itself, one, granule, threads, moments)
            self._note(touch, pair, shadow, self._reporter.same_value)

    def _note(self, touch: Touch, suspects: Suspects, shadow: Shadow, told: _Note) -> None:
        line = touch.event.access.instruction.line or None
        if line not in self.notes and touch.event.buffer is not None:
            later, earlier, byte = self._parties(touch, suspects, shadow)
            self.notes[line] = told(later, earlier, byte, touch.event.buffer)

    def _parties(
        self, touch: Touch, suspects: Suspects, shadow: Shadow
    ) -> tuple[Party, Party, int]:
        """(the later one, the earlier one, the byte where they meet) of the first lane's pair."""
        first = int(np.argmin(suspects.positions))
        position = int(suspects.positions[first])
        byte = int(suspects.granules[first]) << shadow.shift
        thread, moment = int(suspects.threads[first]), int(suspects.moments[first])
        access, issued = self._access(moment), self._issued_at(moment)
        before = touch if moment == touch.moment else shadow.log.at(moment)
        value = None
        if access.kind is Kind.STORE and before is not None:
            value = _value(before, byte, thread)
        elif access.kind is Kind.LOAD and shadow.live and touch.event.buffer is not None:
            # Whoever writes now has not written yet.
            value = touch.event.buffer.view(access.element)[byte // access.element.itemsize]
        lane = int(touch.event.lanes.indices()[position])
        own = int(touch.threads[position])
        stored, value = (_told(v, touch.event.buffer) for v in (_value(touch, byte, own), value))
        later = Party(touch.event.access, own, lane, touch.moment, stored, None)
        return later, Party(access, thread, None, moment, value, issued), byte


def _value(touch: Touch, byte: int, thread: int) -> Any:
    """What a thread stores into the element at a byte; None: not known."""
    position, element = np.flatnonzero(touch.threads == thread), touch.event.access.element
    if touch.values is None or not len(position):
        return None
    moved, index = granules(touch.event, 0)
    begin = int(part(moved, index, position[:1])[0])
    value = np.asarray(touch.values[(byte - begin) // element.itemsize])
    bits = np.broadcast_to(value, (len(touch.threads),))[position[:1]]
    return np.ascontiguousarray(bits).view(element)[0]


def _is_an_update(later: Party, earlier: Party, place: int, shadow: Shadow, padded: int) -> bool:
    """Whether the block that stores has loaded the element before, as the other one does."""
    load, store = later, earlier
    if later.access.kind is Kind.STORE:
        load, store = earlier, later
    if load.access.kind is not Kind.LOAD or store.access.kind is not Kind.STORE:
        return False
    for touch in shadow.log.by(load.access.instruction):
        moved, index = granules(touch.event, shadow.shift)
        first = part(moved, index, np.arange(touch.event.lanes.count))
        here = (first <= place) & (place < first + (touch.event.access.bytes >> shadow.shift))
        if (here & (touch.threads // padded == store.thread // padded)).any():
            return True
    return False


def _told(value: Any, buffer: Buffer | None) -> Any:
    """The value as what the buffer holds: an instruction may only move its bits."""
    if value is None or buffer is None or buffer.opaque:
        return None
    if buffer.element is None or buffer.element.itemsize != value.itemsize:
        return value
    return value.reshape(1).view(buffer.element)[0]


def _store_the_same(touch: Touch, suspects: Suspects, shadow: Shadow) -> NDArray[np.bool_]:
    """[count] whether the earlier one has stored the same bits that the later one stores now."""
    same = np.zeros(len(suspects.positions), bool)
    for moment in np.unique(suspects.moments).tolist():
        earlier = touch if moment == touch.moment else shadow.log.at(moment)
        some = np.flatnonzero((suspects.moments == moment) & (suspects.threads >= 0))
        if touch.values is None:
            continue
        if earlier is None and touch.event.buffer is not None:  # forgotten: memory holds it
            places = suspects.granules[some]
            held = touch.event.buffer.view(np.dtype(f"u{1 << shadow.shift}"))[places]
            now = _stored(touch, suspects.positions[some], places, shadow.shift)
            same[some] = shadow.live & (held == now)
        if earlier is None or earlier.values is None:
            continue
        rising = np.argsort(earlier.threads, kind="stable")
        place = np.searchsorted(earlier.threads[rising], suspects.threads[some])
        others = rising[np.minimum(place, len(rising) - 1)]
        where = suspects.granules[some]
        then = _stored(earlier, others, where, shadow.shift)
        same[some] = _stored(touch, suspects.positions[some], where, shadow.shift) == then
    return same


def _stored(
    touch: Touch, positions: NDArray[np.intp], places: NDArray[np.int64], shift: int
) -> NDArray[Any]:
    """[positions] the bits that lanes store into one granule each."""
    element = touch.event.access.element
    moved, index = granules(touch.event, shift)
    nth = places - part(moved, index, positions)  # granule of the access
    each = element.itemsize >> shift  # granules of an element
    bits = np.zeros(len(positions), f"u{1 << shift}")
    assert touch.values is not None
    for k, value in enumerate(touch.values):
        some = np.flatnonzero(nth // each == k)
        if len(some):
            whole = np.broadcast_to(value, (len(touch.threads),))[positions[some]]
            words = np.ascontiguousarray(whole).view(f"u{element.itemsize}")
            amount = (nth[some] % each * (8 << shift)).astype(words.dtype)
            bits[some] = (words >> amount).astype(bits.dtype)
    return bits
