"""What one request costs: sectors in global memory, wavefronts in shared memory, turns of atomics.

The rules of the hardware, each in one function of rows [rows, lanes] of byte offsets; an access is
aligned to its size, so that none crosses a sector:

  sectors_and_bytes      a request moves each 32-byte sector that its lanes touch once
  lanes_served_together  shared memory serves 32 lanes at once up to 4 bytes a lane, then 16, then 8
  wavefronts             of those, a bank gives one word a pass, to all lanes that want this word;
                         at best lanes served together need one pass, and none if no lane is there
  wide_loads             of more than 4 bytes a lane serve twice as many lanes at once where each
                         lane shares its address with its neighbour, or with its next but one
  copied_passes          a copy from L1 takes as many passes as lanes want one of the banks of one
                         lane, that lane included, to read or to write
  most_equal             atomic updates of one address take turns
  most_on_a_bank         in shared memory those of one bank do, of one word or of several
  local_sectors          local memory lies word by word, the same word of 8 lanes in one sector

Nsight Compute counts the same on an H200, integer for integer: tests/simulator/test_agreement.py.
"""

import numpy as np
from numpy.typing import NDArray

from simulator.observing.address_rows import Answers, Array, all_in_row, count_in_row
from simulator.running.lanes import WARP, Lanes

SECTOR = 32  # bytes
LINE = 128  # bytes of a cache
WORD = 4  # bytes that a bank of shared memory gives in a pass
BANKS = 32
LANES_OF_A_SECTOR = SECTOR // WORD  # of local memory
_SECTOR_SHIFT, _WORD_SHIFT = 5, 2  # offsets shifted right by it count sectors and words


