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
    # TODO: about 1 line
    raise NotImplementedError("task 1")


def intensity(kernel: Kernel) -> float:
    """FLOPs per byte; inf if it computes and moves nothing, 0.0 if it does neither."""
    # TASK 1: mind the kernel that moves no byte
    # TODO: about 3 lines
    raise NotImplementedError("task 1")


def elementwise(n: int, reads: int, writes: int, flops: int, dtype_bytes: int) -> Kernel:
    """n elements, each from `reads` numbers of `dtype_bytes` into `writes`, by `flops` operations.

    It computes in fp32, whatever it reads.
    """
    # TASK 1: all of it grows with n; name it "elementwise"
    # TODO: about 2 lines
    raise NotImplementedError("task 1")


def gemm(m: int, n: int, k: int, dtype_bytes: int, dtype: str = "bf16") -> Kernel:
    """[m, k] times [k, n]: the fewest bytes it can move, each matrix once, and its FLOPs."""
    # TASK 1: a multiplication and an addition for each of k products of each of m * n sums
    # TODO: about 2 lines
    raise NotImplementedError("task 1")


def roofline_time(kernel: Kernel, hardware: Hardware) -> float:
    """The least seconds in which this kernel can run by itself, its launches included."""
    # TASK 2: bytes and FLOPs go on at the same time; launches come on top, each of them
    # TODO: about 3 lines
    raise NotImplementedError("task 2")


def bound(kernel: Kernel, hardware: Hardware) -> Bound:
    """What most of that time is spent on.

    "launch" only if the launches take longer than moving and than computing. "memory" where moving
    and computing take the same time.
    """
    # TASK 2: three times to compare
    # TODO: about 5 lines
    raise NotImplementedError("task 2")


def alone(op: Op) -> Kernel:
    """One op as a kernel of its own: it reads each input once and writes every output. Supplied."""
    moved = sum(op.sizes[name] for name in {*op.inputs, *op.outputs})
    return Kernel(op.name, moved, op.flops, op.dtype)


def dropped(chain: Sequence[Op], keep: Collection[str] = ()) -> set[str]:
    """The tensors that one kernel for the whole chain need neither write nor read back.

    keep  tensors that somebody outside the chain will read
    """
    # TASK 3: made by one op of the chain, read by another, wanted by nobody else
    # TODO: about 3 lines
    raise NotImplementedError("task 3")


def fuse(chain: Sequence[Op], keep: Collection[str] = ()) -> Kernel:
    """The whole chain as one kernel, named after its ops: "bias+gelu". All ops have one dtype."""
    # TASK 3: what comes from outside is read once, however many ops want it; what is dropped costs
    # nothing; everything else that is made is written. An op has the sizes of its own tensors only
    # TODO: about 10 lines
    raise NotImplementedError("task 3")


def speedup_ceiling(measured_seconds: float, kernel: Kernel, hardware: Hardware) -> float:
    """How many times faster than measured the same work could run at most."""
    # TASK 6: never below 1: a kernel that beats the model has found a cache
    # TODO: about 1 line
    raise NotImplementedError("task 6")


def verdict(
    measured_seconds: float, kernel: Kernel, hardware: Hardware, weight_bytes: int = 0
) -> Verdict:
    """What to do about a kernel that was measured.

    weight_bytes  the part of its bytes that a larger batch would not read again
    """
    # TASK 6: in this order. Are the launches most of the least time? "fewer launches". Is NEAR
    # passed? "custom kernel". Near its bound, does memory set it, and are weights most of its
    # bytes? "batch more". Else "done".
    # TODO: about 8 lines
    raise NotImplementedError("task 6")
