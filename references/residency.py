"""What lesson 08 must find, by filling an SM with one block after another while there is room."""

from references.hardware import (
    LANES_PER_WARP,
    REGISTERS_PER_ALLOCATION,
    REGISTERS_PER_THREAD,
    RESERVED_SHARED_BYTES,
    SCHEDULERS_PER_SM,
    SHARED_BYTES_PER_ALLOCATION,
    THREADS_PER_BLOCK,
    Gpu,
)

RESOURCES = ("warps", "blocks", "registers", "shared memory")


def filled(
    gpu: Gpu, threads: int, registers: int, shared_bytes: int = 0
) -> tuple[int, int, tuple[str, ...]]:
    """(blocks, warps, what the next block lacks, in the order of RESOURCES)."""
    warps = len(range(0, threads, LANES_PER_WARP))
    pieces = len(range(0, LANES_PER_WARP * registers, REGISTERS_PER_ALLOCATION))  # of one warp
    bytes_ = len(range(0, shared_bytes + RESERVED_SHARED_BYTES, SHARED_BYTES_PER_ALLOCATION))
    bytes_ *= SHARED_BYTES_PER_ALLOCATION
    quarter = gpu.registers_per_sm // SCHEDULERS_PER_SM // REGISTERS_PER_ALLOCATION
    free_pieces = [quarter] * SCHEDULERS_PER_SM
    free_warps, free_blocks = gpu.warps_per_sm, gpu.blocks_per_sm
    free_bytes = gpu.shared_bytes_per_sm
    blocks = 0
    while True:
        left = _with_a_block(free_pieces, warps, pieces)
        room = (
            warps <= free_warps and threads <= THREADS_PER_BLOCK,
            free_blocks > 0,
            left is not None and registers <= REGISTERS_PER_THREAD,
            bytes_ <= free_bytes and shared_bytes <= gpu.shared_bytes_per_block,
        )
        if left is None or not all(room):
            lacks = tuple(n for n, enough in zip(RESOURCES, room, strict=True) if not enough)
            return blocks, blocks * warps, lacks
        free_pieces = left
        free_warps -= warps
        free_blocks -= 1
        free_bytes -= bytes_
        blocks += 1


def _with_a_block(free_pieces: list[int], warps: int, pieces: int) -> list[int] | None:
    """What each quarter has left with one more block's warps in it; None if they find no room."""
    left = list(free_pieces)
    for _ in range(warps):
        emptiest = left.index(max(left))
        if left[emptiest] < pieces:
            return None
        left[emptiest] -= pieces
    return left
