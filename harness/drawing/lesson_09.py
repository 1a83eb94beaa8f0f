"""The pictures of lesson 09: who holds what of one product, and copies under way beside it."""

from harness.drawing.canvas import BLUE, COLOURS, ORANGE, Canvas
from harness.drawing.timelines import Row, Span, Timeline, timelines

_CELL = (20, 18)  # pixels
_ROWS = 16
_LEFT, _TOP = 30.0, 58.0
_COPY, _MULTIPLY = 2.0, 2.0  # how long a stage is on its way, and in use
_NEXT = 0.4  # between the starts of two copies


def fragments() -> Canvas:
    canvas = Canvas("Which lane and which register holds each element of a, b and c")
    x = _LEFT
    for name, columns in (("a", 16), ("b", 8), ("c", 8)):
        _matrix(canvas, x, name, columns)
        x += columns * _CELL[0] + 40
    y = _TOP + _ROWS * _CELL[1] + 22
    for register in range(4):
        canvas.rectangle(_LEFT + 108 * register, y - 7, 14, 14, COLOURS[register], outline=None)
        canvas.text(_LEFT + 20 + 108 * register, y, f"register {register}", anchor="start")
    canvas.text(canvas.width - 16, y, "each number is the lane", anchor="end")
    return canvas


def _matrix(canvas: Canvas, x: float, name: str, columns: int) -> None:
    held = "two halves in a register" if name != "c" else "a float in a register"
    wide = columns * _CELL[0]
    canvas.text(x + wide / 2, 14, f"{name}: {_ROWS} x {columns}", bold=True)
    canvas.text(x + wide / 2, 30, held, size=12)
    for column in range(columns):
        canvas.text(x + (column + 0.5) * _CELL[0], _TOP - 9, str(column), size=12)
    for row in range(_ROWS):
        canvas.text(x - 5, _TOP + (row + 0.5) * _CELL[1], str(row), size=12, anchor="end")
    canvas.grid(
        x,
        _TOP,
        _ROWS,
        columns,
        _CELL,
        paint=lambda row, column: COLOURS[_place(name, row, column)[1]],
        words=lambda row, column: str(_place(name, row, column)[0]),
    )


def _place(name: str, row: int, column: int) -> tuple[int, int]:
    """The lane and the register of an element."""
    if name == "b":
        return column * 4 + row % 8 // 2, row // 8
    lane = row % 8 * 4 + column % 8 // 2
    if name == "a":
        return lane, row // 8 + column // 8 * 2
    return lane, row // 8 * 2 + column % 2


def stages() -> Canvas:
    ready = _COPY
    first = [*_used(0.0, ready, 0), *_used(ready + _MULTIPLY, ready + 2 * _MULTIPLY, 2)]
    second = [*_used(_NEXT, ready + _MULTIPLY, 1)]
    second += _used(ready + 2 * _MULTIPLY, ready + 3 * _MULTIPLY, 3)
    alone, at = [], 0.0
    for tile in range(2):
        alone += _used(at, at + _COPY, tile)
        at += _COPY + _MULTIPLY
    return timelines(
        "While stage 0 is multiplied, stage 1 is on its way",
        [
            Timeline("one stage: the tensor cores wait for each", [Row("stage 0", alone)]),
            Timeline(
                "two stages: they wait for the first",
                [Row("stage 0", first), Row("stage 1", second)],
            ),
        ],
    )


def _used(start: float, multiplied: float, tile: int) -> list[Span]:
    """A tile of K is sent for at `start`, is there after a while, and then waits for its turn."""
    there = start + _COPY
    waits = [Span(there, multiplied, "is there", wait=True)] if multiplied > there else []
    way = Span(start, there, f"{tile} on its way", ORANGE)
    return [way, *waits, Span(multiplied, multiplied + _MULTIPLY, f"multiply {tile}", BLUE)]


PICTURES = {"fragments": fragments, "stages": stages}
