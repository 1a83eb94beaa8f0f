"""Keys and values in blocks of fixed size: who owns which block, and where each token lies.

A cache is [blocks, block_size, kv_heads, head_dim]. Slot block * block_size + i holds token i of a
block. Nothing here touches the cache itself: these are the books, kept on the CPU.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

PADDING = -1  # the slot of a token that is none: nothing is written for it


class OutOfBlocks(RuntimeError):
    """Fewer blocks are free than were asked for. Whoever raises it has changed nothing."""


class BlockAllocator:
    """Hands out the blocks 0 .. num_blocks - 1, and counts how many users each of them has."""

    def __init__(self, num_blocks: int) -> None:
        self.num_blocks = num_blocks
        # TASK 1: which blocks are free, and how many users each one has
        # TODO: about 2 lines
        raise NotImplementedError("task 1")

    @property
    def num_free(self) -> int:
        """Blocks that have no user."""
        # TASK 1: count
        # TODO: about 1 line
        raise NotImplementedError("task 1")

    def refcount(self, block: int) -> int:
        """How many users the block has; 0 if it is free."""
        # TASK 1: look it up
        # TODO: about 1 line
        raise NotImplementedError("task 1")

    def alloc(self) -> int:
        """A block that was free; it has one user now. Raises OutOfBlocks."""
        # TASK 1: one of many
        # TODO: about 1 line
        raise NotImplementedError("task 1")

    def alloc_many(self, count: int) -> list[int]:
        """`count` different blocks that were free: all of them, or OutOfBlocks and none."""
        # TASK 1: ask before you take
        # TODO: about 6 lines
        raise NotImplementedError("task 1")

    def share(self, block: int) -> None:
        """One more user of a block that has some. Raises ValueError if it has none, or is none."""
        # TASK 1: count; the check is the same as in `free`
        # TODO: about 2 lines
        raise NotImplementedError("task 1")

    def free(self, block: int) -> None:
        """One user less. Behind the last one the block is free. Raises ValueError as `share`."""
        # TASK 1: a block that others use stays where it is
        # TODO: about 4 lines
        raise NotImplementedError("task 1")

    def _check(self, block: int) -> None:
        """Raise ValueError unless the block is one of ours and has a user."""
        # TASK 1: mind that Python's list[-1] is the last
        # TODO: about 2 lines
        raise NotImplementedError("task 1")


class BlockTable:
    """The blocks of one sequence, in the order of its tokens. All are full but perhaps the last."""

    def __init__(self, allocator: BlockAllocator, block_size: int) -> None:
        self.allocator = allocator
        self.block_size = block_size
        self.blocks: list[int] = []  # physical ids: blocks[i] holds tokens i * block_size and on
        self.length = 0  # tokens

    def slot(self, position: int) -> int:
        """Where the token at a position lies: physical block * block_size + place in the block."""
        # TASK 2: which of the blocks, and where in it
        # TODO: about 2 lines
        raise NotImplementedError("task 2")

    def append_slots(self, count: int) -> list[int]:
        """Make room for `count` more tokens; their slots, in order.

        Raises OutOfBlocks and changes nothing if they do not fit. The caller has called
        ensure_writable: the last block is nobody else's.
        """
        # TASK 2: how many blocks will there be, and how many are there?
        # TODO: about 6 lines
        raise NotImplementedError("task 2")

    def fork(self) -> "BlockTable":
        """Another table with the same tokens in the same blocks. Nothing is copied."""
        # TASK 2: every block has one more user
        # TODO: about 5 lines
        raise NotImplementedError("task 2")

    def ensure_writable(self) -> list[tuple[int, int]]:
        """Before tokens are appended: see to it that they change no other table's block.

        Only a last block that is partly filled and has other users is in the way. A new one takes
        its place, and (old, new) is returned: the caller copies the contents. Else nothing is done,
        and [] returned. Raises OutOfBlocks and changes nothing if no block is free.
        """
        # TASK 2: nobody writes to a full block any more
        # TODO: about 6 lines
        raise NotImplementedError("task 2")

    def release(self) -> None:
        """Give back all blocks, and forget all tokens. A second call does nothing."""
        # TASK 2: one user less, for each
        # TODO: about 3 lines
        raise NotImplementedError("task 2")


def slot_mapping(
    tables: Sequence[BlockTable], starts: Sequence[int], lens: Sequence[int], pad_to: int
) -> Tensor:
    """Slots of the tokens starts[i] .. starts[i] + lens[i] - 1 of each table, one behind the other.

    int32[pad_to], PADDING behind the last one. Raises ValueError if there are more than pad_to.
    """
    # TASK 3: tables in order, and of each its tokens in order
    # TODO: about 8 lines
    raise NotImplementedError("task 3")


def pad_block_tables(tables: Sequence[BlockTable], width: int, safe: int = 0) -> Tensor:
    """The block ids of each table as one row of int32[len(tables), width].

    Behind a table's last block stands `safe`, a block that may be read though nobody uses what it
    holds. Raises ValueError if a table has more than `width` blocks.
    """
    # TASK 3: one row after the other
    # TODO: about 6 lines
    raise NotImplementedError("task 3")


def can_admit(
    allocator: BlockAllocator, block_size: int, prompt_len: int, watermark: float
) -> bool:
    """Whether a prompt may come in: its blocks are free, and enough of them remain so afterwards.

    watermark  the share of all blocks that must remain free, for the sequences already here to grow
    """
    # TASK 8: count in blocks; half a block is none
    # TODO: about 2 lines
    raise NotImplementedError("task 8")
