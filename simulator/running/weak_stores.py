"""Stores that other blocks do not see yet.

A plain store to global memory is the own block's at once, and nobody else's until it must be: when
the thread that stored executes a fence of the whole device or a releasing store or atomic; when a
thread of the block does so that learned of the store, behind a barrier, a warp instruction, an
atomic, a strong access or a fence of the storing thread; when the kernel ends. Atomics, volatile
and other strong accesses act at once. So a missing __threadfence() gives stale values here, where
a GPU may give them once in a thousand runs. Where several blocks' stores to one place are under
way, the seed says whose lands last.

Hidden stores are let go when nobody can run any more: no store stays hidden for ever.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.observing.events import Access, MemoryEvent, Space
from simulator.reading.ptx import Instruction
from simulator.running.buffers import Buffer
from simulator.running.lanes import Lanes
from simulator.running.wave import Wave

_RELEASES = frozenset(("release", "acq_rel", "sc"))
_FOR_SOME = frozenset(("cta", "cluster"))  # scopes that are less than the device
_FOR_ALL = frozenset(("gl", "gpu", "sys"))
_SPOT = NDArray[np.int64]  # indices of granules in a buffer


def fences_device(instruction: Instruction) -> bool:
    """Whether it is a fence that all blocks take part in."""
    parts = instruction.parts
    return parts[0] in ("membar", "fence") and bool(_FOR_ALL & set(parts))


def _releases(access: Access) -> bool:
    parts = set(access.instruction.parts)
    return bool(_RELEASES & parts) and not _FOR_SOME & parts


@dataclass(slots=True)
class _Hidden:
    """The hidden stores to one buffer, by its granules.

    owner   1 + the place of the block in the launch; 0: nothing is hidden here
    values  what that block has stored
    memory  what all others see
    """

    owner: NDArray[np.int32]
    values: NDArray[Any]
    memory: NDArray[Any]

    def land(self, spots: _SPOT) -> bool:
        """What is hidden there is so no more; returns whether that changes what others see."""
        changed = bool((self.memory[spots] != self.values[spots]).any())
        self.memory[spots] = self.values[spots]
        self.owner[spots] = 0
        return changed


@dataclass(frozen=True, slots=True)
class _Stores:
    """Stores of one instruction: where, by which lanes, when."""

    hidden: _Hidden
    spots: _SPOT  # [stores]
    lanes: NDArray[np.intp]  # [stores]
    time: int


class WeakStores:
    """The hidden stores of a launch. Methods return whether what others see has changed.

    granule  bytes of the smallest access to global memory: 1, 2, 4 or 8
    """

    def __init__(self, granule: int, seed: int) -> None:
        self._shift = granule.bit_length() - 1
        self._unit = np.dtype(f"u{granule}")
        self._random = np.random.default_rng((seed, 2))
        self._hidden: dict[Buffer, _Hidden] = {}
        self._stores: list[_Stores] = []  # of this wave that may be hidden yet
        self._blocks = 0  # of earlier waves
        self._time = 0

    def wave_started(self, wave: Wave) -> None:
        """What blocks of earlier waves have hidden stays so to the end: nobody can fence it."""
        self._stores.clear()
        self._wave = wave
        self._keys = (wave.slot + (self._blocks + 1)).astype(np.int32)  # [lanes]
        self._blocks += len(wave.blocks)
        self._told = np.zeros(wave.size, np.int64)  # [lanes] when its block last learned of it
        self._storing = np.zeros(len(wave.blocks), bool)  # blocks that may hide stores

    # ---- accesses

    def load(self, event: MemoryEvent) -> tuple[Any, ...] | None:
        """What lanes load that have hidden stores there: arrays [count]; None: what memory has."""
        access = event.access
        if access.strong:
            self.tell_block(event.lanes)
        hidden = self._at(event)
        if hidden is None:
            return None
        spots = self._spots(event)
        owner = hidden.owner[spots]
        if not owner.any():
            return None
        own = owner == self._keys[event.lanes.indices()][:, None]
        if not own.any():
            return None
        raw = np.where(own, hidden.values[spots], hidden.memory[spots])
        values = raw.view(access.element)
        return tuple(np.ascontiguousarray(values[:, k]) for k in range(access.count))

    def store(self, event: MemoryEvent, values: tuple[Any, ...]) -> bool | None:
        """Hide a plain store to global memory; None: it acts at once, and memory does it."""
        access = event.access
        if access.strong:
            self.act_at_once(event)
            return None
        if access.space is not Space.GLOBAL or event.buffer is None:
            return None
        hidden = self._hidden.get(event.buffer) or self._made(event.buffer)
        lanes = event.lanes.indices()
        data = np.empty((len(lanes), access.count), access.element)
        for k, value in enumerate(values):
            data[:, k] = value
        spots = self._spots(event)
        width = spots.shape[1]
        flat, raw = spots.reshape(-1), data.view(self._unit).reshape(-1)
        if width > 1:
            lanes = np.repeat(lanes, width)
        return self._hide(hidden, flat, raw, lanes)

    def act_at_once(self, event: MemoryEvent) -> bool:
        """An atomic or a strong store is about to write: the block's own stores there go first."""
        changed = _releases(event.access) and self.fence(event.lanes)
        self.tell_block(event.lanes)
        hidden = self._at(event)
        if hidden is None:
            return changed
        spots = self._spots(event)
        own = hidden.owner[spots] == self._keys[event.lanes.indices()][:, None]
        return hidden.land(spots[own]) or changed

    # ---- who learns of stores

    def tell_block(self, lanes: Lanes) -> None:
        """The block of these lanes knows what they have stored: a fence of others covers it."""
        self._told[lanes.indices()] = self._time

    def fence(self, lanes: Lanes) -> bool:
        """Lanes execute a fence of the device: what their blocks know of is seen by all."""
        self.tell_block(lanes)
        wave = self._wave
        fencing = np.zeros(len(wave.blocks), bool)
        fencing[wave.slot[lanes.indices()]] = True
        if not (fencing & self._storing).any():
            return False
        self._storing &= ~fencing
        changed, kept = False, []
        for stores in self._stores:
            slot = wave.slot[stores.lanes]
            seen = fencing[slot] & (stores.time <= self._told[stores.lanes])
            if seen.any():
                spots, keys = stores.spots[seen], self._keys[stores.lanes[seen]]
                changed |= stores.hidden.land(spots[stores.hidden.owner[spots] == keys])
            left = ~seen & (wave.live[slot] > 0)  # of a block that has ended, all stays hidden
            if left.any():
                self._storing[slot[left]] = True
                rest = stores.spots[left], stores.lanes[left]
                kept.append(_Stores(stores.hidden, *rest, stores.time))
        self._stores = kept
        return changed

    def hides(self) -> bool:
        """Whether any store is hidden."""
        return any(hidden.owner.any() for hidden in self._hidden.values())

    def let_go(self, events: list[MemoryEvent]) -> bool:
        """Nobody can run: what these loads look at is seen now; if nothing is, everything."""
        changed = False
        for event in events:
            hidden = self._at(event)
            if hidden is not None:
                spots = self._spots(event).reshape(-1)
                changed |= hidden.land(np.unique(spots[hidden.owner[spots] != 0]))
        return changed or self.finish()

    def finish(self) -> bool:
        """The launch has ended, well or with a fault: all see all stores."""
        found = [h.land(np.flatnonzero(h.owner)) for h in self._hidden.values()]
        return any(found)

    # ---- where

    def _at(self, event: MemoryEvent) -> _Hidden | None:
        if event.access.space is not Space.GLOBAL or event.buffer is None:
            return None
        return self._hidden.get(event.buffer)

    def _made(self, buffer: Buffer) -> _Hidden:
        memory = buffer.view(self._unit)
        owner = np.zeros(len(memory), np.int32)
        found = _Hidden(owner, np.zeros(len(memory), self._unit), memory)
        self._hidden[buffer] = found
        return found

    def _spots(self, event: MemoryEvent) -> _SPOT:
        """[count, granules of an access]."""
        first = (event.addresses.offsets() + event.offset) >> self._shift
        return first[:, None] + np.arange(event.access.bytes >> self._shift)

    def _hide(
        self, hidden: _Hidden, spots: _SPOT, raw: NDArray[Any], lanes: NDArray[np.intp]
    ) -> bool:
        """Hide values [stores] at spots; where another block's store is hidden, one lands."""
        keys = self._keys[lanes]
        owner = hidden.owner[spots]
        foreign = (owner != 0) & (owner != keys)
        changed = False
        if foreign.any():
            places, which = np.unique(spots[foreign], return_inverse=True)
            first = self._random.random(len(places)) < 0.5  # the hidden one lands first
            changed = hidden.land(places[first])
            last = foreign.copy()
            last[foreign] = ~first[which]
            hidden.memory[spots[last]] = raw[last]
            stays = ~last
            spots, raw, lanes, keys = spots[stays], raw[stays], lanes[stays], keys[stays]
            changed |= bool(last.any())
        own = hidden.owner[spots] == keys
        before = np.where(own, hidden.values[spots], hidden.memory[spots])
        changed |= bool((before != raw).any())
        hidden.owner[spots] = keys
        hidden.values[spots] = raw
        lost = hidden.owner[spots] != keys  # to another block, in this very instruction
        if lost.any():
            turns = self._random.permutation(len(spots))
            spots, raw, lanes, keys = spots[turns], raw[turns], lanes[turns], keys[turns]
            hidden.owner[spots] = keys
            hidden.values[spots] = raw
            lost = hidden.owner[spots] != keys
            hidden.memory[spots[lost]] = raw[lost]
        self._time += 1
        self._stores.append(_Stores(hidden, spots, lanes, self._time))
        self._storing[self._wave.slot[lanes]] = True
        return changed
