"""Nobody can run any more: what do those wait for who are parked in loops?

They come back to the same state in every turn, and memory stays as it is: so they can be run for
one more turn, only to see what they read in it.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.faults import FaultKind, KernelFault, Place
from simulator.observing.events import MemoryEvent
from simulator.running.deadlocks import Deadlock, Held, Waiting
from simulator.running.frames import Point
from simulator.running.lanes import Lanes, merge
from simulator.running.wave import Wave
from simulator.running.writers import Writers

if TYPE_CHECKING:
    from simulator.running.machine import Machine

_LONGEST_TURN = 1000  # basic blocks
_MOST_KEPT = 1 << 26  # bytes of memory
_FORETELLING = 2.0  # seconds


def deadlock(machine: "Machine", held: tuple[Held, ...] = ()) -> KernelFault:
    """The fault of those who wait for ever; held: who waits for them, beside those at barriers."""
    at_barriers = [
        Held(lanes, "the barrier", machine.program.line_of(point[-1]))
        for waiting in machine.barriers.waiting.values()
        for point, lanes in waiting
    ]
    run = machine.run
    parties = [turn.party for turn in _turns(machine)]
    everyone = [*held, *at_barriers]
    return Deadlock(
        run.wave,
        parties,
        everyone,
        run.memory.writers,
        run.entry.shared,
        lambda: _foretold(machine),
    ).fault()


def _foretold(machine: "Machine") -> Writers | None:
    """Who of the next wave would write what; None: it cannot be told.

    The next wave is run to find out, and memory is put back.
    """
    wave, map_ = machine.wave, machine.run.memory.map
    buffers = map_.everything()
    if not len(wave.later) or sum(buffer.bytes for buffer in buffers) > _MOST_KEPT:
        return None
    kept = [buffer.data.copy() for buffer in buffers]
    ids = wave.later[: len(wave.blocks)]
    sizes = wave.shared_bytes, machine.run.entry.local_bytes, wave.dynamic_bytes
    run = machine.run.of_wave(Wave(ids, wave.grid, wave.block, *sizes))
    writers = run.memory.writers = Writers()
    writers.wave_started(run.wave)
    with suppress(KernelFault):  # as far as it comes
        type(machine)(machine.program, run, [], _FORETELLING).finish()
    for buffer, data in zip(buffers, kept, strict=True):
        buffer.data[:] = data
    return writers


def let_stores_go(machine: "Machine") -> bool:
    """Let hidden stores be seen that the parked lanes look for; returns whether any are."""
    weak = machine.run.memory.weak
    if weak is None or not weak.hides():
        return False
    turns = _turns(machine)
    events = [event for turn in turns for event in turn.party.events]
    if not all(turn.whole for turn in turns) or not weak.let_go(events):
        return False
    machine.run.memory.changes += 1
    machine.loops.wake()
    return True


def waits_for_warp(machine: "Machine", lanes: Lanes, fault: KernelFault) -> KernelFault | None:
    """The deadlock of lanes whose warp is awaited at a warp instruction; None: it is none.

    fault  what the warp instruction said of the lanes that are not there
    """
    parked = [party.lanes.indices() >> 5 for party in machine.loops.parked]
    if fault.kind is not FaultKind.ABSENT_LANES or not parked:
        return None
    mask = np.isin(lanes.indices() >> 5, np.concatenate(parked))
    if not mask.any():
        return None
    return deadlock(machine, (Held(lanes.select(mask), "a warp instruction", fault.line),))


def too_long(machine: "Machine", point: Point, lanes: Lanes) -> KernelFault:
    """The fault of a wave that runs longer than it may."""
    turning = machine.loops.turning(point)
    header, turns = (point, None) if turning is None else turning
    place = machine.wave.place(int(lanes.indices()[0]))
    line = machine.loops.line(header[-1])
    return _out_of_time(place, line, machine.seconds, turns, len(point) // 2)


def _out_of_time(
    place: Place, line: int | None, seconds: float, turns: int | None, depth: int
) -> KernelFault:
    """A wave runs longer than it may. turns: of the loop that a lane is in; depth: of its calls."""
    turned = "" if turns is None else f"its loop has turned {turns:,} times"
    deep = f"{depth:,} call{'s' * (depth > 1)} deep" if depth else ""
    what = ", ".join(filter(None, (turned, deep))) or "in no loop"
    return KernelFault(
        FaultKind.ENDLESS_LOOP,
        f"{place} still runs after {seconds:.0f} s; {what}",
        line=line,
        expected="The kernel ends.",
        advice="Check the loop's bound and step, or give the simulator a smaller problem.",
        place=place,
    )


@dataclass(frozen=True, slots=True)
class _Turn:
    """One more turn of lanes that are parked; whole: all have come back to where they were."""

    party: Waiting
    whole: bool


def _turns(machine: "Machine") -> list[_Turn]:
    parties: dict[Point, list[Lanes]] = {}
    for parked in machine.loops.parked:
        parties.setdefault(parked.point, []).append(parked.lanes)
    return [_turn(machine, point, merge(sets)) for point, sets in parties.items()]


def _turn(machine: "Machine", point: Point, lanes: Lanes) -> _Turn:
    events: list[MemoryEvent] = []
    memory, barriers, schedule = machine.run.memory, machine.barriers, machine.schedule
    kept = (
        memory.tell([events.append]),
        machine.basic_block_ran,
        machine.branched,
        dict(machine.gathering),
        {key: list(waiting) for key, waiting in barriers.waiting.items()},
        {key: list(ahead) for key, ahead in barriers.ahead.items()},
    )
    machine.basic_block_ran = machine.branched = []
    went, back = (np.zeros(machine.wave.size, bool) for _ in range(2))
    schedule.add(point, lanes)
    try:
        for _ in range(_LONGEST_TURN):
            if not schedule:
                break
            at, some = schedule.take()
            if at == point and went[some.indices()].all():
                back[some.indices()] = True
                continue
            went[some.indices()] = True
            machine.step(at, some, watch=False)
    except KernelFault:
        pass  # what is known by now has to do
    while schedule:
        schedule.take()
    memory.tell(kept[0])
    machine.basic_block_ran, machine.branched, machine.gathering = kept[1:4]
    barriers.waiting, barriers.ahead = kept[4:]
    loop = machine.loops.loop_at(point)
    party = Waiting(lanes, machine.loops.line(point[-1]), loop.asks, events)
    return _Turn(party, bool(back[lanes.indices()].all()))
