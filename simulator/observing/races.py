"""The check for races: two threads at one place, one writes, and nothing says who comes first.

Both must be told apart from what only looks like one: accesses that are both strong (atomic,
volatile, relaxed) at scopes that cover each other, and accesses of which one happens before the
other (`happens_before.py`). Shared memory is looked at when a barrier ends an epoch
(`race_epochs.py`), as long as nothing but barriers of whole blocks gives an order. Global memory,
and shared memory from the first finer order on, is looked at access by access (`shadow.py`); global
memory only where the code can race on it at all (`race_buffers.py`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.faults import FaultKind, KernelFault
from simulator.observing.events import Copy, Kind, MemoryEvent, Observer, Space
from simulator.observing.happens_before import HappensBefore
from simulator.observing.happens_before_flags import Flags
from simulator.observing.race_buffers import hands_on, may_race, ways_by_buffer
from simulator.observing.race_epochs import Epochs
from simulator.observing.race_judging import Judge
from simulator.observing.race_ways import way_of
from simulator.observing.shadow import Shadow
from simulator.observing.shadow_log import Touch
from simulator.reading.ptx import Entry, Instruction
from simulator.running.buffers import AddressMap, Buffer
from simulator.running.lanes import Lanes
from simulator.running.wave import Dimensions, Wave
from simulator.translating.program import Program

_HELD = 4096  # moments for which a fault that may turn out to be a race is held back


class Races(Observer):
    """Raises RACE, or UNFINISHED_COPY where a copy would race that its own thread has not waited
    for.

    notes  what only looks like a race, by line
    """

    def __init__(
        self,
        entry: Entry,
        program: Program,
        grid: Dimensions,
        block: Dimensions,
        launched: NDArray[np.int64],
        parameters: Mapping[str, bytes],
        variables: Mapping[str, int],
        addresses: AddressMap,
        strict: bool = False,
        tiles: bool = False,
        shared_bytes: int = 0,
    ) -> None:
        """launched: the linear ids of the blocks that run; the others are those of the launch.

        shared_bytes  that each block has
        """
        self._tiles = tiles
        self._ways, anywhere = ways_by_buffer(entry, parameters, variables, addresses)
        self._anywhere = anywhere
        self._tracked: dict[int, bool] = {}
        self._buffers: list[Buffer] = []  # kept, so that their identity stays theirs
        self._shadows: dict[int, Shadow] = {}
        threads = block[0] * block[1] * block[2]
        flags = None
        # What orders accesses is of use only where there are some that it can order.
        looks_in_shared = shared_bytes > 0 and not tiles
        if hands_on(program) and (looks_in_shared or any(map(self._races, addresses.everything()))):
            padded = -(-threads // 32) * 32
            blocks = grid[0] * grid[1] * grid[2]
            flags = Flags(blocks, padded, threads, launched, patient=not looks_in_shared)
        self._flags = flags
        self.order = HappensBefore(flags, self._leave_epoch)
        self._judge = Judge(entry, program, self.order, strict, tiles)
        self._issued: dict[int, int] = {}  # copies under way -> the moment each was started
        self._landing: int | None = None  # of the copy whose accesses are told now
        self._copies: list[Copy] = []  # kept, so that their identity stays theirs
        self._held: tuple[KernelFault, int, int] | None = None  # with a block's slot, until when

    @property
    def notes(self) -> dict[int | None, str]:
        return self._judge.notes

    # ---- waves and barriers

    def wave_started(self, wave: Wave) -> None:
        self.wave = wave
        self.order.wave_started(wave)
        self._epochs = Epochs(wave, self._judge.note_same_value)
        self._shared: Shadow | None = None  # once there are finer orders in an epoch

    def wave_ended(self) -> None:
        self._close_epoch(None)
        self._tell_held()
        self._shared = None

    def hold(self, fault: KernelFault, lane: int) -> None:
        """An uninitialised read: it is a race, if who writes there has only not come yet."""
        if self._held is None:
            self._held = (fault, int(self.wave.slot[lane]), self.order.now + _HELD)

    def rather(self, fault: KernelFault) -> KernelFault:
        """The kernel ends with a fault: what came before it and was not told yet, if anything."""
        if fault.kind is FaultKind.RACE:
            return fault
        try:
            self._close_epoch(None)
            self._tell_held()
        except KernelFault as before:
            return before
        return fault

    def _tell_held(self) -> None:
        if self._held is not None:
            fault, self._held = self._held[0], None
            raise fault

    def barrier_arrived(self, barrier: int, lanes: Lanes) -> None:
        self._leave_epoch()
        self.order.barrier_arrived(barrier, lanes)

    def barrier_passed(
        self, barrier: int, lanes: Lanes, whole: NDArray[np.bool_] | None, ahead: list[Lanes]
    ) -> None:
        if whole is None or whole.any():
            self._close_epoch(whole)
            if self._held is not None and (whole is None or whole[self._held[1]]):
                self._tell_held()
        self.order.barrier_passed(barrier, lanes, whole, ahead)
        if whole is None or whole.all():
            self._epochs.clear()
            self._shared = None
        elif whole.any():
            self._epochs.keep(self.order.whole)

    def warp_met(self, instruction: Instruction, mask: Any, lanes: Lanes) -> None:
        self.order.warp_met(instruction, mask, lanes)
        if self._shared is None:
            self._epochs.warps_met(self.order.now)

    def fenced(self, instruction: Instruction, lanes: Lanes) -> None:
        if self._flags is not None:
            self._flags.fenced(instruction, lanes)

    # ---- accesses

    def memory_accessed(self, event: MemoryEvent) -> None:
        kind = event.access.kind
        if kind is Kind.LOAD or (kind is Kind.ATOMIC and self._flags is None):
            self._accessed(event, None)

    def storing(self, event: MemoryEvent, values: tuple[Any, ...]) -> None:
        self._accessed(event, values)

    def updated(
        self,
        event: MemoryEvent,
        wrote: NDArray[np.bool_] | None,
        turns: NDArray[np.intp] | None,
    ) -> None:
        if self._flags is not None:  # then an atomic may acquire, and comes after what it sees
            self._accessed(event, None, wrote, turns)

    def copy_started(self, copy: Copy) -> None:
        self._landing = None
        for source in copy.sources:
            self._accessed(source, None)
        self._accessed(copy.destination, None)
        self._copies.append(copy)
        self._issued[id(copy)] = self.order.now

    def copy_waited_for(self, copy: Copy, lanes: Lanes) -> None:
        self._landing = self._issued.get(id(copy))

    def _accessed(
        self,
        event: MemoryEvent,
        values: tuple[Any, ...] | None,
        wrote: NDArray[np.bool_] | None = None,
        turns: NDArray[np.intp] | None = None,
    ) -> None:
        access, shadow = event.access, None
        if access.space is Space.GLOBAL and event.buffer is not None:
            shadow = self._shadow_of(event.buffer)
        elif access.space is not Space.SHARED or self._tiles:  # the compiler's own, with tiles
            return
        in_flags = self._flags is not None and (access.strong or access.kind is Kind.STORE)
        if shadow is None and access.space is Space.GLOBAL and not in_flags:
            return
        touch = self._touch(event, values)
        if in_flags and self._flags is not None:
            self._flags.accessed(event, wrote, turns)
        if access.space is Space.SHARED:
            self._in_shared(touch)
        elif shadow is not None:
            self._look(shadow, touch)

    def _shadow_of(self, buffer: Buffer) -> Shadow | None:
        """The shadow of a buffer; None: there can be no race on it."""
        tracked = self._tracked.get(id(buffer))
        if tracked is None:
            tracked = self._track(buffer)
        if not tracked:
            return None
        shadow = self._shadows.get(id(buffer))
        if shadow is None:
            shadow = self._shadows[id(buffer)] = Shadow(self.order, buffer.bytes)
        return shadow

    def _track(self, buffer: Buffer) -> bool:
        found = self._tracked[id(buffer)] = self._races(buffer)
        self._buffers.append(buffer)
        return found

    def _races(self, buffer: Buffer) -> bool:
        """Whether there can be a race on a buffer, by the code."""
        ways = self._ways.get(id(buffer))
        # One that no parameter leads to is the module's own, or found through another pointer.
        return not buffer.read_only and (ways is None or may_race(frozenset(ways | self._anywhere)))

    def _touch(self, event: MemoryEvent, values: tuple[Any, ...] | None) -> Touch:
        moment = self.order.tick()
        if self._held is not None and moment > self._held[2]:
            self._close_epoch(None)
            self._tell_held()
        issued = self._landing if event.access.copies else None
        self._judge.remember(moment, event.access, issued)
        return Touch(way_of(event.access), event, moment, self._threads(event.lanes), values)

    def _threads(self, lanes: Lanes) -> NDArray[np.int64]:
        if lanes.index is None:
            return self.order.thread
        found: NDArray[np.int64] | None = lanes.memo.get("threads of the grid")
        if found is None:
            found = lanes.memo["threads of the grid"] = self.order.thread[lanes.index]
        return found

    # ---- shared memory

    def _in_shared(self, touch: Touch) -> None:
        if self._shared is not None:
            self._look(self._shared, touch)
            return
        self._epochs.add(touch)
        if self._epochs.full:
            self._leave_epoch()

    def _close_epoch(self, whole: NDArray[np.bool_] | None) -> None:
        """A barrier ends an epoch of these blocks [blocks]; None: of all."""
        if self._shared is not None or not self._epochs.touches:
            return
        if whole is not None:
            whole = whole | (self.wave.live == 0)  # who has gone will pass no barrier
        if self._epochs.suspicious(whole, self.order.whole):
            self._replay()

    def _leave_epoch(self) -> None:
        """A finer order comes, or too much has been written down: look access by access."""
        if self._shared is None:
            self._shared = self._replay()

    def _replay(self) -> Shadow:
        """Look at what was written down, one access after another.

        Nothing has ordered them, so they are taken as they stand in the code: what is told does
        not depend on who happened to come first.
        """
        shadow = Shadow(self.order, len(self.wave.shared), live=False)
        for touch in self._epochs.in_order_of_code(self.order.whole):
            self._look(shadow, touch)
        shadow.live = True
        return shadow

    # ---- looking

    def _look(self, shadow: Shadow, touch: Touch) -> None:
        for suspects in shadow.touch(touch):
            self._judge.judge(touch, suspects, shadow)
