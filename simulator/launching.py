"""Launching an entry: arguments in, memory changed in place, counts and faults out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from simulator.faults import KernelFault
from simulator.observing.checks import UninitialisedShared, WritesToConst
from simulator.observing.counters import Counters, Traffic
from simulator.observing.counting import Counting
from simulator.observing.events import Observer
from simulator.reading.ptx import Entry
from simulator.running.buffers import AddressMap, Pointer
from simulator.running.execution import Execution
from simulator.running.machine import Machine
from simulator.running.module_memory import forget_module_memory, place_module_memory
from simulator.running.printf import Printer
from simulator.running.wave import Dimensions, Wave
from simulator.translating.program import program_of

LANES_IN_A_WAVE = 1 << 16  # 64-128 k lanes is where NumPy is at its best; see README.md
# Of shared and local memory; still more blocks than a device has resident, at any shared size.
BYTES_IN_A_WAVE = 1 << 27
MAXIMUM_SHARED_BYTES = 232_448  # a block's, on compute capability 9.0, by opting in


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run a launch.

    faults    look for what hardware lets slip (what would trap is always found)
    counters  count what the hardware would have moved
    blocks    run these linear block ids only; None: all
    order     of the blocks
    seed      of the shuffled order
    perturb   move approximate results within their documented error
    resident_blocks  how many blocks run together; None: as many as a wave holds
    seconds   a wave that runs longer is called endless
    """

    faults: bool = True
    counters: bool = True
    blocks: Sequence[int] | None = None
    order: Literal["forward", "reversed", "shuffled"] = "forward"
    seed: int = 0
    perturb: bool = False
    resident_blocks: int | None = None
    seconds: float = 45.0


@dataclass(frozen=True, slots=True)
class Launched:
    """What a launch did.

    counters  of the whole kernel
    lines     the same by the learner's source line
    buffers   unique bytes, by the buffer's name
    output    what the kernel printed
    notes     things worth knowing that are no fault
    """

    counters: Counters
    lines: dict[int, Counters] = field(default_factory=dict)
    buffers: dict[str, Traffic] = field(default_factory=dict)
    output: str = ""
    notes: tuple[str, ...] = ()


Argument = Pointer | np.generic | None


def launch(
    entry: Entry,
    grid: Dimensions,
    block: Dimensions,
    arguments: Sequence[Argument],
    shared_bytes: int = 0,
    settings: Settings | None = None,
    observers: Sequence[Observer] = (),
) -> Launched:
    """Run a kernel.

    arguments     a Pointer, None (a null pointer) or a NumPy scalar for each parameter
    shared_bytes  dynamic shared memory of each block, in bytes
    observers     more of them, beside the counters

    Raises KernelFault where the kernel does what it must not, UnknownInstruction where the
    simulator has no such instruction, ValueError where the launch itself makes no sense.
    """
    settings = settings or Settings()
    _check(entry, grid, block, arguments, shared_bytes)
    addresses = AddressMap()
    parameters = {
        p.name: _parameter_bytes(p.bytes, a, addresses)
        for p, a in zip(entry.parameters, arguments, strict=True)
    }
    variables = place_module_memory(entry.outside, addresses)
    program = program_of(entry, settings.perturb)
    shared = _shared_bytes(entry, shared_bytes)
    watching = list(observers)
    if settings.faults:
        watching.append(WritesToConst())
        if shared:
            watching.append(UninitialisedShared())
    counting = Counting(program) if settings.counters else None
    if counting is not None:
        watching.append(counting)
    printer = Printer()
    notes: dict[int | None, str] = {}  # by line: each thing is worth telling once
    ids = _block_ids(grid, settings)
    together = settings.resident_blocks or _blocks_in_a_wave(entry, block, shared)
    with np.errstate(all="ignore"):
        for start in range(0, len(ids), together):
            wave = Wave(
                ids[start : start + together],
                grid,
                block,
                shared,
                entry.local_bytes,
                shared_bytes,
                ids[start + together :],
            )
            for observer in watching:
                observer.wave_started(wave)
            run = Execution(entry, wave, parameters, addresses, variables, watching, printer)
            machine = Machine(program, run, watching, settings.seconds)
            try:
                machine.finish()
            except KernelFault as fault:
                fault.output = printer.output
                forget_module_memory(entry.outside)
                raise
            notes = machine.barriers.notes | notes
    told = tuple(notes.values())
    if counting is None:
        return Launched(Counters(), output=printer.output, notes=told)
    names = [buffer.name for buffer in addresses.buffers] + list(entry.mentioned)
    untouched = {name: Traffic() for name in names}
    traffic = untouched | counting.traffic()
    return Launched(counting.total(), counting.by_line(), traffic, printer.output, told)


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
    limit = min(1024, entry.maximum_threads or 1024)
    if threads > limit:
        raise ValueError(f"a block of {threads} threads is over the limit of {limit}")
    if len(arguments) != len(entry.parameters):
        raise ValueError(
            f"{entry.name} takes {len(entry.parameters)} arguments, not {len(arguments)}"
        )
    shared = _shared_bytes(entry, shared_bytes)
    if shared > MAXIMUM_SHARED_BYTES:
        raise ValueError(f"{shared} bytes of shared memory; a block has {MAXIMUM_SHARED_BYTES}")


def _blocks_in_a_wave(entry: Entry, block: Dimensions, shared: int) -> int:
    padded = -(-block[0] * block[1] * block[2] // 32) * 32
    memory = shared + padded * entry.local_bytes
    return max(1, min(LANES_IN_A_WAVE // padded, BYTES_IN_A_WAVE // max(1, memory)))


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
