"""The check of cp.async: nobody touches what a copy is about to change before it was waited for.

From its start until the wait of the lane that started it, a copy may write its destination and read
its source at any time. So whoever comes behind the start and reads or writes the destination, or
writes the source, gets chance; who is not ordered behind the start at all is in a race, which is
told by the check of races.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind, KernelFault, Place, short
from simulator.observing.events import Copy, Kind, MemoryEvent, Observer, Space
from simulator.observing.shared_names import spoken
from simulator.running.lanes import Lanes
from simulator.running.wave import Wave

_WORD = 4  # bytes; every copy writes whole ones
_VERB = {Kind.LOAD: "reads", Kind.STORE: "writes", Kind.ATOMIC: "updates"}
_EXPECTED = (
    "A copy has arrived once its own thread has waited for it, and for other threads behind a "
    "barrier after that wait."
)


@dataclass(slots=True, eq=False)
class _Underway:
    """A copy that some lanes have not waited for.

    low, high  between which bytes of a block's shared memory its destinations lie
    blocks     [blocks of the wave] which have lanes that have not waited
    waiting    [destination.lanes] which lanes those are; None: all
    words      [words of shared memory] what is about to be written; None: not looked at yet
    """

    copy: Copy
    low: int
    high: int
    blocks: NDArray[np.bool_]
    waiting: NDArray[np.bool_] | None = None
    words: NDArray[np.bool_] | None = None


class UnfinishedCopies(Observer):
    """Looks at every access while copies are under way.

    Byte ranges tell most accesses apart from most copies: a kernel with two stages reads one while
    the other is filled. Only where ranges meet are the bytes of each lane compared.

    shared  the first byte of each variable in shared memory, by its name in PTX
    """

    def __init__(self, shared: dict[str, int]) -> None:
        self._shared = sorted((begin, name) for name, begin in shared.items())

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave
        self._underway: list[_Underway] = []

    def copy_started(self, copy: Copy) -> None:
        self._look_at_destinations(copy.destination)
        low, high = _range(copy.destination)
        blocks = np.zeros(len(self.wave.blocks), bool)
        blocks[self.wave.slots_with(copy.destination.lanes)] = True
        self._underway.append(_Underway(copy, low, high, blocks))

    def copy_waited_for(self, copy: Copy, lanes: Lanes) -> None:
        under = next(u for u in self._underway if u.copy is copy)
        whole = copy.destination.lanes
        if lanes is not whole:
            if under.waiting is None:
                under.waiting = np.ones(whole.count, bool)
            come = np.zeros(self.wave.size, bool)
            come[lanes.indices()] = True
            under.waiting &= ~come[whole.indices()]
            under.words = None
            under.blocks = np.zeros(len(self.wave.blocks), bool)
            under.blocks[self.wave.slots_of(whole)[under.waiting]] = True
        if under.waiting is None or not under.waiting.any():
            self._underway.remove(under)

    def memory_accessed(self, event: MemoryEvent) -> None:
        if not self._underway or event.access.copies:
            return
        if event.access.space is Space.SHARED:
            self._look_at_destinations(event)
        elif event.access.space is Space.GLOBAL and event.access.kind is not Kind.LOAD:
            self._look_at_sources(event)

    # ---- destinations, in shared memory

    def _look_at_destinations(self, event: MemoryEvent) -> None:
        low, high = _range(event)
        near = [under for under in self._underway if under.low < high and low < under.high]
        if not near:
            return
        slots = self.wave.slots_with(event.lanes)
        for under in near:
            if not under.blocks[slots].any():
                continue  # in other blocks' memory
            if under.words is None:
                under.words = self._about_to_change(under)
            wanted = _words(event)
            hit = np.logical_or.reduce([under.words[words] for words in wanted])
            if hit.any():
                lane = int(np.argmax(hit))
                first = next(int(words[lane]) for words in wanted if under.words[words[lane]])
                raise self._too_early(event, lane, under, first)

    def _about_to_change(self, under: _Underway) -> NDArray[np.bool_]:
        found = np.zeros(len(self.wave.shared) // _WORD, bool)
        for words in _words(under.copy.destination):
            found[words if under.waiting is None else words[under.waiting]] = True
        return found

    def _too_early(
        self, event: MemoryEvent, position: int, under: _Underway, word: int
    ) -> KernelFault:
        """The fault of a lane that touches a word of shared memory, [words] of all blocks."""
        filling = np.array([words == word for words in _words(under.copy.destination)]).any(axis=0)
        if under.waiting is not None:
            filling &= under.waiting
        starter = int(under.copy.destination.lanes.indices()[np.argmax(filling)])
        verb = "copies to" if event.access.copies else _VERB[event.access.kind]
        where = self._name(word * _WORD % self.wave.shared_stride, event.access.element.itemsize)
        return self._fault(event, position, f"{verb} {where}", "into it", under.copy, starter)

    def _name(self, byte: int, size: int) -> str:
        """A byte of a block's shared memory, as an element of `size` bytes of its variable."""
        below = [(begin, name) for begin, name in self._shared if begin <= byte]
        if not below:
            return f"byte {byte} of its block's shared memory"
        begin, name = below[-1]
        return f"{spoken(name)}[{(byte - begin) // size}]"

    # ---- sources, in global memory

    def _look_at_sources(self, event: MemoryEvent) -> None:
        for under in self._underway:
            for source in under.copy.sources:
                if source.buffer is event.buffer and _ranges_meet(event, source):
                    self._compare_with_source(event, under, source)

    def _compare_with_source(
        self, event: MemoryEvent, under: _Underway, source: MemoryEvent
    ) -> None:
        unit = min(event.access.bytes, source.access.bytes)
        read = _pieces(source, unit)
        waiting = np.ones(source.lanes.count, bool)
        if under.waiting is not None:
            still = under.copy.destination.lanes.indices()[under.waiting]
            waiting = np.isin(source.lanes.indices(), still, assume_unique=True)
        written = _pieces(event, unit)
        hit = np.isin(written, read[:, waiting])
        if not hit.any():
            return
        position = int(np.argmax(hit.any(axis=0)))
        piece = written[int(np.argmax(hit[:, position])), position]
        reader = int(np.argmax((read == piece).any(axis=0) & waiting))
        buffer = event.buffer
        assert buffer is not None, "global memory without a buffer"
        size = (buffer.element or event.access.element).itemsize
        byte = int(piece) * unit - event.addresses.origin - buffer.origin
        raise self._fault(
            event, position, f"{_VERB[event.access.kind]} {buffer.name}[{byte // size}]", "of it",
            under.copy, int(source.lanes.indices()[reader]),
        )  # fmt: skip

    # ---- words

    def _fault(
        self, event: MemoryEvent, position: int, what: str, which: str, copy: Copy, starter: int
    ) -> KernelFault:
        lane = int(event.lanes.indices()[position])
        place = self.wave.place(lane)
        who = "it" if lane == starter else _briefly(self.wave.place(starter), place)
        started = f"{who} started on line {copy.destination.access.instruction.line}"
        return KernelFault(
            FaultKind.UNFINISHED_COPY,
            f"{place} {what} while a copy (cp.async) {which} is under way, which {started}",
            line=event.access.instruction.line,
            expected=_EXPECTED,
            advice=_advice(copy),
            place=place,
        )


