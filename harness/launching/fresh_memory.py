"""Which storages came from `torch.empty`, and the bits that stand where nobody has written.

`harness.judging.poison` puts the bits there and tells; a launch on the simulator asks. Whether an
element is unwritten is a matter of its bits alone: whatever torch or another kernel has written
since counts as written, and a storage whose memory was used again has no such bits.
"""

from typing import Any

import numpy as np

_WORD = np.dtype(np.uint64)
_kept: dict[int, np.unsignedinteger[Any]] = {}  # address of a storage -> the bits


def remember(address: int, bits: np.unsignedinteger[Any], by_chance: bool) -> None:
    """A fresh storage holds these bits in each of its elements.

    by_chance  one element may rightly hold them; eight bytes full of them prove it all the same
    """
    if by_chance:
        bits = np.frombuffer(bits.tobytes() * (_WORD.itemsize // bits.itemsize), _WORD)[0]
    _kept[address] = bits


def unwritten_bits(address: int) -> np.unsignedinteger[Any] | None:
    """The bits of a word of a storage that nobody has written; None: it was never fresh."""
    return _kept.get(address)


def forget() -> None:
    _kept.clear()
