"""Who has touched which place of shared memory in an epoch, by stamps on its granules.

A stamp tells of a lane. Each party that writes stamps its places; a party that finds the stamp of
another one at a place of its own has met it.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simulator.observing.race_ways import Way
from simulator.observing.shadow_log import Touch
from simulator.observing.shadow_places import granules, read, write
from simulator.types import unsigned

Stamps = NDArray[np.uint32]
Mask = NDArray[np.bool_]
# Takes an access, the position of one lane in it, that of another one, where, shift of a granule.
Note = Callable[[Touch, NDArray[np.intp], NDArray[np.intp], NDArray[np.int64], int], None]
ALL = np.ones(0, bool)  # in place of a mask that holds everywhere
SEVERAL = np.iinfo(np.uint32).max  # in place of a stamp: of more than one thread


def _positions(stamps: Stamps, wanted: Stamps) -> NDArray[np.intp]:
    """Where each of these stamps stands among some: lanes rise, and so do stamps."""
    if int(stamps[-1]) - int(stamps[0]) == len(stamps) - 1:
        positions: NDArray[np.intp] = (wanted - stamps[0]).astype(np.intp)
        return positions
    return np.searchsorted(stamps, wanted)


class Stamped:
    """Arrays with a stamp for each granule, used again and again: zeros cost as much as a look.

    Each use has stamps above those of all uses before.
    """

    def __init__(self, size: int) -> None:
        """size: bytes of the memory."""
        self._size = size
        self._arrays: dict[tuple[str, int], tuple[Stamps, int]] = {}

    def of(self, name: str, shift: int, count: int) -> tuple[Stamps, int]:
        """(the array of granules of 1 << shift bytes, below which all its stamps are old).

        count  of the stamps that may be new
        """
        array, below = self._arrays.get((name, shift), (None, 0))
        if array is None or below + count >= SEVERAL:
            array, below = np.zeros(self._size >> shift, np.uint32), 0
        self._arrays[name, shift] = (array, below + count)
        return array, below


class Placed:
    """Lanes of an access: the first granule of each is index + moved, and it has some pieces."""

    def __init__(self, touch: Touch, here: Mask) -> None:
        """here: [count] those lanes that are looked at; ALL: all of them."""
        self.touch, self._here = touch, here

    def locate(self, shift: int, below: int, stamps: Stamps) -> None:
        """stamps: [count] of all lanes of the access; those up to `below` are old."""
        event = self.touch.event
        self.shift, self._below = shift, below
        self._number = 0
        self._moved, index = granules(event, shift)
        assert not isinstance(index, slice), "only in global memory"
        self._pieces = event.access.bytes >> shift
        self._index, self._stamps = index, stamps
        if self._here is not ALL:
            self._index, self._stamps = index[self._here], stamps[self._here]
        self._lost: NDArray[np.intp] | None = None  # who has written a place with another one

    def stamp(self, last: Stamps) -> None:
        for k in range(self._pieces):
            write(last, self._moved + k, self._index, self._stamps)

    def lost(self, last: Stamps) -> NDArray[np.intp] | None:
        """Positions of lanes at whose place another lane of this party has just been stamped."""
        for k in range(self._pieces):
            differ = read(last, self._moved + k, self._index) != self._stamps
            if differ.any():
                return np.flatnonzero(differ)
        return None

    def write_alike(self, lost: NDArray[np.intp], last: Stamps, note: Note) -> bool:
        """Whether each of these lanes writes just what the one does that was stamped there."""
        values = self.touch.values
        if values is None or self.touch.way is Way.VOLATILE_WRITE:
            return False  # of volatile ones, only lanes of one warp are to be told of
        winners = read(last, self._moved, self._index[lost])
        others = _positions(self._stamps, winners)
        if (self._index[others] != self._index[lost]).any():
            return False  # they overlap only in part
        for value in values:
            if value.ndim:
                bits = unsigned(value if self._here is ALL else value[self._here])
                if (bits[others] != bits[lost]).any():
                    return False
        one, other = lost[:1], others[:1]
        if self._here is not ALL:
            one, other = (np.flatnonzero(self._here)[k] for k in (one, other))
        note(self.touch, one, other, self._index[lost[:1]] + self._moved, self.shift)
        self._lost = lost
        return True

    def share(self, shared: Stamps, number: int) -> None:
        """Put this party's number where its lanes have written together."""
        assert self._lost is not None
        self._number = number
        for k in range(self._pieces):
            write(shared, self._moved + k, self._index[self._lost], number)

    def meets_party(self, shared: Stamps, below: int) -> bool:
        """Whether any lane is where lanes of another party have written together."""
        for k in range(self._pieces):
            there = read(shared, self._moved + k, self._index)
            if ((there > below) & (there != self._number)).any():
                return True
        return False

    def meets_other(self, last: Stamps) -> bool:
        """Whether any lane is where another one has written, and not with it."""
        for k in range(self._pieces):
            there = read(last, self._moved + k, self._index)
            differ = there != self._stamps
            if self._lost is not None:
                differ[self._lost] = False
            if differ.any() and (there[differ] > self._below).any():
                return True
        return False

    def mark_several(self, last: Stamps) -> None:
        """A granule that several lanes have updated is that of none of them."""
        for k in range(self._pieces):
            differ = read(last, self._moved + k, self._index) != self._stamps
            if differ.any():
                last[self._index[differ] + self._moved + k] = SEVERAL
