"""Which `__shared__` array a byte of shared memory belongs to, as the source calls it."""

import re
from collections.abc import Mapping

from simulator.observing.events import Access

_MATRICES = ("wmma", "ldmatrix")
# _ZZ4scanPKfE4tile: a variable inside a function. _ZN5space4tileE and _Z4tile: outside of one.
_MANGLED = (
    re.compile(r"E(\d+)([A-Za-z_]\w*?)(?:_\d+)?$"),
    re.compile(r"^_Z(?:N[\w$]*?)?(\d+)([A-Za-z_]\w*)$"),
)


def shared_element(arrays: Mapping[str, int], byte: int, access: Access) -> str:
    """`tile[5]`: the element at a byte of a block's shared memory, as large as the access's.

    A matrix is accessed in words, whatever its elements are, so there the words are counted.
    arrays  variable -> its offset, as `Entry.shared` has them. They lie one behind another, so an
            index past the end of one names the next
    """
    below = [(offset, name) for name, offset in arrays.items() if offset <= byte]
    if not below:
        return f"byte {byte} of shared memory"
    offset, name = max(below)
    size = access.element.itemsize
    words = f" (in words of {size} bytes)" if access.instruction.parts[0] in _MATRICES else ""
    return f"{spoken(name)}[{(byte - offset) // size}]{words}"


def spoken(symbol: str) -> str:
    """A variable's name as the source spells it."""
    for pattern in _MANGLED:
        found = pattern.search(symbol)
        if found and len(found[2]) >= int(found[1]):
            return found[2][: int(found[1])]
    return symbol
