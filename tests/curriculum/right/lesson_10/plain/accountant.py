"""Everything by hand, in loops."""

import math

from references.roofline import Kernel


def ridge(hardware, dtype):
    peak = hardware.flops_per_second[dtype]
    return peak * (1.0 / hardware.bytes_per_second)


def intensity(kernel):
    try:
        return kernel.flops / kernel.bytes
    except ZeroDivisionError:
        return math.inf if kernel.flops > 0 else 0.0


def elementwise(n, reads, writes, flops, dtype_bytes):
    return Kernel(name="per element", bytes=n * reads * dtype_bytes + n * writes * dtype_bytes,
                  flops=flops * n, dtype="fp32", launches=1)


def gemm(m, n, k, dtype_bytes, dtype="bf16"):
    elements = 0
    for rows, columns in ((m, k), (k, n), (m, n)):
        elements += rows * columns
    return Kernel(f"{m}x{n}x{k}", elements * dtype_bytes, m * n * (k + k), dtype)


def _times(kernel, hardware):
    return (
        hardware.launch_seconds * kernel.launches,
        kernel.bytes / hardware.bytes_per_second,
        kernel.flops / hardware.flops_per_second[kernel.dtype],
    )


def roofline_time(kernel, hardware):
    launching, moving, computing = _times(kernel, hardware)
    return launching + (moving if moving > computing else computing)


def bound(kernel, hardware):
    launching, moving, computing = _times(kernel, hardware)
    ranked = [(moving, 2, "memory"), (computing, 1, "compute"), (launching, 0, "launch")]
    return max(ranked)[2]


def alone(op):
    names = dict.fromkeys((*op.inputs, *op.outputs))
    return Kernel(op.name, sum(op.sizes[n] for n in names), op.flops, op.dtype)


def dropped(chain, keep=()):
    gone = set()
    for position, op in enumerate(chain):
        for name in op.outputs:
            later = chain[position + 1 :]
            if name not in keep and any(name in other.inputs for other in later):
                gone.add(name)
    return gone


def fuse(chain, keep=()):
    gone, seen, total, work = dropped(chain, keep), set(), 0, 0
    for op in chain:
        work += op.flops
        for name in (*op.inputs, *op.outputs):
            if name not in seen and name not in gone:
                total += op.sizes[name]
            seen.add(name)
    return Kernel("+".join([op.name for op in chain]), total, work, chain[-1].dtype, 1)


def speedup_ceiling(measured_seconds, kernel, hardware):
    ratio = measured_seconds / roofline_time(kernel, hardware)
    return ratio if ratio > 1 else 1.0


def verdict(measured_seconds, kernel, hardware, weight_bytes=0):
    why = bound(kernel, hardware)
    far = speedup_ceiling(measured_seconds, kernel, hardware) > 1.25
    reused = why == "memory" and weight_bytes > kernel.bytes - weight_bytes
    return (
        "fewer launches" if why == "launch"
        else "custom kernel" if far
        else "batch more" if reused
        else "done"
    )
