"""SI units, plain loops, decimal numbers, regular expressions."""

import re
from collections import OrderedDict, namedtuple
from decimal import ROUND_CEILING, Decimal

import numpy as np
import torch

Variable = namedtuple("Variable", "declaration index_known registers_left", defaults=(True, True))


def bytes_moved(op, shapes, dtypes):
    size = {torch.float16: 2, torch.bfloat16: 2, torch.float32: 4, torch.float64: 8}
    if op in ("copy", "axpy"):
        out = shapes[-1]
    elif op == "add":
        out = np.broadcast_shapes(*shapes)
    elif op == "row_sum":
        out = (len(range(shapes[0][0])),)
    else:
        (m, _), (_, n) = shapes
        out = m, n

    def total(shape):
        elements = 1
        for extent in shape:
            elements *= extent
        return elements

    moved = {"read": 0, "written": total(out) * size[dtypes[len(shapes)]]}
    for k, shape in enumerate(shapes):
        moved["read"] += total(shape) * size[dtypes[k]]
    return moved


def time_floor(level_bytes, gigabytes_per_second):
    names = sorted(level_bytes, key=lambda n: gigabytes_per_second[n])
    times = np.array([level_bytes[n] / gigabytes_per_second[n] for n in names])
    k = int(times.argmax())
    return times[k] / 1e9, names[k]


def inflight_bytes(latency_nanoseconds, gigabytes_per_second):
    seconds = latency_nanoseconds * 1e-9
    return seconds * (gigabytes_per_second * 1e9)


def loads_per_thread(
    latency_nanoseconds, gigabytes_per_second, sms, threads_per_sm, bytes_per_load=4
):
    wanted = Decimal(str(latency_nanoseconds)) * Decimal(str(gigabytes_per_second))
    share = wanted / (sms * threads_per_sm * bytes_per_load)
    return int(share.to_integral_value(rounding=ROUND_CEILING))


def where_does_it_live(variable):
    found = re.search(r"__(shared|constant|device)__", variable.declaration)
    if found:
        return found[1].replace("device", "global")
    if not variable.registers_left:
        return "local"
    if re.search(r"\[\d*\]", variable.declaration) and not variable.index_known:
        return "local"
    return "registers"


def lru_hits(trace, lines, ways):
    sets = {}
    hits = 0
    for line in trace:
        kept = sets.setdefault(line % (lines // ways), OrderedDict())
        if kept.pop(line, None):
            hits += 1
        kept[line] = "here"
        while len(kept) > ways:
            kept.popitem(last=False)
    return hits, len(trace) - hits
