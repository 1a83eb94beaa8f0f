"""What one request costs: sectors in global memory, wavefronts in shared memory.

Rows are the byte offsets of the lanes of each warp, [warps, 32] (or halves and quarters of one).
Three answers, fastest first: a constant stride has a closed form; rows that are a shifted copy of
one another share one answer; the rest is sorted.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

SECTOR = 32  # bytes
BANKS = 32
_PATTERNS = 6  # how many shapes of row are looked for before sorting

Rows = NDArray[np.int64]
Answers = NDArray[np.int64]  # [rows]


def distinct(rows: Rows) -> Answers:
    """[rows] how many different values each row has."""
    ordered = np.sort(rows, axis=1)
    counts: Answers = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    return counts


def sectors_of_row(rows: Rows) -> Answers:
    """[rows] sectors that are touched: an access is aligned, so that none crosses a sector."""
    return distinct(rows >> 5)


def sectors(rows: Rows, step: int | None) -> int:
    """Sectors of all rows together.

    step  the stride in bytes between lanes where it is constant
    """
    if step is not None:
        if abs(step) >= SECTOR:
            return rows.size
        first, last = rows[:, 0] >> 5, rows[:, -1] >> 5
        return int(np.abs(last - first).sum()) + len(rows)
    return by_pattern(rows, sectors_of_row, SECTOR)


def useful_bytes(rows: Rows, size: int, step: int | None) -> tuple[int, int]:
    """(distinct bytes asked for, request by request; the sectors that they would fill at best)."""
    if step is not None:
        bytes_ = size if step == 0 else min(abs(step), size) * 31 + size
        return len(rows) * bytes_, len(rows) * -(-bytes_ // SECTOR)
    counts = _each(rows, lambda r: distinct(r) * size, 1)
    return int(counts.sum()), int((-(-counts // SECTOR)).sum())


def wavefronts(rows: Rows, step: int | None, width: int) -> int:
    """Passes through the banks for all rows together.

    rows   byte offsets, a row for each group of lanes served together
    width  bytes for each lane: up to 4, then 8 (half warps), 16 (quarter warps)
    """
    if step is not None and step % 4 == 0 and width == 4:
        words = abs(step) // 4
        return len(rows) * (1 if words == 0 else int(np.gcd(words, BANKS)))
    return by_pattern(rows, lambda r: wavefronts_of_row(r, width), 4 * BANKS)


def wavefronts_of_row(rows: Rows, width: int) -> Answers:
    """[rows] the most different words that one bank must give."""
    words = rows >> 2
    if width > 4:  # each lane asks for neighbouring words
        more = np.arange(width // 4)
        words = (words[:, :, None] + more).reshape(len(rows), -1)
    # By pattern, a row is shifted so that words may be negative: keep the bank clear of their sign.
    ordered = np.sort((words % BANKS << 40) | (words & (1 << 40) - 1), axis=1)
    new = np.ones(ordered.shape, bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    bank = ordered >> 40
    counts = np.zeros((len(rows), BANKS), np.int64)
    np.add.at(counts, (np.nonzero(new)[0], bank[new]), 1)
    most: Answers = counts.max(axis=1)
    return most


def by_pattern(rows: Rows, answer: Callable[[Rows], Answers], period: int) -> int:
    """The sum of `answer` over the rows."""
    return int(_each(rows, answer, period).sum())


def _each(rows: Rows, answer: Callable[[Rows], Answers], period: int) -> Answers:
    """`answer` for each row, worked out once for rows that are equal but for a whole shift.

    period  a shift by this many bytes changes nothing
    """
    shape = rows - rows[:, :1]
    start = rows[:, 0] % period
    answers = np.empty(len(rows), np.int64)
    left = np.arange(len(rows))
    for _ in range(_PATTERNS):
        k = left[0]
        same = (shape[left] == shape[k]).all(axis=1)
        if np.count_nonzero(same) * 8 < len(left):
            break
        chosen = left[same]
        starts, where = np.unique(start[chosen], return_inverse=True)
        answers[chosen] = answer(shape[k] + starts[:, None])[where]
        left = left[~same]
        if not len(left):
            return answers
    answers[left] = answer(rows[left])
    return answers