def _advice(copy: Copy) -> str:
    if copy.left is not None:
        left, line = copy.left
        if not copy.committed:
            return (
                f"The wait on line {line} is for groups, and no commit_group (__pipeline_commit) "
                "has put this copy into one: commit before you wait."
            )
        if left:
            newest = "newest group" if left == 1 else f"{left} newest groups"
            return (
                f"wait_group {left} on line {line} lets the {newest} go on, and this copy is "
                "there: leave fewer, or commit a group in every turn, also an empty one."
            )
    return (
        "No wait stands between: cp.async.wait_group or wait_all (__pipeline_wait_prior), and "
        "a barrier behind it if other threads use what was copied."
    )


def _briefly(starter: Place, other: Place) -> str:
    """The starter's thread; its block too, where it is another one."""
    return f"thread {short(starter.thread)}" if starter.block == other.block else str(starter)


def _range(event: MemoryEvent) -> tuple[int, int]:
    """The first byte that any lane touches, and the one behind the last."""
    addresses, offset = event.addresses, event.offset
    return addresses.low + offset, addresses.high + offset + event.access.bytes


def _ranges_meet(one: MemoryEvent, other: MemoryEvent) -> bool:
    """Whether any lane may touch a byte that a lane of the other touches, by their extremes."""
    (low, high), (begin, end) = _range(one), _range(other)
    return low < end and begin < high


def _words(event: MemoryEvent) -> list[NDArray[np.int64]]:
    """The words of an access to shared memory, counted through all blocks: each [count]."""
    addresses = event.addresses
    assert addresses.stretches is not None, "an access outside shared memory"
    start = addresses.offsets() + addresses.stretches.starts(event.lanes, 0) + event.offset
    first = start // _WORD
    return [first + k for k in range(-(-event.access.bytes // _WORD))]


def _pieces(event: MemoryEvent, unit: int) -> NDArray[np.int64]:
    """[pieces, count] the pieces of `unit` bytes of an access to global memory."""
    addresses, count = event.addresses, event.lanes.count
    start = np.broadcast_to(addresses.signed.astype(np.int64) + event.offset, (count,)) // unit
    more: NDArray[np.int64] = start + np.arange(event.access.bytes // unit)[:, None]
    return more
