"""Arrays of times; a chain read from its end."""

from dataclasses import replace

import numpy as np

from references.roofline import Kernel

EMPTY = Kernel("", 0, 0, "fp32")


def ridge(hardware, dtype):
    return np.float64(hardware.flops_per_second[dtype]) / hardware.bytes_per_second


def intensity(kernel):
    with np.errstate(all="ignore"):
        quotient = np.float64(kernel.flops) / np.float64(kernel.bytes)
    return float(np.nan_to_num(quotient, nan=0.0, posinf=np.inf))


def elementwise(n, reads, writes, flops, dtype_bytes):
    moved = dtype_bytes * (reads + writes) * n
    return replace(EMPTY, name="elementwise", bytes=moved, flops=flops * n)


def gemm(m, n, k, dtype_bytes, dtype="bf16"):
    moved = dtype_bytes * (n * (m + k) + m * k)
    return replace(EMPTY, name="gemm", bytes=moved, flops=(m * n * k) << 1, dtype=dtype)


def times(kernel, hardware):
    asked = np.array([kernel.bytes, kernel.flops, kernel.launches], dtype=float)
    rates = hardware.bytes_per_second, hardware.flops_per_second[kernel.dtype]
    asked[:2] /= rates
    asked[2] *= hardware.launch_seconds
    return asked


def roofline_time(kernel, hardware):
    asked = times(kernel, hardware)
    return asked[:2].max() + asked[2]


def bound(kernel, hardware):
    return ("memory", "compute", "launch")[int(times(kernel, hardware).argmax())]


def alone(op):
    own = set(op.inputs).union(op.outputs)
    return Kernel(op.name, sum(map(op.sizes.get, own)), op.flops, op.dtype)


def dropped(chain, keep=()):
    gone, read_later = set(), set()
    for op in reversed(chain):
        gone |= read_later.intersection(op.outputs).difference(keep)
        read_later.update(op.inputs)
    return frozenset(gone)


def fuse(chain, keep=()):
    total, held, gone = 0, set(), dropped(chain, keep)
    for op in chain:
        for name in op.inputs:
            total += 0 if name in held else op.sizes[name]
            held.add(name)
        total += sum(op.sizes[name] for name in op.outputs if name not in gone)
        held.update(op.outputs)
    names, work = zip(*((op.name, op.flops) for op in chain), strict=True)
    return Kernel("+".join(names), total, sum(work), chain[0].dtype)


def speedup_ceiling(measured_seconds, kernel, hardware):
    return np.clip(measured_seconds / roofline_time(kernel, hardware), 1, None)


def verdict(measured_seconds, kernel, hardware, weight_bytes=0):
    why = bound(kernel, hardware)
    if why != "launch" and measured_seconds > 1.25 * roofline_time(kernel, hardware):
        return "custom kernel"
    most = why == "memory" and weight_bytes / kernel.bytes > 0.5
    return "fewer launches" if why == "launch" else ("done", "batch more")[most]
