"""Which `__shared__` array a byte of shared memory belongs to, as the source calls it."""

import re
from collections.abc import Mapping

from simulator.observing.events import Access

_MATRICES = ("wmma", "ldmatrix")
_LENGTH_AND_NAME = re.compile(r"(\d+)([A-Za-z_]\w*)$")


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
    """A variable's name as the source spells it: the last part of a mangled one.

    _ZZ4scanPKfE4tile is one inside a function (a second one of that name ends in _0),
    _ZN5space4tileE one in a namespace, _ZL4tile a static one.
    """
    if not symbol.startswith("_Z"):
        return symbol
    for text in (symbol, symbol.removesuffix("E"), re.sub(r"_\d+$", "", symbol)):
        for start in range(len(text)):
            found = _LENGTH_AND_NAME.match(text, start)
            if found and int(found[1]) == len(found[2]):
                return found[2]
    return symbol
