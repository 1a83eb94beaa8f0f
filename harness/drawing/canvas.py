"""A picture as SVG, in the one style that all lessons share.

The background is transparent and every colour of middle tone, so that a picture reads on a white
page and on a dark one. Text is set in the reader's own fonts, 12 pixels or more. The same calls
give the same bytes.
"""

from collections.abc import Callable, Sequence
from html import escape

WIDTH = 760  # pixels; GitHub shows up to about 800 without shrinking
TEXT, TITLE, LEAST_TEXT = 13, 15, 12  # pixels

INK = "#777f89"  # words and outlines on the page itself
ON_PAINT = "#ffffff"  # words on a painted shape
BLUE, ORANGE, GREEN, PURPLE = "#3b7cc0", "#c06a24", "#3d8c5c", "#8464bb"
RED, TEAL, GREY = "#cc4b4b", "#2b8790", "#7a828c"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, TEAL)  # of equals, one after another
_FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
_CODE_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
_HALO = 0.16  # opacity of a tint


class Canvas:
    """Shapes in the order in which they are drawn; the height follows from the lowest."""

    def __init__(self, title: str, width: int = WIDTH) -> None:
        self.title = title  # what a screen reader says
        self.width = width
        self.bottom = 0.0
        self._shapes: list[str] = []

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        paint: str | None = None,
        *,
        outline: str | None = INK,
        tint: bool = False,
        dashed: bool = False,
        radius: float = 2,
        faint: bool = False,
    ) -> None:
        """paint: the colour inside, thin where `tint`; None leaves the page to be seen."""
        fill = f'fill="{paint}"' if paint else 'fill="none"'
        if paint and tint:
            fill += f' fill-opacity="{_HALO}"'
        stroke = f' stroke="{outline}"' if outline else ""
        if outline and dashed:
            stroke += ' stroke-dasharray="4 3"'
        if outline and faint:
            stroke += ' stroke-opacity="0.35"'
        place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
        self._add(f'<rect {place} rx="{_n(radius)}" {fill}{stroke}/>', y + height)

    def line(
        self,
        *points: tuple[float, float],
        colour: str = INK,
        thick: float = 1,
        dashed: bool = False,
        opacity: float = 1,
    ) -> None:
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        more = ' stroke-dasharray="4 3"' if dashed else ""
        more += f' stroke-opacity="{_n(opacity)}"' if opacity < 1 else ""
        shape = f'<polyline points="{path}" fill="none" stroke="{colour}"'
        lowest = max(y for _, y in points)
        self._add(f'{shape} stroke-width="{_n(thick)}" stroke-linejoin="round"{more}/>', lowest)

    def arrow(
        self,
        *points: tuple[float, float],
        colour: str = INK,
        thick: float = 1.5,
        dashed: bool = False,
        both: bool = False,
    ) -> None:
        """A line whose last point has a head, and the first too where `both`."""
        ends = [(points[-2], points[-1])] + ([(points[1], points[0])] if both else [])
        cut = list(points)
        cut[-1] = _short_of(points[-2], points[-1], 5)
        if both:
            cut[0] = _short_of(points[1], points[0], 5)
        self.line(*cut, colour=colour, thick=thick, dashed=dashed)
        for start, end in ends:
            corners = " ".join(f"{_n(x)},{_n(y)}" for x, y in _head(start, end))
            self._add(f'<polygon points="{corners}" fill="{colour}"/>', end[1])

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = TEXT,
        anchor: str = "middle",
        colour: str = INK,
        bold: bool = False,
        code: bool = False,
    ) -> None:
        """One line; y is its middle, anchor "start", "middle" or "end"."""
        assert size >= LEAST_TEXT, f"{words!r} at {size} pixels cannot be read"
        style = ' font-weight="600"' if bold else ""
        style += f' font-family="{_CODE_FONT}"' if code else ""
        place = f'x="{_n(x)}" y="{_n(y + 0.35 * size)}" font-size="{_n(size)}"'
        shape = f'<text {place} text-anchor="{anchor}" fill="{colour}"{style}>'
        self._add(f"{shape}{escape(words, quote=False)}</text>", y + size / 2)

    def label(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        words: str,
        colour: str = INK,
        headed: bool = False,
    ) -> None:
        """Words in the middle of a box, line by line; the first in bold where `headed`."""
        lines = words.split("\n")
        step = TEXT + 4
        for k, line in enumerate(lines):
            middle = y + height / 2 + (k - (len(lines) - 1) / 2) * step
            self.text(x + width / 2, middle, line, colour=colour, bold=headed and k == 0)

    def grid(
        self,
        x: float,
        y: float,
        rows: int,
        columns: int,
        cell: tuple[float, float],
        paint: Callable[[int, int], str | None] = lambda row, column: None,
        words: Callable[[int, int], str] = lambda row, column: "",
        tint: Callable[[int, int], bool] = lambda row, column: False,
    ) -> None:
        """Cells of width × height; what is painted stands out, the rest is a thin outline."""
        width, height = cell
        for row in range(rows):
            for column in range(columns):
                colour, thin = paint(row, column), tint(row, column)
                left, top = x + column * width, y + row * height
                if colour is None:
                    self.rectangle(left, top, width, height, radius=0, faint=True)
                else:
                    inside = left + 0.5, top + 0.5, width - 1, height - 1
                    self.rectangle(*inside, colour, outline=None, tint=thin, radius=1)
                if said := words(row, column):
                    on = ON_PAINT if colour and not thin else INK
                    middle = left + width / 2, top + height / 2
                    self.text(*middle, said, size=LEAST_TEXT, colour=on)

    def heading(self, y: float, left: str, right: str = "", x: float = 20) -> None:
        """What a part shows, and on the right what it comes to."""
        self.text(x, y, left, size=TITLE, anchor="start", bold=True)
        if right:
            self.text(self.width - x, y, right, anchor="end")

    def svg(self) -> str:
        """The file's text."""
        height = round(self.bottom + 12)
        size = f'width="{self.width}" height="{height}" viewBox="0 0 {self.width} {height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{_FONT}">'
        shapes = [f"<title>{escape(self.title, quote=False)}</title>", *self._shapes]
        return "\n".join([head, *shapes, "</svg>", ""])

    def _add(self, shape: str, lowest: float) -> None:
        self._shapes.append(shape)
        self.bottom = max(self.bottom, lowest)


def width_of(words: str, size: float = TEXT) -> float:
    """About how wide a line of text is."""
    return 0.56 * size * len(words)


def _n(number: float) -> str:
    """A number as short as it can be written, the same on each machine."""
    return f"{number:.1f}".rstrip("0").rstrip(".") or "0"


def _short_of(
    start: tuple[float, float], end: tuple[float, float], by: float
) -> tuple[float, float]:
    (x, y), (to_x, to_y) = start, end
    length = max(((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5, 1e-9)
    return to_x - (to_x - x) * by / length, to_y - (to_y - y) * by / length


def _head(start: tuple[float, float], end: tuple[float, float]) -> Sequence[tuple[float, float]]:
    x, y = _short_of(start, end, 8)
    across, along = (end[0] - x) / 8, (end[1] - y) / 8
    return end, (x - 4 * along, y + 4 * across), (x + 4 * along, y - 4 * across)
