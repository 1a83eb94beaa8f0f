"""Weigh tensors that take no room: torch's meta device knows shapes and types alone."""

from collections import deque
from dataclasses import dataclass
from fractions import Fraction

import torch


@dataclass(frozen=True)
class Variable:
    declaration: str
    index_known: bool = True
    registers_left: bool = True


def bytes_moved(op, shapes, dtypes):
    meta = [torch.empty(shape, dtype=t, device="meta") for shape, t in zip(shapes, dtypes)]  # noqa: B905
    if op == "matmul":
        out = meta[0].float() @ meta[1].float()
    elif op == "row_sum":
        out = meta[0].float().sum(-1)
    elif op == "copy":
        out = meta[0]
    else:
        out = meta[0] + meta[1]
    return dict(read=sum(t.nbytes for t in meta), written=out.to(dtypes[-1]).nbytes)  # noqa: C408


def time_floor(level_bytes, gigabytes_per_second):
    answer = (-1.0, "")
    for level, crossing in level_bytes.items():
        rate = gigabytes_per_second[level]
        seconds = crossing / rate / 1e9
        slower = seconds == answer[0] and rate < gigabytes_per_second[answer[1]]
        if seconds > answer[0] or slower:
            answer = (seconds, level)
    return answer


def inflight_bytes(latency_nanoseconds, gigabytes_per_second):
    seconds = Fraction(latency_nanoseconds) / 10**9
    return seconds * Fraction(gigabytes_per_second) * 10**9


def loads_per_thread(
    latency_nanoseconds, gigabytes_per_second, sms, threads_per_sm, bytes_per_load=4
):
    wanted = inflight_bytes(latency_nanoseconds, gigabytes_per_second)
    loads = 0
    while loads * bytes_per_load * sms * threads_per_sm < wanted:
        loads += 1
    return loads


def where_does_it_live(variable):
    match variable.declaration.split("__"):
        case ["", "shared" | "constant" as space, _]:
            return space
        case ["", "device", _]:
            return "global"
    looked_up = "[" in variable.declaration and not variable.index_known
    return "local" if looked_up or not variable.registers_left else "registers"


def lru_hits(trace, lines, ways):
    sets = [deque(maxlen=ways) for _ in range(lines // ways)]
    misses = 0
    for line in trace:
        recent = sets[line % len(sets)]
        if line in recent:
            recent.remove(line)
        else:
            misses += 1
        recent.append(line)
    return len(trace) - misses, misses
