"""The account as tuples of seconds, and chains as a border that is crossed."""

from fractions import Fraction
from operator import attrgetter, itemgetter

from references.roofline import Kernel


def ridge(hardware, dtype):
    rates = hardware.flops_per_second
    return float(Fraction(rates[dtype]) / Fraction(hardware.bytes_per_second))


def intensity(kernel):
    if not kernel.flops:
        return 0.0
    return float("inf") if not kernel.bytes else float(Fraction(kernel.flops, kernel.bytes))


def elementwise(n, reads, writes, flops, dtype_bytes):
    numbers = reads + writes
    return Kernel("n times the same", dtype_bytes * numbers * n, n * flops, "fp32")


def gemm(m, n, k, dtype_bytes, dtype="bf16"):
    left, right, result = m * k, k * n, m * n
    return Kernel("product", dtype_bytes * sum((left, right, result)), 2 * k * result, dtype)


def seconds(kernel, hardware):
    """[(seconds, rank, what)]; of equals the higher rank names the bound."""
    rate = hardware.flops_per_second[kernel.dtype]
    return [
        (kernel.bytes / hardware.bytes_per_second, 3, "memory"),
        (kernel.flops / rate, 2, "compute"),
        (kernel.launches * hardware.launch_seconds, 1, "launch"),
    ]


def roofline_time(kernel, hardware):
    memory, compute, launch = map(itemgetter(0), seconds(kernel, hardware))
    return launch + max((memory, compute))


def bound(kernel, hardware):
    return sorted(seconds(kernel, hardware))[-1][-1]


def alone(op):
    return fuse([op], keep=op.outputs)


def border(chain, keep):
    """The names that come in, and those that go out."""
    sources, sinks = set(), set(keep)
    produced = set().union(*map(set, map(attrgetter("outputs"), chain)))
    consumed = set().union(*map(set, map(attrgetter("inputs"), chain)))
    sources |= consumed - produced
    sinks |= produced - consumed
    return sources, sinks & produced


def dropped(chain, keep=()):
    sources, sinks = border(chain, keep)
    return {n for op in chain for n in op.outputs} - sinks - sources


def fuse(chain, keep=()):
    sources, sinks = border(chain, keep)
    weights = {}
    for op in chain:
        weights.update(op.sizes)
    crossing = sum(weights[name] for name in sources) + sum(weights[name] for name in sinks)
    first, *_ = chain
    return Kernel("+".join(map(attrgetter("name"), chain)), crossing,
                  sum(map(attrgetter("flops"), chain)), first.dtype)


def speedup_ceiling(measured_seconds, kernel, hardware):
    least = roofline_time(kernel, hardware)
    return 1.0 if measured_seconds < least else measured_seconds / least


def verdict(measured_seconds, kernel, hardware, weight_bytes=0):
    limit = bound(kernel, hardware)
    answers = {"launch": "fewer launches", "compute": "done"}
    answers["memory"] = "batch more" if weight_bytes * 2 > kernel.bytes else "done"
    slow = measured_seconds > 1.25 * roofline_time(kernel, hardware)
    return "custom kernel" if slow and limit != "launch" else answers[limit]
