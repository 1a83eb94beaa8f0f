"""The accountant: what a kernel must move and compute, and the least time that takes.

references/roofline.py has the forms that it fills in: a Kernel (bytes, flops, dtype, launches), the
Hardware (bytes_per_second, flops_per_second by dtype, launch_seconds), and an Op, one step of a
chain.
"""

from collections.abc import Collection, Sequence
from math import inf
from typing import Literal

from references.roofline import Hardware, Kernel, Op

Bound = Literal["launch", "memory", "compute"]
Verdict = Literal["done", "fewer launches", "batch more", "custom kernel"]

NEAR = 1.25  # times its least time: a kernel so near to it has little left to win


def ridge(hardware: Hardware, dtype: str) -> float:
    """FLOPs per byte at which moving and computing take the same time."""
    # TASK 1: one quotient
    return hardware.flops_per_second[dtype] / hardware.bytes_per_second
    # END TASK


def intensity(kernel: Kernel) -> float:
    """FLOPs per byte; inf if it computes and moves nothing, 0.0 if it does neither."""
    # TASK 1: mind the kernel that moves no byte
    if kernel.bytes == 0:
        return inf if kernel.flops else 0.0
    return kernel.flops / kernel.bytes
    # END TASK


def elementwise(n: int, reads: int, writes: int, flops: int, dtype_bytes: int) -> Kernel:
    """n elements, each from `reads` numbers of `dtype_bytes` into `writes`, by `flops` operations.

    It computes in fp32, whatever it reads.
    """
    # TASK 1: all of it grows with n; name it "elementwise"
    moved = n * (reads + writes) * dtype_bytes
    return Kernel("elementwise", moved, n * flops, dtype="fp32")
    # END TASK


def gemm(m: int, n: int, k: int, dtype_bytes: int, dtype: str = "bf16") -> Kernel:
    """[m, k] times [k, n]: the fewest bytes it can move, each matrix once, and its FLOPs."""
    # TASK 1: a multiplication and an addition for each of k products of each of m * n sums
    moved = (m * k + k * n + m * n) * dtype_bytes
    return Kernel("gemm", moved, 2 * m * n * k, dtype)
    # END TASK


def roofline_time(kernel: Kernel, hardware: Hardware) -> float:
    """The least seconds in which this kernel can run by itself, its launches included."""
    # TASK 2: bytes and FLOPs go on at the same time; launches come on top, each of them
    moving = kernel.bytes / hardware.bytes_per_second
    computing = kernel.flops / hardware.flops_per_second[kernel.dtype]
    return max(moving, computing) + kernel.launches * hardware.launch_seconds
    # END TASK


def bound(kernel: Kernel, hardware: Hardware) -> Bound:
    """What most of that time is spent on.

    "launch" only if the launches take longer than moving and than computing. "memory" where moving
    and computing take the same time.
    """
    # TASK 2: three times to compare
    moving = kernel.bytes / hardware.bytes_per_second
    computing = kernel.flops / hardware.flops_per_second[kernel.dtype]
    if kernel.launches * hardware.launch_seconds > max(moving, computing):
        return "launch"
    return "memory" if moving >= computing else "compute"
    # END TASK


def alone(op: Op) -> Kernel:
    """One op as a kernel of its own: it reads each input once and writes every output. Supplied."""
    moved = sum(op.sizes[name] for name in {*op.inputs, *op.outputs})
    return Kernel(op.name, moved, op.flops, op.dtype)


def dropped(chain: Sequence[Op], keep: Collection[str] = ()) -> set[str]:
    """The tensors that one kernel for the whole chain need neither write nor read back.

    keep  tensors that somebody outside the chain will read
    """
    # TASK 3: made by one op of the chain, read by another, wanted by nobody else
    made = {name for op in chain for name in op.outputs}
    read = {name for op in chain for name in op.inputs}
    return (made & read) - set(keep)
    # END TASK


def fuse(chain: Sequence[Op], keep: Collection[str] = ()) -> Kernel:
    """The whole chain as one kernel, named after its ops: "bias+gelu". All ops have one dtype."""
    # TASK 3: what comes from outside is read once, however many ops want it; what is dropped costs
    # nothing; everything else that is made is written. An op has the sizes of its own tensors only
    sizes = {name: size for op in chain for name, size in op.sizes.items()}
    made = {name for op in chain for name in op.outputs}
    from_outside = {name for op in chain for name in op.inputs} - made
    moved = from_outside | (made - dropped(chain, keep))
    return Kernel(
        "+".join(op.name for op in chain),
        sum(sizes[name] for name in moved),
        sum(op.flops for op in chain),
        chain[0].dtype,
    )
    # END TASK


def speedup_ceiling(measured_seconds: float, kernel: Kernel, hardware: Hardware) -> float:
    """How many times faster than measured the same work could run at most."""
    # TASK 6: never below 1: a kernel that beats the model has found a cache
    return max(1.0, measured_seconds / roofline_time(kernel, hardware))
    # END TASK


def verdict(
    measured_seconds: float, kernel: Kernel, hardware: Hardware, weight_bytes: int = 0
) -> Verdict:
    """What to do about a kernel that was measured.

    weight_bytes  the part of its bytes that a larger batch would not read again
    """
    # TASK 6: in this order. Are the launches most of the least time? "fewer launches". Is NEAR
    # passed? "custom kernel". Near its bound, does memory set it, and are weights most of its
    # bytes? "batch more". Else "done".
    limit = bound(kernel, hardware)
    if limit == "launch":
        return "fewer launches"
    if speedup_ceiling(measured_seconds, kernel, hardware) > NEAR:
        return "custom kernel"
    if limit == "memory" and 2 * weight_bytes > kernel.bytes:
        return "batch more"
    return "done"
    # END TASK
