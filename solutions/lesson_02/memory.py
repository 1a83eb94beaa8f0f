"""Bytes and places: what must move, how long that takes at least, and where a variable lives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import torch

Shape = tuple[int, ...]


def bytes_moved(op: str, shapes: Sequence[Shape], dtypes: Sequence[torch.dtype]) -> dict[str, int]:
    """The fewest bytes that `op` moves through memory: {"read": …, "written": …}.

    op        copy      y = x
              add       c = a + b, where the smaller one is broadcast
              axpy      y += s * x, in place, for x and y of one shape
              row_sum   sums[r] = x[r, 0] + x[r, 1] + …
              matmul    c = a @ b for a [m, k] and b [k, n]
    shapes    of the inputs, in that order
    dtypes    of the inputs, then of the output
    """
    # TASK 2: every element of an input is read once, as often as it may be used. Every element of
    # the output is written once. What shape does the output have?
    if op == "row_sum":
        output = shapes[0][:-1]
    elif op == "matmul":
        output = (shapes[0][0], shapes[1][1])
    else:
        output = tuple(torch.broadcast_shapes(*shapes))
    read = sum(
        prod(shape) * dtype.itemsize for shape, dtype in zip(shapes, dtypes[:-1], strict=True)
    )
    return {"read": read, "written": prod(output) * dtypes[-1].itemsize}
    # END TASK


def time_floor(
    level_bytes: Mapping[str, int], gigabytes_per_second: Mapping[str, float]
) -> tuple[float, str]:
    """(seconds, level): the least time for these bytes, and the level that takes it.

    level_bytes  how many bytes cross each level, at least one level. All levels work at once.
    If several take equally long, the one with the lowest bandwidth is named.
    """
    # TASK 3: the time of each level, then the longest
    seconds = {
        level: crossing / (gigabytes_per_second[level] * 1e9)
        for level, crossing in level_bytes.items()
    }
    level = max(seconds, key=lambda name: (seconds[name], -gigabytes_per_second[name]))
    return seconds[level], level
    # END TASK


def inflight_bytes(latency_nanoseconds: float, gigabytes_per_second: float) -> float:
    """The bytes that must be under way at any moment to keep a memory busy."""
    # TASK 4: a pipe holds what enters it in the time that one byte takes to come out
    return latency_nanoseconds * gigabytes_per_second
    # END TASK


def loads_per_thread(
    latency_nanoseconds: float,
    gigabytes_per_second: float,
    sms: int,
    threads_per_sm: int,
    bytes_per_load: int = 4,
) -> int:
    """The loads that each thread must have under way, all SMs being full of threads."""
    # TASK 4: share out the bytes in flight, and round up: a load is whole
    threads = sms * threads_per_sm
    needed = inflight_bytes(latency_nanoseconds, gigabytes_per_second)
    return int(-(-needed // (threads * bytes_per_load)))
    # END TASK


@dataclass(frozen=True)
class Variable:
    """What the compiler knows about one variable of a kernel."""

    declaration: str  # as written: "float sum", "__shared__ float tile[256]", "const float* x"
    index_known: bool = True  # for an array: is every index a number once the code is compiled?
    registers_left: bool = True  # False: the thread has used up its registers


def where_does_it_live(variable: Variable) -> str:
    """The address space of a variable: "registers", "local", "shared", "constant" or "global".

    For a pointer, that of the pointer itself, not of what it points to.
    """
    # TASK 5: a qualifier decides. Without one, ask whether registers can hold the variable.
    for space in ("shared", "constant"):
        if f"__{space}__" in variable.declaration:
            return space
    if "__device__" in variable.declaration:
        return "global"
    is_array = "[" in variable.declaration
    if (is_array and not variable.index_known) or not variable.registers_left:
        return "local"
    return "registers"
    # END TASK


def lru_hits(trace: Sequence[int], lines: int, ways: int) -> tuple[int, int]:
    """(hits, misses) of a cache that starts empty and replaces what was used longest ago.

    trace  the numbers of the memory lines that are touched, in order
    lines  how many lines the cache holds, in lines // ways sets of `ways` lines;
           memory line k may only be kept in set k % sets
    """
    # TASK 6: keep each set as a list, the line used last at its end
    sets: list[list[int]] = [[] for _ in range(lines // ways)]
    hits = 0
    for line in trace:
        kept = sets[line % len(sets)]
        if line in kept:
            hits += 1
            kept.remove(line)
        elif len(kept) == ways:
            kept.pop(0)
        kept.append(line)
    return hits, len(trace) - hits
    # END TASK
