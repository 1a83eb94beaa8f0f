"""What the assembler says a kernel takes: registers, shared and spilled bytes, on any architecture.

NVRTC carries its own ptxas, so no GPU is needed: `--ptxas-options=-v` puts the account in its log.
"""

import re
from dataclasses import dataclass

from harness.launching.compiler import Compiled

OPTION = "--ptxas-options=-v"
_FUNCTION = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True)
class Resources:
    registers: int  # per thread
    shared_bytes: int  # per block, of fixed size
    stack_bytes: int  # per thread, in local memory
    spill_store_bytes: int  # per thread
    spill_load_bytes: int  # per thread


def resources_of(compiled: Compiled, kernel: str) -> Resources | None:
    """Read the account of one kernel from a log made with `OPTION`."""
    head = f"Compiling entry function '{kernel}'"
    if head not in compiled.log:
        return None
    text = _FUNCTION.split(compiled.log.split(head, 1)[1])[0]
    spills, registers, shared = _SPILLS.search(text), _REGISTERS.search(text), _SHARED.search(text)
    if spills is None or registers is None:
        return None
    return Resources(
        registers=int(registers[1]),
        shared_bytes=int(shared[1]) if shared else 0,
        stack_bytes=int(spills[1]),
        spill_store_bytes=int(spills[2]),
        spill_load_bytes=int(spills[3]),
    )
