"""One small function after another."""

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Variable:
    declaration: str
    index_known: bool = True
    registers_left: bool = True


def weight(shape, dtype):
    return math.prod(shape) * torch.empty((), dtype=dtype).element_size()


def bytes_moved(op, shapes, dtypes):
    *inputs, last = dtypes
    result = {
        "copy": lambda x: x,
        "add": lambda a, b: torch.broadcast_shapes(a, b),
        "axpy": lambda x, y: y,
        "row_sum": lambda x: x[:1],
        "matmul": lambda a, b: a[:1] + b[1:],
    }[op](*shapes)
    return {"written": weight(result, last), "read": sum(map(weight, shapes, inputs))}


def time_floor(level_bytes, gigabytes_per_second):
    slowest_first = sorted(level_bytes, key=gigabytes_per_second.get)
    nanoseconds = [level_bytes[level] / gigabytes_per_second[level] for level in slowest_first]
    longest = nanoseconds.index(max(nanoseconds))
    return nanoseconds[longest] * 1e-9, slowest_first[longest]


def inflight_bytes(latency_nanoseconds, gigabytes_per_second):
    return gigabytes_per_second * latency_nanoseconds


def loads_per_thread(
    latency_nanoseconds, gigabytes_per_second, sms, threads_per_sm, bytes_per_load=4
):
    share = latency_nanoseconds * gigabytes_per_second / sms / threads_per_sm / bytes_per_load
    return math.ceil(share - 1e-12)


def where_does_it_live(variable):
    first = variable.declaration.split()[0]
    if first in ("__shared__", "__constant__", "__device__"):
        return {"__device__": "global"}.get(first, first.strip("_"))
    fits = variable.registers_left
    if variable.declaration.endswith("]"):
        fits = fits and variable.index_known
    return "registers" if fits else "local"


def lru_hits(trace, lines, ways):
    sets = lines // ways
    used = {}
    hits = 0
    for now, line in enumerate(trace):
        if line in used:
            hits += 1
        else:
            rivals = [other for other in used if other % sets == line % sets]
            if len(rivals) == ways:
                del used[min(rivals, key=used.get)]
        used[line] = now
    return hits, len(trace) - hits
