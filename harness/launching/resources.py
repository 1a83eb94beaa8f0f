"""What the assembler says a kernel takes: registers, shared and spilled bytes, on any architecture.

    taken = resources(path, "tile_sum", "sm_90", ("--maxrregcount=32",))
    taken.registers, taken.spill_store_bytes
    taken.occupancy(threads=256, dynamic_shared=16_384).blocks  # resident on an SM

NVRTC carries its own ptxas, so no GPU is needed: `--ptxas-options=-v` puts the account in its log.
Such compiles are kept on disk as all others are.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.launching.call_site import shown_path
from harness.launching.compiler import Compiled, compile_file, supported_architectures
from harness.launching.fault_report import source_line
from harness.launching.missing_kernel import missing_kernel
from harness.launching.ptx_entries import entry_heads, source_name
from harness.telling.learner_error import LaunchError

if TYPE_CHECKING:
    from simulator.occupancy import Occupancy

OPTION = "--ptxas-options=-v"
_FUNCTION = "Compiling entry function '{}'"
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel takes on one architecture."""

    kernel: str  # its entry's name, mangled where it is not extern "C"
    architecture: str  # "sm_90"
    registers: int  # per thread
    shared_bytes: int  # per block, of fixed size
    barriers: int  # per block
    stack_bytes: int  # per thread, in local memory
    spill_store_bytes: int  # per thread
    spill_load_bytes: int  # per thread
    maximum_threads: int | None  # per block, by __launch_bounds__

    def occupancy(
        self, threads: int, dynamic_shared: int = 0, carveout: int | None = None
    ) -> "Occupancy":
        """The kernel's resident blocks on an SM of its architecture, in blocks of `threads`.

        dynamic_shared  bytes a block, as the launch asks
        carveout        per cent of the SM's shared memory that the kernel prefers to L1, 0 .. 100

        Raises ValueError where `simulator.occupancy.occupancy` does, for an architecture that it
        does not know, and for more threads than __launch_bounds__ promised.
        """
        from simulator.occupancy import occupancy

        if self.maximum_threads is not None and threads > self.maximum_threads:
            raise ValueError(
                f"{threads} threads a block: {self.kernel} was compiled for at most "
                f"{self.maximum_threads} (__launch_bounds__)"
            )
        return occupancy(
            self.architecture,
            threads,
            self.registers,
            self.shared_bytes,
            dynamic_shared,
            carveout,
            self.barriers,
        )


def resources(
    path: Path, kernel: str, architecture: str = "sm_90", options: Sequence[str] = ()
) -> Resources:
    """Compile a file for a GPU that need not be here, and read the account of one kernel.

    kernel        as the source names it, or mangled: that alone tells overloads and instances of a
                  template apart
    architecture  "sm_90": a real one, as a compute_90 is never assembled
    options       to the compiler: ("--maxrregcount=32", "-DTILE=16")

    Raises CompileError at the learner's line, and LaunchError for an architecture that NVRTC does
    not know, a kernel that the file does not have, or a name that several kernels have.
    """
    _check_architecture(architecture)
    compiled = compile_file(path, architecture, (*options, OPTION))
    heads = entry_heads(compiled.ptx)
    entry = _entry(kernel, heads, path)
    stack = _account(_STACK, f"Function properties for {entry}\n", entry, compiled)
    registers = _account(_REGISTERS, "", entry, compiled)
    used = registers.string[registers.start() :].partition("\n")[0]  # the whole line
    shared, barriers = _SHARED.search(used), _BARRIERS.search(used)
    return Resources(
        kernel=entry,
        architecture=architecture,
        registers=int(registers[1]),
        shared_bytes=int(shared[1]) if shared else 0,
        barriers=int(barriers[1]) if barriers else 0,
        stack_bytes=int(stack[1]),
        spill_store_bytes=int(stack[2]),
        spill_load_bytes=int(stack[3]),
        maximum_threads=heads[entry].maximum_threads,
    )


def _check_architecture(architecture: str) -> None:
    number = re.fullmatch(r"sm_(\d+)[af]?", architecture)
    known = supported_architectures()
    if number is None or int(number[1]) not in known:
        raise LaunchError(
            f"the compiler cannot assemble for {architecture!r}",
            expected="one of " + ", ".join(f"sm_{known_number}" for known_number in known),
            advice="sm_90 is an H100 or H200, sm_80 an A100, sm_89 an RTX 4090, sm_120 an RTX 5090",
        )


def _entry(kernel: str, entries: Iterable[str], path: Path) -> str:
    """The one entry of a name, mangled or as the source has it."""
    if kernel in entries:
        return kernel
    found = [entry for entry in entries if source_name(entry) == kernel]
    if len(found) > 1:
        raise LaunchError(
            f"{shown_path(path)} has {len(found)} kernels {kernel}",
            where=source_line(path, None),
            expected="one of " + ", ".join(sorted(found)),
            advice="ask for one by its mangled name",
        )
    if not found:
        source = path.read_text(encoding="utf-8-sig", errors="replace")
        raise missing_kernel(kernel, path, source, entries)
    return found[0]


def _account(what: re.Pattern[str], head: str, entry: str, compiled: Compiled) -> re.Match[str]:
    """The first match behind the line that names the entry, before the next entry is assembled."""
    begin = compiled.log.find(_FUNCTION.format(entry))
    end = compiled.log.find(_FUNCTION.partition("{")[0], begin + 1)
    text = compiled.log[max(begin, 0) : end if end > 0 else None]
    found = what.search(text, max(text.find(head), 0)) if begin >= 0 else None
    if found is None:
        raise RuntimeError(f"the assembler's log has no account of {entry}:\n{compiled.log}")
    return found
