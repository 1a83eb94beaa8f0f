"""An SM's budgets: how many blocks it holds at once, and what stops the next one.

A Gpu of references/hardware.py says what there is: sms, warps_per_sm, blocks_per_sm,
registers_per_sm, shared_bytes_per_sm, and shared_bytes_per_block, the most that one block may have.
"""

import re
from dataclasses import dataclass

from references.hardware import (
    LANES_PER_WARP,
    REGISTERS_PER_ALLOCATION,
    REGISTERS_PER_THREAD,
    RESERVED_SHARED_BYTES,
    SCHEDULERS_PER_SM,
    SHARED_BYTES_PER_ALLOCATION,
    THREADS_PER_BLOCK,
    Gpu,
)


def rounded_up(number: int, multiple: int) -> int:
    """The least multiple that is no less than `number`. Supplied."""
    return -(-number // multiple) * multiple


def warps_of(threads: int) -> int:
    """The warps of a block; a last one that is not full counts whole. Supplied."""
    return rounded_up(threads, LANES_PER_WARP) // LANES_PER_WARP


def blocks_by_warps(gpu: Gpu, threads: int) -> int:
    """Blocks of `threads` that the warp places of an SM allow; 0 for a block that may not be."""
    # TASK 1: whole blocks only, and none of more than THREADS_PER_BLOCK threads
    # TODO: about 3 lines
    raise NotImplementedError("task 1")


def blocks_by_registers(gpu: Gpu, threads: int, registers: int) -> int:
    """Blocks that the registers of an SM allow, at `registers` a thread, 1 or more."""
    # TASK 1: a warp takes a multiple of REGISTERS_PER_ALLOCATION, all of it from one quarter of the
    # SM. How many warps does a quarter hold, how many do all? And over REGISTERS_PER_THREAD: none.
    # TODO: about 5 lines
    raise NotImplementedError("task 1")


def blocks_by_shared(gpu: Gpu, shared_bytes: int) -> int:
    """Blocks that the shared memory of an SM allows, if each asks for so many bytes."""
    # TASK 1: the system's RESERVED_SHARED_BYTES come on top, then the sum is rounded up; what the
    # kernel asks for must not pass what one block may have
    # TODO: about 4 lines
    raise NotImplementedError("task 1")


@dataclass(frozen=True)
class Residency:
    """What one SM holds of a kernel at a time."""

    blocks: int  # 0: it cannot be launched
    warps: int
    fraction: float  # of the SM's warp places: the occupancy
    limiters: tuple[str, ...]  # of "warps", "blocks", "registers", "shared memory", in this order


def occupancy(gpu: Gpu, threads: int, registers: int, shared_bytes: int = 0) -> Residency:
    """The resident blocks of a kernel, and every budget that has no room for one more."""
    # TASK 2: the smallest of four budgets decides; several may be the smallest
    # TODO: about 10 lines
    raise NotImplementedError("task 2")


@dataclass(frozen=True)
class Account:
    """What the assembler says of one kernel."""

    registers: int  # of a thread
    spill_store_bytes: int  # of a thread: what it writes to local memory for want of registers
    spill_load_bytes: int  # of a thread: what it reads back


def account(log: str, kernel: str) -> Account:
    """Find one kernel in the assembler's log. Raises KeyError if the log has no such kernel."""
    # TASK 4: the lines of a kernel begin at `Compiling entry function 'NAME' for` and end where the
    # next entry begins. Functions that it calls may have property lines of their own, before the
    # kernel's or behind them.
    # TODO: about 7 lines
    raise NotImplementedError("task 4")


def register_limit(gpu: Gpu, threads: int, blocks: int) -> int:
    """The most registers of a thread with which `blocks` blocks of `threads` fit on an SM."""
    # TASK 4: try from the top, or turn task 1's formula round
    # TODO: about 5 lines
    raise NotImplementedError("task 4")


def must_spill(gpu: Gpu, values: int, threads: int, blocks: int) -> bool:
    """Whether a kernel that needs `values` registers at once must spill under these bounds.

    The bounds are __launch_bounds__(threads, blocks): the compiler makes `blocks` blocks fit.
    """
    # TASK 4: one comparison
    # TODO: about 1 line
    raise NotImplementedError("task 4")
