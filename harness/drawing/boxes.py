"""Labelled boxes with arrows: the levels of memory, the way from the host to the device."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.drawing.canvas import BLUE, INK, ON_PAINT, TEXT, Canvas


@dataclass(frozen=True, slots=True)
class Box:
    """Words in a frame, on a plane of pixels; painted, or an outline around other boxes."""

    name: str
    x: float
    y: float
    width: float
    height: float
    words: str  # the first line is set in bold
    colour: str | None = BLUE
    frame: bool = False  # words at the top, room for boxes inside


@dataclass(frozen=True, slots=True)
class Arrow:
    """From one box to another, with words beside it."""

    start: str
    end: str
    words: str = ""
    both: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    x: float
    y: float
    words: str
    anchor: str = "start"
    bold: bool = False


def boxes(
    title: str, shown: Sequence[Box], arrows: Sequence[Arrow] = (), notes: Sequence[Note] = ()
) -> Canvas:
    """Boxes in the order given, arrows from edge to edge, then notes."""
    canvas = Canvas(title)
    by_name = {box.name: box for box in shown}
    for box in shown:
        place = box.x, box.y, box.width, box.height
        if box.frame:
            canvas.rectangle(*place, box.colour, tint=True, radius=5)
            canvas.text(box.x + 10, box.y + 15, box.words, anchor="start", bold=True)
        elif box.colour is None:
            canvas.rectangle(*place, radius=4)
            canvas.label(*place, box.words)
        else:
            canvas.rectangle(*place, box.colour, outline=None, radius=4)
            canvas.label(*place, box.words, colour=ON_PAINT, headed=True)
    for arrow in arrows:
        start, end = _ends(by_name[arrow.start], by_name[arrow.end])
        canvas.arrow(start, end, both=arrow.both, dashed=arrow.dashed)
        if arrow.words:
            _beside(canvas, start, end, arrow.words)
    for note in notes:
        canvas.text(note.x, note.y, note.words, anchor=note.anchor, bold=note.bold, colour=INK)
    return canvas


def _ends(a: Box, b: Box) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where an arrow leaves one box and meets the other: across the gap between them."""
    if b.x >= a.x + a.width or a.x >= b.x + b.width:
        y = (max(a.y, b.y) + min(a.y + a.height, b.y + b.height)) / 2
        right = b.x >= a.x + a.width
        return (a.x + a.width * right + (3 if right else -3), y), (
            b.x + b.width * (not right) + (-3 if right else 3),
            y,
        )
    x = (max(a.x, b.x) + min(a.x + a.width, b.x + b.width)) / 2
    down = b.y >= a.y + a.height
    return (x, a.y + a.height * down + (3 if down else -3)), (
        x,
        b.y + b.height * (not down) + (-3 if down else 3),
    )


def _beside(
    canvas: Canvas, start: tuple[float, float], end: tuple[float, float], words: str
) -> None:
    middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    if start[1] == end[1]:
        canvas.text(middle[0], middle[1] - 11, words, size=12)
    else:
        canvas.text(middle[0] + 9, middle[1], words, anchor="start", size=TEXT)
