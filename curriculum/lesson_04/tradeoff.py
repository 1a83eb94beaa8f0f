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
    # TODO: about 2 lines
    raise NotImplementedError("task 6")


def useful_share(stride: int, element_bytes: int) -> float:
    """Of the bytes that a full, aligned request moves at L1, the share that some lane asked for."""
    # TASK 6: with stride 0 all lanes ask for the same element
    # TODO: about 2 lines
    raise NotImplementedError("task 6")


def strided_copy_milliseconds(n: int, stride: int, gigabytes_per_second: float) -> float:
    """The time of strided_copy for n floats, if memory is busy all the time; stride 1 or more.

    Memory gives whole pieces of FETCH_BYTES, each once. It takes the n floats of y.
    """
    # TASK 6: how many bytes come for each float of x, at this stride? At most one piece.
    # TODO: about 2 lines
    raise NotImplementedError("task 6")


def gather_sectors(indices: list[int]) -> int:
    """The sectors that the loads from x touch in `gather`, all warps together.

    x begins at a multiple of 32 bytes; a lane with a negative index loads nothing.
    """
    # TASK 7: 32 indices at a time
    # TODO: about 2 lines
    raise NotImplementedError("task 7")