def sectors_and_bytes(rows: Array, size: int) -> Answers:
    """(sectors, useful bytes, sectors that those would fill at best), each [rows].

    size  bytes for each lane
    """
    ordered = np.sort(rows, axis=1)
    bytes_ = count_in_row(first_of_its_kind(ordered)) * size
    sectors = count_in_row(first_of_its_kind(ordered >> _SECTOR_SHIFT))
    return sectors, bytes_, -(-bytes_ // SECTOR)


def lanes_served_together(width: int) -> int:
    """Lanes of a warp that shared memory serves at once, for accesses of `width` bytes a lane."""
    return WARP * WORD // max(WORD, width)


def wavefronts(rows: Array, width: int) -> Answers:
    """[rows] the most different words that one bank must give.

    rows   of lanes served together
    width  bytes for each lane
    """
    words = rows >> _WORD_SHIFT
    if width > WORD:  # each lane asks for neighbouring words
        more = np.arange(width // WORD, dtype=words.dtype)
        words = (words[:, :, None] + more).reshape(len(rows), -1)
    ordered = np.sort(words, axis=1)
    return (_most_on_a_bank(ordered, first_of_its_kind(ordered)),)


def wide_loads(rows: Array, width: int, here: NDArray[np.bool_] | None = None) -> Answers:
    """(passes, passes at best), each [rows]; rows [rows, 32] of whole warps.

    width  bytes for each lane: 8 or 16
    here   [rows, 32] which lanes are there; None: all
    """
    passes, best = np.zeros((2, len(rows)), np.int64)
    paired = _in_pairs(rows, here)
    for chosen, more in ((~paired, 1), (paired, 2)):
        some = np.flatnonzero(chosen)
        together = lanes_served_together(width) * more
        groups = rows[some].reshape(-1, together)
        served: NDArray[np.bool_] = np.ones(len(groups), bool)
        if here is not None:
            there = here[some].reshape(-1, together)
            served = np.logical_or.reduce(there, axis=1)
            one = groups[np.arange(len(groups)), there.argmax(axis=1)]
            groups = np.where(there, groups, one[:, None])  # as if a lane asked twice
        if len(groups):
            needed = np.where(served, wavefronts(groups, width)[0], 0)
            passes[some] = needed.reshape(len(some), -1).sum(axis=1)
            best[some] = served.reshape(len(some), -1).sum(axis=1)
    return passes, best


def _in_pairs(rows: Array, here: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """[rows] whether lanes n and n ^ 1, or else n and n ^ 2, have one address throughout.

    A lane without its partner is a pair of its own.
    """
    found = np.zeros(len(rows), bool)
    for apart in (1, 2):
        partner = np.arange(WARP) ^ apart
        alike = rows == rows[:, partner]
        if here is not None:
            alike |= ~(here & here[:, partner])
        found |= all_in_row(alike)
    return found


def copied_passes(
    sources: Array,
    destinations: Array,
    width: int,
    here: NDArray[np.bool_] | None = None,
    reads: NDArray[np.bool_] | None = None,
) -> NDArray[np.int64]:
    """[rows] passes of copies from L1 into shared memory; rows of lanes served together.

    width  bytes for each lane
    here   [rows, lanes] which lanes are there; None: all
    reads  [rows, lanes] which of them read anything; None: all
    """
    together = lanes_served_together(width)
    begins, ends = ((rows // width) % together for rows in (sources, destinations))
    in_the_way = begins[:, :, None] == begins[:, None, :]
    if reads is not None:
        in_the_way &= reads[:, :, None] & reads[:, None, :]
    in_the_way |= ends[:, :, None] == ends[:, None, :]
    if here is not None:
        in_the_way &= here[:, :, None] & here[:, None, :]
    passes: NDArray[np.int64] = np.count_nonzero(in_the_way, axis=2).max(axis=1)
    return passes


def local_sectors(rows: Array) -> Answers:
    """[rows] different words; rows of the lanes whose words lie in one sector."""
    return (count_in_row(first_of_its_kind(np.sort(rows >> _WORD_SHIFT, axis=1))),)


def most_equal(rows: Array, here: NDArray[np.bool_] | None = None) -> Answers:
    """[rows] how many lanes have the value that most lanes have.

    here  [rows, lanes] which lanes are there; None: all
    """
    if here is not None:  # a value of its own for each lane that is not there
        own = rows.min() - 1 - np.arange(rows.shape[1], dtype=rows.dtype)
        rows = np.where(here, rows, own)
    new = first_of_its_kind(np.sort(rows, axis=1))
    begins = np.flatnonzero(new)  # of stretches of equal values, row by row
    lengths = np.empty_like(begins)
    np.subtract(begins[1:], begins[:-1], out=lengths[:-1])
    lengths[-1] = new.size - begins[-1]
    first = np.cumsum(count_in_row(new))
    most: NDArray[np.int64] = np.maximum.reduceat(lengths, np.append(0, first[:-1]))
    return (most,)


def most_on_a_bank(rows: Array, here: NDArray[np.bool_] | None = None) -> Answers:
    """[rows] how many lanes want the bank that most lanes want; rows of lanes served together."""
    return (_most_on_a_bank(rows >> _WORD_SHIFT, here),)


def _most_on_a_bank(words: Array, which: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """[rows] how many of the words that count, [rows, words], lie in the bank that has most."""
    row = BANKS * np.arange(len(words))
    place = (words & (BANKS - 1)) + row[:, None]
    chosen = place.ravel() if which is None else place[which]
    counts = np.bincount(chosen, minlength=BANKS * len(words))
    most: NDArray[np.int64] = np.maximum.reduceat(counts, row)
    return most


def present(lanes: Lanes, size: int) -> NDArray[np.bool_] | None:
    """[groups, size] which lanes of each group are there and no stand-in; None: all."""
    if lanes.index is None or lanes.count == lanes.groups(size) * size:
        return None
    found: NDArray[np.bool_] = lanes.rows(lanes.index % size, size) == np.arange(size)
    return found


def first_of_its_kind(ordered: Array) -> NDArray[np.bool_]:
    """[rows, lanes] in sorted rows: whether a value differs from the one before it."""
    new = np.ones(ordered.shape, bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=new[:, 1:])
    return new
