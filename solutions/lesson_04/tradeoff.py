"""The trade-off of lesson 04: stride against the pieces of memory that move."""

SECTOR_BYTES = 32  # what L1 asks L2 for
FETCH_BYTES = 64  # what L2 asks memory for


def sectors_per_request(
    stride: int, element_bytes: int, offset_bytes: int = 0, lanes: int = 32
) -> int:
    """The sectors that one request touches.

    Lane k asks for the element that begins `offset_bytes + k * stride * element_bytes` bytes past
    a multiple of 32. An element lies in one sector: its address is a multiple of its size.

    stride         elements from lane to lane, 0 or more
    element_bytes  1, 2, 4, 8 or 16
    """
    # TASK 6: in which sector is each lane's element? How many different ones are there?
    step = stride * element_bytes
    return len({(offset_bytes + lane * step) // SECTOR_BYTES for lane in range(lanes)})
    # END TASK


def useful_share(stride: int, element_bytes: int) -> float:
    """Of the bytes that a full, aligned request moves at L1, the share that some lane asked for."""
    # TASK 6: with stride 0 all lanes ask for the same element
    asked = element_bytes * (32 if stride > 0 else 1)
    return asked / (SECTOR_BYTES * sectors_per_request(stride, element_bytes))
    # END TASK


def strided_copy_milliseconds(n: int, stride: int, gigabytes_per_second: float) -> float:
    """The time of strided_copy for n floats, if memory is busy all the time; stride 1 or more.

    Memory gives whole pieces of FETCH_BYTES, each once. It takes the n floats of y.
    """
    # TASK 6: how many bytes come for each float of x, at this stride? At most one piece.
    read = n * min(4 * stride, FETCH_BYTES)
    return (read + 4 * n) / gigabytes_per_second / 1e6
    # END TASK


def gather_sectors(indices: list[int]) -> int:
    """The sectors that the loads from x touch in `gather`, all warps together.

    x begins at a multiple of 32 bytes; a lane with a negative index loads nothing.
    """
    # TASK 7: 32 indices at a time
    warps = [indices[at : at + 32] for at in range(0, len(indices), 32)]
    return sum(len({4 * index // SECTOR_BYTES for index in warp if index >= 0}) for warp in warps)
    # END TASK
