"""The trade-off of lesson 09: the shape of a tile against the shape of an instruction.

An instruction is mma.m16n8k16 on halves; one wmma of 16 x 16 x 16 is two of them.
"""

from math import ceil, prod

from references.hardware import H200, MEASURED_H200, RESERVED_SHARED_BYTES, SHARED_BYTES_PER_CLOCK
from references.tensor_cores import MMA_SHAPE, MMA_SYNC_TERAFLOPS

Shape = tuple[int, int, int]  # along M, N and K
HALF_BYTES = 2
MMA_FLOPS = 2 * prod(MMA_SHAPE)  # a multiply-add is two


def padded(M: int, N: int, K: int, tile: Shape) -> Shape:
    """M, N and K, each rounded up to whole tiles. Supplied."""
    m, n, k = (ceil(size / side) * side for size, side in zip((M, N, K), tile, strict=True))
    return m, n, k


def mma_count(M: int, N: int, K: int, tile: Shape = MMA_SHAPE) -> int:
    """The instructions of a product that is padded to whole tiles, each made of whole mma."""
    # TASK 6: what does one instruction cover?
    # TODO: about 1 line
    raise NotImplementedError("task 6")


def padding_waste(M: int, N: int, K: int, tile: Shape) -> float:
    """The share of all multiply-adds that belongs to padding; M, N, K at least 1."""
    # TASK 6: the useful ones are M N K
    # TODO: about 1 line
    raise NotImplementedError("task 6")


def intensity(rows: int, columns: int) -> float:
    """Floating-point operations for each byte of a and b that a block brings; K is long.

    rows, columns  of c for each block
    """
    # TASK 6: one step of k: a column of the block's a and a row of its b, in halves
    # TODO: about 1 line
    raise NotImplementedError("task 6")


def bytes_per_mma(rows: int, columns: int) -> float:
    """Bytes of fragments that a warp with rows x columns sums loads for each instruction."""
    # TASK 6: 16 of K: the halves of both operands, and the instructions that use them
    # TODO: about 2 lines
    raise NotImplementedError("task 6")


def ceiling(block: tuple[int, int], warp: tuple[int, int]) -> float:
    """The TFLOP/s of an H200 that a kernel cannot pass, however well it hides its waits.

    block  rows and columns of c for each block, whose a and b L2 sends
    warp   rows and columns for each warp, whose fragments shared memory sends
    """
    shared_terabytes_per_second = H200.sms * SHARED_BYTES_PER_CLOCK * H200.boost_gigahertz / 1000
    l2_terabytes_per_second = MEASURED_H200.l2_gigabytes_per_second / 1000
    # TASK 6: three limits: L2, shared memory, and MMA_SYNC_TERAFLOPS. Bytes a second times
    # operations for each byte
    # TODO: about 3 lines
    raise NotImplementedError("task 6")


def most_stages(rows: int, columns: int, depth: int, blocks: int = 1) -> int:
    """The most stages of a and b, without padding, with which `blocks` blocks fit on an SM.

    depth  how much of K a stage holds
    """
    # TASK 6: a block pays RESERVED_SHARED_BYTES on top, and may not have more than H200 allows one
    # TODO: about 3 lines
    raise NotImplementedError("task 6")
