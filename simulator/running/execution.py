"""What the generated code of a wave calls: memory, the warp, printf, assert."""

from typing import Any

import numpy as np

from simulator.faults import FaultKind, KernelFault
from simulator.observing.events import Access, Observer, Space, listeners
from simulator.reading.ptx import Entry
from simulator.running import warp
from simulator.running.asynchronous_copies import AsynchronousCopies
from simulator.running.atomics import Turns, update_in_turn
from simulator.running.buffers import AddressMap, Buffer
from simulator.running.lanes import Lanes
from simulator.running.meeting import (
    check_meeting,
    check_sources,
    note_absent_votes,
    reads_beyond_mask,
    sources_left_out,
)
from simulator.running.memory import Memory
from simulator.running.printf import Printer, text_at
from simulator.running.registers import Registers
from simulator.running.undefined import UndefinedValues
from simulator.running.wave import CLOCKS, GRID_BARRIER, GRID_WORKSPACE, Wave, special_type
from simulator.running.weak_stores import fences_device
from simulator.translating.words_around import words_around
from simulator.types import DTYPES

CYCLES = 100  # between two looks at a clock: time is not modelled, but it passes


class Execution:
    """One wave on its way through a kernel."""

    def __init__(
        self,
        entry: Entry,
        wave: Wave,
        parameters: dict[str, bytes],
        addresses: AddressMap,
        variables: dict[str, int],
        observers: list[Observer],
        printer: Printer,
    ) -> None:
        self.entry = entry
        self.instructions = entry.instructions
        for function in entry.functions:
            self.instructions += function.instructions
        self.wave = wave
        self.memory = Memory(wave, addresses, observers)
        self.memory.words_around = words_around(entry)
        self.copies = AsynchronousCopies(wave, self.memory, observers)
        self.undefined: UndefinedValues | None = None  # where the code follows undefined values
        self.registers = Registers(wave.size, self.memory.cache)
        self.turns = Turns(wave)  # of the lanes of an atomic
        self.notes: dict[int | None, str] = {}  # of warp instructions, by line
        self._parameters = parameters
        self._values: dict[tuple[str, int, str], Any] = {}
        self._variables = variables
        self._addresses = addresses
        self._printer = printer
        self._clock = 0
        self.cycles = CYCLES
        self._updated = listeners(observers, "updated")
        self._fenced = listeners(observers, "fenced")
        self._warp_met = listeners(observers, "warp_met")

    def of_wave(self, wave: Wave) -> "Execution":
        """Another wave of the same launch, of which nobody is told."""
        other = Execution(
            self.entry, wave, self._parameters, self._addresses, self._variables, [], Printer()
        )
        if self.undefined is not None:
            self.undefined.silently(other)
        return other

    # ---- values

    def parameter(self, name: str, offset: int, dtype: np.dtype[Any]) -> Any:
        key = (name, offset, dtype.str)
        found = self._values.get(key)
        if found is None:
            raw = self._parameters[name][offset : offset + dtype.itemsize]
            found = self._values[key] = np.frombuffer(raw, dtype)[0]
        return found

    def special(self, name: str, lanes: Lanes) -> Any:
        if name in CLOCKS:
            self._clock += self.cycles
            bits = 32 if special_type(name) == "u32" else 64
            return DTYPES[special_type(name)].type(self._clock & (1 << bits) - 1)
        if name in GRID_WORKSPACE:
            return self._grid_workspace(name)
        value = self.wave.special(name)
        return value if value.ndim == 0 or lanes.index is None else value[lanes.index]

    def address_of(self, variable: str, offset: int = 0) -> Any:
        """The address of a byte of a .global or .const array of the module, or of a parameter."""
        if variable not in self._variables:
            raw = np.frombuffer(self._parameters[variable], np.uint8)
            self._variables[variable] = self._addresses.base(Buffer(variable, raw.copy()))
        return np.uint64(self._variables[variable] + offset)

    def _grid_workspace(self, name: str) -> Any:
        """A word of the address where the blocks of a cooperative launch meet; zero in others."""
        address = self._variables.get(GRID_BARRIER, 0)
        upper, lower = GRID_WORKSPACE
        return np.uint32((address >> 32 if name == upper else address) & 0xFFFF_FFFF)

    # ---- atomics

    def atomic(
        self,
        access: Access,
        operation: str,
        base: Any,
        offset: int,
        values: tuple[Any, ...],
        lanes: Lanes,
        guard: Any,
        wanted: bool,
    ) -> Any:
        """Update memory in lane order; the old values [count] where they are wanted."""
        count = lanes.count
        if guard is not None and not (guard.ndim == 0 and guard):
            masks = [np.broadcast_to(guard, (count,))]
        else:
            masks = self.memory.apart(access, base, offset, lanes)
        if masks:
            old = np.zeros(count, access.element)
            for mask in masks:
                some = lanes.select(mask)
                if not some.count:
                    continue
                where = base if base.ndim == 0 else base[mask]
                part = tuple(v if v.ndim == 0 else v[mask] for v in values)
                got = self.atomic(access, operation, where, offset, part, some, None, wanted)
                if wanted:
                    old[mask] = got
            return old
        memory, index, event = self.memory.elements(access, base, offset, lanes)
        flushed = event.access.space is Space.GLOBAL and access.element == np.float32
        if operation == "add" and flushed:
            operation = "add flushed"
        writers = self.memory.writers
        then = None if writers is None else memory[index]
        turns = self.turns.of(lanes)
        before, changed = update_in_turn(memory, index, operation, values, turns, count, wanted)
        self.memory.changes += changed
        wrote = before == values[0] if operation == "cas" else None
        for tell in self._updated:
            tell(event, wrote, turns)
        if writers is not None and changed:
            bits = f"u{access.element.itemsize}"
            differs = np.asarray(then).view(bits) != np.asarray(memory[index]).view(bits)
            if wrote is not None:
                differs = differs & wrote
            writers.wrote(event, np.broadcast_to(differs, (count,)))
        return before

    def fence(self, number: int, lanes: Lanes, guard: Any) -> None:
        """membar, fence: who executes it has handed on what it stored before."""
        if guard is not None:
            lanes = lanes.select(np.broadcast_to(guard, (lanes.count,)))
        instruction, weak = self.instructions[number], self.memory.weak
        for tell in self._fenced:
            tell(instruction, lanes)
        if weak is None:
            return
        if fences_device(instruction):
            self.memory.changes += weak.fence(lanes)
        else:
            weak.tell_block(lanes)

    # ---- the warp

    # `number` is the instruction's; `mask` names the lanes that take part.

    def meet(self, number: int, mask: Any, lanes: Lanes) -> None:
        """bar.warp.sync: a rendezvous and nothing else."""
        check_meeting(self.wave, self.instructions[number], mask, lanes)
        for tell in self._warp_met:
            tell(self.instructions[number], mask, lanes)
        if self.memory.weak is not None:
            self.memory.weak.tell_block(lanes)

    def shuffle(
        self, number: int, mode: str, value: Any, b: Any, c: Any, mask: Any, lanes: Lanes
    ) -> tuple[Any, Any]:
        """(the value of the lane that each lane names, whether that lane is in range)."""
        self.meet(number, mask, lanes)
        source = warp.sources(mode, b, c, lanes)
        unnamed = sources_left_out(mask, source.lane)
        if unnamed is not None and mode in ("idx", "bfly"):
            instruction = self.instructions[number]
            raise reads_beyond_mask(self.wave, instruction, unnamed, source.lane, lanes)
        if source.gone is not None:
            told = (self.wave, self.instructions[number], source, unnamed, lanes)
            check_sources(self.notes, mode, *told)
        return warp.shuffle(value, source, unnamed, lanes), source.valid

    def vote(self, number: int, mode: str, predicate: Any, mask: Any, lanes: Lanes) -> Any:
        """vote.sync: a ballot, or whether a predicate holds in all or in any lane."""
        self.meet(number, mask, lanes)
        note_absent_votes(self.notes, self.wave, self.instructions[number], mask, lanes)
        return warp.vote(mode, predicate, mask, lanes)

    def match(self, number: int, mode: str, value: Any, mask: Any, lanes: Lanes) -> tuple[Any, Any]:
        """match.sync: (the lanes with the same value, whether all have it)."""
        self.meet(number, mask, lanes)
        return warp.match(mode, value, mask, lanes)

    def reduce(self, number: int, mode: str, value: Any, mask: Any, lanes: Lanes) -> Any:
        """redux.sync: one value from those of all lanes."""
        self.meet(number, mask, lanes)
        return warp.reduce(mode, value, mask, lanes)

    def shuffle_shadow(
        self, number: int, mode: str, shadow: Any, b: Any, c: Any, mask: Any, lanes: Lanes
    ) -> Any:
        """The shadow that comes with a shuffled value: see `undefined.py`."""
        if shadow.ndim == 0 and not shadow:
            return shadow
        return warp.shuffle(shadow, warp.sources(mode, b, c, lanes), None, lanes, np.uint32(0))

    def vote_shadow(self, number: int, ballot: bool, shadow: Any, mask: Any, lanes: Lanes) -> Any:
        """Which lanes, or whether any lane, brought an undefined value to a vote or a sum."""
        if shadow.ndim == 0 and not shadow:
            return np.uint32(0) if ballot else np.bool_(False)
        return warp.vote("ballot" if ballot else "any", shadow != 0, mask, lanes)

    def active_mask(self, lanes: Lanes) -> Any:
        """Which lanes of the own warp are here: chance, as on a GPU."""
        mask = warp.present(lanes)
        return np.repeat(mask, 32) if lanes.index is None else mask[lanes.index >> 5]

    def block_vote(self, mode: str, predicate: Any, lanes: Lanes) -> Any:
        """bar.red: of how many threads of the own block a predicate holds; of all; of any."""
        slot = self.wave.slot[lanes.indices()]
        here = np.bincount(slot)
        holds = np.bincount(slot, np.broadcast_to(predicate, slot.shape)).astype(np.uint32)
        return {"popc": holds, "and": holds == here, "or": holds > 0}[mode][slot]

    # ---- printf, assert, trap

    def printf(self, format_: Any, arguments: Any, lanes: Lanes) -> Any:
        """vprintf of each lane. Returns zero, where CUDA gives the number of arguments."""
        self._printer.print(self, format_, arguments, lanes)
        return np.uint32(0)

    def text(self, pointer: int) -> str:
        """The zero-terminated text at a global address."""
        return text_at(self._addresses, pointer)

    def assertion_failed(
        self, message: Any, file: Any, line: Any, function: Any, size: Any, lanes: Lanes, at: int
    ) -> None:
        """__assertfail(message, file, line, function, character size): an assert does not hold."""
        condition = self.text(int(message if message.ndim == 0 else message[0]))
        place = self.wave.place(int(lanes.indices()[0]))
        more, words = self.wave.words.and_more(lanes.count - 1), self.wave.words
        raise KernelFault(
            FaultKind.ASSERTION,
            f"{words.assertion(condition)} fails in {place}{more}",
            line=at if int(line) in (0, at) else int(line),
            expected=f"{condition} holds in {words.every_thread}.",
            advice=words.assertion_advice,
            place=place,
        )

    def trap(self, lanes: Lanes, line: int, guard: Any, asked: bool) -> None:
        """The program asked for it, or a lane is where the compiler holds that none can be."""
        if guard is not None and not guard.any():
            return
        first = 0 if guard is None or guard.ndim == 0 else int(np.argmax(guard))
        place = self.wave.place(int(lanes.indices()[first]))
        if asked:
            what = f"{place} executes a trap"
            expected = "A trap ends the kernel: the program asked for it."
            advice = "Look for __trap() here, and for the condition that leads to it."
        else:
            what = f"{place} takes a path that the compiler holds impossible"
            expected = "No thread gets there: the compiler has left out what would follow."
            advice = (
                "Look for an access through a pointer that is null there, a division by zero, or "
                "__builtin_unreachable()."
            )
        raise KernelFault(
            FaultKind.TRAP, what, line=line, expected=expected, advice=advice, place=place
        )
