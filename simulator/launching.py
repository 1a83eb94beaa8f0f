"""Launching an entry: arguments in, memory changed in place, counts and faults out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.faults import FaultKind, KernelFault
from simulator.observing.checks import UninitialisedShared, WritesToConst
from simulator.observing.counters import Counters, Traffic, total
from simulator.observing.counting import Counting, by_line
from simulator.observing.events import Observer, listeners
from simulator.observing.fresh_memory import reads_fresh
from simulator.observing.races import Races
from simulator.observing.unfinished_copies import UnfinishedCopies
from simulator.occupancy import THREADS_PER_BLOCK
from simulator.reading.lines import CallPath
from simulator.reading.ptx import Entry
from simulator.residency import DEVICE, DoesNotFit, blocks_in_a_wave, residency
from simulator.running.atomics import Turns
from simulator.running.buffers import AddressMap, Buffer, Pointer
from simulator.running.deadlocks import NOT_STARTED
from simulator.running.execution import Execution
from simulator.running.gone_round import rather_the_barrier
from simulator.running.machine import Machine
from simulator.running.module_memory import forget_module_memory, place_module_memory
from simulator.running.printf import Printer
from simulator.running.schedule import Schedule
from simulator.running.undefined import UndefinedValues
from simulator.running.wave import GRID_BARRIER, GRID_BARRIER_BYTES, Dimensions, Wave
from simulator.running.weak_stores import WeakStores
from simulator.running.writers import Writers
from simulator.settings import Settings
from simulator.translating.definedness import Sources
from simulator.translating.program import Program, program_of


@dataclass(frozen=True, slots=True)
class Launched:
    """What a launch did.

    counters  of the whole kernel
    lines     the same by the learner's source line
    paths     the same by that line and the calls that led there: a line of a function that was
              put inline twice has two
    buffers   unique bytes, by the buffer's name
    output    what the kernel printed
    notes     things worth knowing that are no fault
    """

    counters: Counters
    lines: dict[int, Counters] = field(default_factory=dict)
    buffers: dict[str, Traffic] = field(default_factory=dict)
    output: str = ""
    notes: tuple[str, ...] = ()
    paths: dict[CallPath, Counters] = field(default_factory=dict)


Argument = Pointer | np.generic | None


def launch(
    entry: Entry,
    grid: Dimensions,
    block: Dimensions,
    arguments: Sequence[Argument],
    shared_bytes: int = 0,
    settings: Settings | None = None,
    observers: Sequence[Observer] = (),
    addresses: AddressMap | None = None,
) -> Launched:
    """Run a kernel.

    arguments     a Pointer, None (a null pointer) or a NumPy scalar for each parameter
    shared_bytes  dynamic shared memory of each block, in bytes
    observers     more of them, beside the counters
    addresses     of this launch alone: with the buffers that pointers in memory lead to, if any do

    Raises KernelFault where the kernel does what it must not, UnknownInstruction where the
    simulator has no such instruction, ValueError where the launch itself makes no sense, and its
    kind DoesNotFit where the device cannot keep enough blocks resident.
    """
    settings = settings or Settings()
    _check(entry, grid, block, arguments, shared_bytes)
    addresses = addresses or AddressMap()
    parameters = {
        p.name: _parameter_bytes(p.bytes, a, addresses)
        for p, a in zip(entry.parameters, arguments, strict=True)
    }
    variables = place_module_memory(entry.outside, addresses)
    if settings.cooperative:
        meeting = Buffer(GRID_BARRIER, np.zeros(GRID_BARRIER_BYTES, np.uint8))
        variables[GRID_BARRIER] = addresses.base(meeting)
    sources = None
    if settings.faults:
        fresh = reads_fresh(entry, parameters, variables, addresses)
        sources = Sources(fresh, entry.unfilled)
    program = program_of(entry, settings.perturb, sources)
    shared = _shared_bytes(entry, shared_bytes)
    watching = list(observers)
    ids = _block_ids(grid, settings)
    races = None
    if settings.faults:
        watching.append(WritesToConst())
        races = Races(
            entry,
            program,
            grid,
            block,
            ids,
            parameters,
            variables,
            addresses,
            settings.strict,
            settings.tiles,
            shared,
        )
        watching.append(races)
        if program.copies:
            watching.append(UnfinishedCopies(entry.shared))
        if shared:
            watching.append(UninitialisedShared(entry.shared, races.hold))
    undefined = UndefinedValues(program.followed) if program.followed is not None else None
    if undefined is not None:
        watching.append(undefined)
    counting = Counting(entry, program) if settings.counters else None
    if counting is not None:
        watching.append(counting)
    printer = Printer()
    notes: dict[int | None, str] = {}  # by line: each thing is worth telling once
    together, why = _together(entry, program, block, shared, settings)
    if settings.cooperative and len(ids) > together:
        raise DoesNotFit(f"a cooperative launch of {len(ids):,} blocks: resident are {why}")
    hides = program.blocks_talk if settings.weak_stores is None else settings.weak_stores
    weak = WeakStores(program.granule, settings.seed) if hides else None
    writers = Writers() if program.asks else None
    with np.errstate(all="ignore"):
        for start in range(0, len(ids), together):
            wave = Wave(
                ids[start : start + together],
                grid,
                block,
                shared,
                entry.local_bytes,
                shared_bytes,
                ids[start + together :] if why else None,
                settings.words,
            )
            for observer in watching:
                observer.wave_started(wave)
            run = Execution(entry, wave, parameters, addresses, variables, watching, printer)
            run.turns = Turns(wave, settings.order, settings.seed)
            for shadow in (weak, writers):
                if shadow is not None:
                    shadow.wave_started(wave)
            run.memory.weak, run.memory.writers = weak, writers
            if undefined is not None:
                undefined.attach(run)
            schedule = Schedule(wave, settings.order, settings.seed, settings.warps_apart)
            machine = Machine(program, run, watching, settings.seconds, schedule)
            try:
                machine.finish()
                run.copies.finish()
                for ended in listeners(watching, "wave_ended"):
                    ended()
            except KernelFault as raised:
                fault = raised if races is None else races.rather(raised)
                fault = rather_the_barrier(machine.barriers, raised, fault)
                fault.output = printer.output
                if fault.kind is FaultKind.DEADLOCK and NOT_STARTED in fault.what:
                    fault.expected = f"Who is waited for is resident. Resident are {why}."
                    fault.advice = settings.words.not_resident
                if fault.kind is FaultKind.TRAP and program.meets_grid and not settings.cooperative:
                    fault.expected = "Blocks that meet in grid().sync() are launched cooperatively."
                    fault.advice = "Load the module with enable_cooperative_groups=True."
                if weak is not None:
                    weak.finish()
                forget_module_memory(entry.outside)
                raise fault from None
            notes = machine.barriers.notes | run.copies.notes | run.notes | notes
    if weak is not None:
        weak.finish()
    if races is not None:
        notes = races.notes | notes
    told = tuple(notes.values())
    if counting is None:
        return Launched(Counters(), output=printer.output, notes=told)
    names = [buffer.name for buffer in addresses.buffers] + list(entry.mentioned)
    untouched = {name: Traffic() for name in names}
    traffic = untouched | counting.traffic()
    traffic.pop(GRID_BARRIER, None)  # not the program's
    paths = counting.by_path()
    whole = total((counting.kernel, *paths.values()))
    return Launched(whole, by_line(paths), traffic, printer.output, told, paths)


def _check(
    entry: Entry,
    grid: Dimensions,
    block: Dimensions,
    arguments: Sequence[Argument],
    shared_bytes: int,
) -> None:
    if min(grid) < 1 or min(block) < 1:
        raise ValueError(f"grid {grid} and block {block} must be at least 1 in every dimension")
    threads = block[0] * block[1] * block[2]
    limit = min(THREADS_PER_BLOCK, entry.maximum_threads or THREADS_PER_BLOCK)
    if threads > limit:
        raise ValueError(f"a block of {threads} threads is over the limit of {limit}")
    if len(arguments) != len(entry.parameters):
        raise ValueError(
            f"{entry.name} takes {len(entry.parameters)} arguments, not {len(arguments)}"
        )
    shared = _shared_bytes(entry, shared_bytes)
    if shared > DEVICE.shared_bytes_per_block:
        raise ValueError(
            f"{shared} bytes of shared memory; a block has {DEVICE.shared_bytes_per_block}"
        )


def _together(
    entry: Entry, program: Program, block: Dimensions, shared: int, settings: Settings
) -> tuple[int, str]:
    """(how many blocks run together, and why: "" if no block waits for another)."""
    threads = block[0] * block[1] * block[2]
    resident = residency(threads, settings.registers, shared)
    if settings.resident_blocks:
        return settings.resident_blocks, f"{settings.resident_blocks}, as this launch asks"
    if settings.cooperative or program.waits_for_blocks:
        return resident.blocks, resident.why
    return blocks_in_a_wave(threads, shared, entry.most_local_bytes), ""


def _shared_bytes(entry: Entry, dynamic: int) -> int:
    """A block's shared memory: what the launch asks for begins at a multiple of 16 bytes."""
    static = entry.static_shared_bytes
    return -(-static // 16) * 16 + dynamic if dynamic else static


def _parameter_bytes(size: int, argument: Argument, addresses: AddressMap) -> bytes:
    if argument is None:
        raw = bytes(8)
    elif isinstance(argument, Pointer):
        address = addresses.base(argument.buffer) + argument.offset
        raw = address.to_bytes(8, "little")
    else:
        raw = argument.tobytes()
    if len(raw) != size:
        raise ValueError(f"an argument of {len(raw)} bytes for a parameter of {size}")
    return raw


def _block_ids(grid: Dimensions, settings: Settings) -> "np.ndarray[Any, np.dtype[np.int64]]":
    blocks = grid[0] * grid[1] * grid[2]
    if settings.blocks is None:
        ids = np.arange(blocks, dtype=np.int64)
    else:
        ids = np.asarray(settings.blocks, np.int64)
        if len(ids) and (ids.min() < 0 or ids.max() >= blocks):
            raise ValueError(f"block ids must lie in 0 .. {blocks - 1}")
    if settings.order == "reversed":
        return ids[::-1]
    if settings.order == "shuffled":
        return np.random.default_rng(settings.seed).permutation(ids)
    return ids
