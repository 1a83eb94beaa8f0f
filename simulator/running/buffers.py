"""Global memory: the caller's arrays, in place, under virtual addresses.

Each buffer stands in the middle of a terabyte of its own, so that an address tells which buffer
it was meant for even when it lies far outside, and so that every base is aligned as CUDA's
allocations are, whatever the host gave.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

REGION_BITS = 40
_BASE = 1 << (REGION_BITS - 1)  # a buffer's first byte inside its region
MAXIMUM_BUFFERS = 1 << 14  # of a launch
_VIEWS = 512  # of a buffer; unrolled loops ask for one at each constant offset

# Generic addresses of shared and local memory count from the middle of regions above all others.
SHARED_WINDOW = (1 << 60) + _BASE
LOCAL_WINDOW = (1 << 61) + _BASE


@dataclass(eq=False, slots=True)
class Buffer:
    """The memory behind one or more pointers.

    name       what the learner calls it
    data       uint8 [bytes], written in place; may be lazily backed
    element    the type of one element, for messages; None: the access's own size
    read_only  a store is a fault (every pointer to it is const)
    origin     byte offset of element 0. What lies before it is somebody else's, out of bounds: it
               is there so that alignment and sectors are those of the memory that this is part of
    padding    bytes behind the last element, up to a whole word, that are somebody else's too: see
               `words_around.py`
    opaque     NumPy has no such elements: their values cannot be told
    unwritten  the bits that the owner has put where nobody has written yet, as an unsigned integer:
               an aligned word that holds them is taken for unwritten. None: all is written
    """

    name: str
    data: NDArray[np.uint8]
    element: np.dtype[Any] | None = None
    read_only: bool = False
    origin: int = 0
    padding: int = 0
    opaque: bool = False
    unwritten: np.unsignedinteger[Any] | None = None
    views: dict[tuple[int, int, int], NDArray[Any]] = field(default_factory=dict, repr=False)

    @property
    def bytes(self) -> int:
        return int(self.data.nbytes)

    def view(self, dtype: np.dtype[Any], shift: int = 0) -> NDArray[Any]:
        """The bytes from `shift` on as an array of dtype; a ragged end is left out."""
        key = (dtype.num, dtype.itemsize, shift)
        found = self.views.get(key)
        if found is None:
            count = max(0, (self.bytes - shift) // dtype.itemsize)
            found = self.data[shift : shift + count * dtype.itemsize].view(dtype)
            if len(self.views) > _VIEWS:
                self.views.clear()
            self.views[key] = found
        return found


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of a byte in a buffer: what a launch is given for a tensor."""

    buffer: Buffer
    offset: int = 0  # bytes from the start of its data


class AddressMap:
    """Virtual address <-> (buffer, offset)."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []  # of the launch, in the order of their regions
        self._lasting: dict[int, Buffer] = {}  # the module's, by their regions above those

    def base(self, buffer: Buffer) -> int:
        """The virtual address of a buffer's first byte; registers the buffer."""
        number = next((n for n, known in enumerate(self.buffers) if known is buffer), None)
        if number is None:
            if len(self.buffers) == MAXIMUM_BUFFERS:
                raise ValueError(f"a launch takes at most {MAXIMUM_BUFFERS} buffers")
            number = len(self.buffers)
            self.buffers.append(buffer)
        return _address(number)

    def lasting(self, place: int, buffer: Buffer) -> int:
        """The virtual address of a buffer that has the same one in every launch."""
        number = MAXIMUM_BUFFERS + place
        self._lasting[number] = buffer
        return _address(number)

    def everything(self) -> list[Buffer]:
        """All global memory that the launch can reach."""
        return [*self.buffers, *self._lasting.values()]

    def find(self, address: int) -> tuple[Buffer, int] | None:
        """The buffer in whose region an address lies, and its base; None: a wild address."""
        number = (address >> REGION_BITS) - 1
        if 0 <= number < len(self.buffers):
            return self.buffers[number], _address(number)
        lasting = self._lasting.get(number)
        return None if lasting is None else (lasting, _address(number))


def _address(number: int) -> int:
    """Of the first byte in a region."""
    return ((number + 1) << REGION_BITS) + _BASE


def lasting_region(place: int) -> int:
    """The upper bits of all addresses of the module's own array at a place: see `lasting`."""
    return _address(MAXIMUM_BUFFERS + place) >> REGION_BITS


@cache
def keep_freed_pages() -> None:
    """Ask the C library to keep what is freed for the next allocation.

    A wave allocates and frees arrays of some 100 KB at every instruction. glibc's malloc gives such
    back to the operating system, and each then costs its page faults again, until it has seen one
    larger array freed (mallopt(3), M_MMAP_THRESHOLD; up to 32 MiB). This one is never touched.
    """
    np.empty(31 << 20, np.uint8)
