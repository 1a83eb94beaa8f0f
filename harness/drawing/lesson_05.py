"""The pictures of lesson 05: the banks of a tile, and what each of two barriers prevents."""

from harness.drawing.addresses import Request, banks
from harness.drawing.canvas import BLUE, ORANGE, Canvas
from harness.drawing.timelines import Barrier, Clash, Row, Span, Timeline, timelines

_TILE = 32  # rows and columns
_FILLS = (2.6, 4.4)  # how long each warp takes to fill its part of a tile, and to use the tile
_USES = (2.6, 4.4)


def tile_banks() -> Canvas:
    return banks(
        "A column of a tile of 32 x 32 lies in one bank; with 33 floats a row it lies in 32",
        [_column("tile[32][32], column 0", _TILE), _column("tile[32][33], column 0", _TILE + 1)],
    )


def _column(says: str, floats_a_row: int) -> Request:
    """Lane r at word floats_a_row * r; what lies beyond the 32nd float of a row is padding."""
    words = range((_TILE - 1) * floats_a_row + 1)
    spare = frozenset(word for word in words if word % floats_a_row >= _TILE)
    return Request(says, [4 * floats_a_row * row for row in range(_TILE)], spare=spare)


def barriers() -> Canvas:
    full, free = _FILLS[1], _FILLS[1] + _USES[1]
    slow = Row("warp 1", [*_done(0, 1, 0), *_done(free, 1, 1)[:1]])
    both = [_fill(0, 0, 0), _wait(_FILLS[0], full), _use(full, 0, 0)]
    both += [_wait(full + _USES[0], free), _fill(free, 0, 1)]
    early = [*_done(0, 0, 0), _wait(_FILLS[0] + _USES[0], free), _fill(free, 0, 1)]
    hasty = [*both[:3], _fill(full + _USES[0], 0, 1)]
    first, second = Barrier(full, "barrier 1"), Barrier(free, "barrier 2")
    unfilled = Clash(_FILLS[0], full, (0, 1), "race: warp 0 reads what is not there yet")
    overwritten = Clash(
        full + _USES[0], free, (0, 1), "race: warp 0 writes over what is still read"
    )
    return timelines(
        "Two warps, two barriers a tile, and the race that each of them prevents",
        [
            Timeline("both barriers", [Row("warp 0", both), slow], [first, second]),
            Timeline("without barrier 1", [Row("warp 0", early), slow], [second], [unfilled]),
            Timeline("without barrier 2", [Row("warp 0", hasty), slow], [first], [overwritten]),
        ],
    )


def _fill(start: float, warp: int, tile: int) -> Span:
    return Span(start, start + _FILLS[warp], f"fill {tile}", ORANGE)


def _use(start: float, warp: int, tile: int) -> Span:
    return Span(start, start + _USES[warp], f"use {tile}", BLUE)


def _done(start: float, warp: int, tile: int) -> list[Span]:
    return [_fill(start, warp, tile), _use(start + _FILLS[warp], warp, tile)]


def _wait(start: float, end: float) -> Span:
    return Span(start, end, "wait", wait=True)


PICTURES = {"banks": tile_banks, "barriers": barriers}
