"""The lanes of a warp and the bytes they ask for: sectors of global memory, banks of shared memory.

What a request costs is asked of simulator.observing.requests, never typed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.drawing.canvas import BLUE, COLOURS, GREY, INK, ON_PAINT, RED, WIDTH, Canvas
from simulator.observing.address_rows import Array
from simulator.observing.requests import (
    BANKS,
    SECTOR,
    WORD,
    lanes_served_together,
    sectors_and_bytes,
    wavefronts,
)

_LEFT, _STRIP = 44, 672  # where lanes and memory begin, and how wide they are
_LANE = _STRIP / 32


@dataclass(frozen=True, slots=True)
class Request:
    """One instruction of one warp: each lane's byte offset, and the bytes that it asks for."""

    says: str
    offsets: Sequence[int]  # one for each lane that is there
    width: int = 4
    spare: frozenset[int] = frozenset()  # words of shared memory that are padding

    @property
    def rows(self) -> Array:
        """[1, 32] as the simulator counts them; absent lanes ask for what the last asks."""
        absent = 32 - len(self.offsets)
        return np.array([[*self.offsets, *[self.offsets[-1]] * absent]])

    @property
    def sectors(self) -> list[int]:
        return sorted({offset // SECTOR for offset in self.offsets})

    @property
    def bytes(self) -> int:
        """Different bytes that the lanes ask for."""
        return int(sectors_and_bytes(self.rows, self.width)[1][0])

    @property
    def passes(self) -> int:
        """In shared memory: how often the banks must answer."""
        rows = self.rows.reshape(-1, lanes_served_together(self.width))
        return int(wavefronts(rows, self.width)[0].sum())

    @property
    def best_passes(self) -> int:
        return 32 // lanes_served_together(self.width)


def strided(says: str, stride: int, first: int = 0, width: int = 4, lanes: int = 32) -> Request:
    """Lane i at element first + i * stride, of `width` bytes."""
    return Request(says, [(first + lane * stride) * width for lane in range(lanes)], width)


def sectors(title: str, requests: Sequence[Request], note: str = "") -> Canvas:
    """Each request: 32 lanes above, the sectors that they touch below; a note closes."""
    canvas = Canvas(title)
    y = 18.0
    for request in requests:
        y = _sectors_of(canvas, y, request) + 30
    if note:
        canvas.text(20, y, note, anchor="start")
    return canvas


def _sectors_of(canvas: Canvas, y: float, request: Request) -> float:
    touched = request.sectors
    counted = int(sectors_and_bytes(request.rows, request.width)[0][0])
    assert counted == len(touched)
    share = request.bytes / (SECTOR * counted)
    plural = "sector" if counted == 1 else "sectors"
    moved = f"{request.bytes} of {SECTOR * counted:,} bytes used, {100 * share:.3g} %"
    canvas.heading(y, request.says, f"{counted} {plural}: {moved}")
    lanes_y, memory_y = y + 18, y + 84
    for lane, _ in enumerate(request.offsets):
        left = _LEFT + lane * _LANE
        canvas.rectangle(left + 0.5, lanes_y, _LANE - 1, 20, BLUE, outline=None)
        canvas.text(left + _LANE / 2, lanes_y + 10, str(lane), size=12, colour=ON_PAINT)
    canvas.text(_LEFT - 6, lanes_y + 10, "lane", size=12, anchor="end")
    places = _places(touched)
    used = {byte // WORD for at in request.offsets for byte in range(at, at + request.width, WORD)}
    wide = min(places.values(), key=lambda place: place[1])[1]
    for sector in touched:
        left, width = places[sector]
        word = width * WORD / SECTOR
        for k in range(SECTOR // WORD):
            if sector * (SECTOR // WORD) + k in used:
                here = left + k * word
                canvas.rectangle(here, memory_y, word, 22, BLUE, outline=None, radius=0)
            if k and wide > 60:
                edge = left + k * word
                canvas.line((edge, memory_y), (edge, memory_y + 22), opacity=0.35)
        canvas.rectangle(left, memory_y, width, 22)
    for lane, at in enumerate(request.offsets):
        left, width = places[at // SECTOR]
        middle = left + (at % SECTOR + request.width / 2) * width / SECTOR
        ends = (_LEFT + (lane + 0.5) * _LANE, lanes_y + 20), (middle, memory_y)
        canvas.line(*ends, colour=BLUE, opacity=0.6)
    _name_sectors(canvas, memory_y + 33, touched, places)
    return memory_y + 40


def _places(touched: Sequence[int]) -> dict[int, tuple[float, float]]:
    """(left edge, width) of each sector; a gap where memory between two is left out."""
    gaps = [b - a > 1 for a, b in pairwise(touched)]
    gap = min(14.0, 200 / max(sum(gaps), 1))
    width = min((_STRIP - gap * sum(gaps)) / len(touched), _STRIP / 4)
    places, x = {}, float(_LEFT)
    for k, sector in enumerate(touched):
        places[sector] = x, width
        x += width + (gap if k < len(gaps) and gaps[k] else 0)
    return places


def _name_sectors(
    canvas: Canvas, y: float, touched: Sequence[int], places: dict[int, tuple[float, float]]
) -> None:
    """The byte at which sectors begin, as many of them as there is room for."""
    canvas.text(_LEFT - 6, y, "byte", size=12, anchor="end")
    free = 0.0
    for sector in touched:
        words = str(sector * SECTOR)
        left = places[sector][0]
        if left >= free:
            canvas.text(left, y, words, size=12, anchor="start")
            free = left + 7.5 * len(words) + 14


def banks(title: str, requests: Sequence[Request]) -> Canvas:
    """Each request on the words of shared memory: one row of 32 words, one column a bank."""
    canvas = Canvas(title)
    side_by_side = len(requests) > 1
    each = (WIDTH - 40 - 40 * side_by_side) / (2 if side_by_side else 1)
    bottom = top = 18.0
    for k, request in enumerate(requests):
        if side_by_side and k % 2 == 0:
            top = bottom + (24 if k else 0)
        x = 20 + (k % 2) * (each + 40) if side_by_side else 20.0
        bottom = max(bottom, _banks_of(canvas, x, top, each, request))
    return canvas


def _banks_of(canvas: Canvas, x: float, y: float, width: float, request: Request) -> float:
    side = width / BANKS
    words = [
        word // WORD
        for at in request.offsets
        for word in range(at, at + max(request.width, WORD), WORD)
    ]
    rows = max(words) // BANKS + 1
    height = min(side, 16)
    hit = {word % BANKS for word in words}
    canvas.text(x, y, request.says, size=15, anchor="start", bold=True)
    passes = "1 pass" if request.passes == 1 else f"{request.passes} passes"
    ways = request.passes // request.best_passes
    verdict = f"{passes}: no conflict" if ways == 1 else f"{passes}: a {ways}-way conflict"
    canvas.text(x, y + 20, verdict, anchor="start", colour=INK if ways == 1 else RED)
    canvas.text(x + width, y + 20, f"{len(hit)} of {BANKS} banks", anchor="end")
    grid_y = y + 52
    for bank in (0, 8, 16, 24, 31):
        canvas.text(x + (bank + 0.5) * side, grid_y - 10, str(bank), size=12)
    wanted = set(words)
    colour = BLUE if ways == 1 else RED
    canvas.grid(
        x,
        grid_y,
        rows,
        BANKS,
        (side, height),
        lambda row, bank: (
            colour
            if row * BANKS + bank in wanted
            else GREY
            if row * BANKS + bank in request.spare
            else None
        ),
        lambda row, bank: _lanes_at(request, row * BANKS + bank) if side > 18 else "",
        lambda row, bank: row * BANKS + bank not in wanted,
    )
    return grid_y + rows * height


def _lanes_at(request: Request, word: int) -> str:
    found = [
        lane
        for lane, at in enumerate(request.offsets)
        if at // WORD <= word < (at + max(request.width, WORD)) // WORD
    ]
    return str(found[0]) if len(found) == 1 else "all" if len(found) > 9 else ""


def colour_of(group: int) -> str:
    """The colour of the group-th of several equals."""
    return COLOURS[group % len(COLOURS)] if group >= 0 else GREY
