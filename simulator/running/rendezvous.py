"""Lanes of a warp that meet at a warp instruction from several places in the code.

`__syncwarp()`, a shuffle or a vote waits for lanes that execute one with the same qualifiers, not
for those at the very same instruction (PTX ISA, "shfl.sync", "bar.warp.sync"; compute capability
7.0 and later): one arm of an `if` may meet the other. Each place has a basic block of its own that
begins with the instruction. It runs once to tell what its lanes bring, and again with what the
meeting gives them; what follows the meetings runs that last time only.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.running.between_frames import part_of
from simulator.running.execution import Execution
from simulator.running.frames import Point
from simulator.running.lanes import Lanes, merge

if TYPE_CHECKING:
    from simulator.running.machine import Machine

# Methods of Execution.
_MEETINGS = {"meet", "shuffle", "vote", "match", "reduce", "shuffle_shadow", "vote_shadow"}
_APART = frozenset(("shfl", "vote", "match", "redux", "bar"))  # not mma: all execute the very same


class _Brings(Exception):
    """Lanes have come to a meeting whose outcome they do not have yet."""

    def __init__(self, name: str, number: int, values: tuple[Any, ...]) -> None:
        self.name = name
        self.number = number
        self.values = values


@dataclass(slots=True)
class _Party:
    """The lanes at one point. outcomes: of the meetings that they have had there."""

    point: Point
    lanes: Lanes
    outcomes: list[Any] = field(default_factory=list)


class _AtMeetings:
    """What a basic block calls: meetings answer from a party's outcomes, all else as ever."""

    def __init__(self, run: Execution, party: _Party) -> None:
        self._run = run
        self._ahead = iter(party.outcomes)

    def __getattr__(self, name: str) -> Any:
        return self._meeting(name) if name in _MEETINGS else getattr(self._run, name)

    def _meeting(self, name: str) -> Callable[..., Any]:
        def met(number: int, *values: Any) -> Any:
            for outcome in self._ahead:
                return outcome
            raise _Brings(name, number, values[:-1])  # the last are the lanes

        return met


def meet_from_several_places(machine: "Machine") -> bool:
    """Let lanes meet that are held at several instructions alike; returns whether any have."""
    parties = _together(machine)
    if len(parties) < 2:
        return False
    while parties:
        brought: dict[str, list[tuple[_Party, _Brings]]] = {}
        for party in parties:
            try:
                machine.run_party(party.point, party.lanes, _AtMeetings(machine.run, party))
            except _Brings as brings:
                brought.setdefault(brings.name, []).append((party, brings))
        for name, meeting in brought.items():
            _meet(machine.run, name, meeting)
        parties = [party for meeting in brought.values() for party, _ in meeting]
    return True


def _together(machine: "Machine") -> list[_Party]:
    """Who is held at the lowest basic block, and who is held elsewhere of the same warps."""
    lowest = min(machine.gathering)[-1]
    opcode = _first(machine, lowest)
    if opcode[0] not in _APART:
        return []
    held = machine.gathering
    here = [point for point in held if point[-1] == lowest]
    there = [p for p in held if p[-1] != lowest and _first(machine, p[-1]) == opcode]
    warps = np.unique(np.concatenate([held[point].indices() >> 5 for point in here]))
    joining = {point: np.isin(held[point].indices() >> 5, warps) for point in there}
    joining = {point: mask for point, mask in joining.items() if mask.any()}
    if not joining:
        return []
    parties = [_Party(point, held.pop(point)) for point in here]
    for point, mask in joining.items():
        some, others = held.pop(point).split(mask)
        parties.append(_Party(point, some))
        if others.count:
            held[point] = others
    return parties


def _first(machine: "Machine", number: int) -> tuple[str, ...]:
    return machine.program.instructions[machine.program.basic_blocks[number].first].parts


def _meet(run: Execution, name: str, meeting: list[tuple[_Party, _Brings]]) -> None:
    """Give each party its part of what the meeting of all gives."""
    lanes = merge([party.lanes for party, _ in meeting])
    indices = lanes.indices()
    places = [np.searchsorted(indices, party.lanes.indices()) for party, _ in meeting]
    values = [
        _joined(lanes.count, places, [brings.values[k] for _, brings in meeting])
        for k in range(len(meeting[0][1].values))
    ]
    outcome = getattr(run, name)(meeting[0][1].number, *values, lanes)
    for (party, _), place in zip(meeting, places, strict=True):
        party.outcomes.append(part_of(outcome, place))


def _joined(count: int, places: list[Any], values: list[Any]) -> Any:
    """One value for all lanes, an array [count] of them, or what is no value: a mode."""
    if isinstance(values[0], str):
        return values[0]
    joined = np.empty(count, values[0].dtype)
    for place, value in zip(places, values, strict=True):
        joined[place] = value
    return joined if (joined != joined[0]).any() else joined[0]
