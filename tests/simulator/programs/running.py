"""Compile a subject once, launch a program, and read what the simulator says."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from simulator import Buffer, FaultKind, KernelFault, Pointer, parse
from simulator.running.module_memory import forget_module_memory
from tests.simulator.compiled import Kernel, kernel_of, ptx_of, run
from tests.simulator.programs.program import FRESH, Program

_THREAD = re.compile(r"thread (\([^)]*\)|\d+)(?: of (block (?:\([^)]*\)|\d+)|the same block))?")


@dataclass(frozen=True)
class Verdict:
    """fault: None where there was none; arrays: what the launch left in the arguments."""

    fault: KernelFault | None
    notes: tuple[str, ...]
    arrays: dict[str, np.ndarray]


def verdict(program: Program, path: Path | None = None, **settings) -> Verdict:
    """Launch on fresh copies of the arguments, checks on and counters off.

    path  of a file that holds the kernel, where it is not the subject's own
    """
    copies = {id(v): v.copy() for v in program.arguments.values() if isinstance(v, np.ndarray)}
    arguments = {name: copies.get(id(v), v) for name, v in program.arguments.items()}
    settings = {"counters": False} | settings | dict(program.settings)
    notes = ()
    for name in filter(None, (program.kernel, program.then)):
        kernel = kernel_named((path or program.path).read_text(), name)
        assert kernel.names == tuple(arguments), f"{name} takes {kernel.names}"
        if name != program.then:
            forget_module_memory(kernel.entry.outside)
        try:
            launched = run(kernel, program.grid, program.block, *_bound(kernel, arguments),
                           shared_bytes=program.shared_bytes, **settings)  # fmt: skip
        except KernelFault as fault:
            return Verdict(fault, notes, arguments)
        notes += launched.notes
    return Verdict(None, notes, arguments)


def _bound(kernel: Kernel, arguments):
    """What the source declares `const T*` is an input, as the harness tells the simulator."""
    head = re.search(rf"\b{kernel.entry.name}\(([^)]*)\)", kernel.source)[1]
    buffers: dict[int, Buffer] = {}  # an array that is passed twice is one tensor
    for declared, (name, value) in zip(head.split(","), arguments.items(), strict=True):
        if isinstance(value, np.ndarray):
            data = value.reshape(-1).view(np.uint8)
            constant = declared.strip().startswith("const ")
            fresh = FRESH if value.dtype == np.float32 else None
            made = Buffer(name, data, value.dtype, read_only=constant, unwritten=fresh)
            buffer = buffers.setdefault(id(value), made)
            buffer.read_only &= constant
            yield Pointer(buffer)
        else:
            yield value


@cache
def kernel_named(source: str, name: str) -> Kernel:
    return kernel_of(_module(source), source, name)


@cache
def _module(source: str):
    return parse(ptx_of(source))


def lines_of(fault: KernelFault) -> set[int]:
    """The line of the fault, and all that its sentence names: of a race, those of the accesses."""
    said = fault.what.split("\n")[0] if fault.kind is FaultKind.RACE else fault.what
    said = re.sub(r" \(called from [^)]*\)", "", said)  # the calls of functions put inline
    told = {int(number) for number in re.findall(r"\bline (\d+)", said)}
    return told | ({fault.line} if fault.line else set())


def threads_of(fault: KernelFault) -> list[tuple[str, str]]:
    """(thread, block) in the order of the sentence."""
    found: list[tuple[str, str]] = []
    for thread, block in _THREAD.findall(fault.what):
        same = not block or block == "the same block"
        found.append((thread, found[-1][1] if same and found else block))
    return found
