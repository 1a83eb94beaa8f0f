"""Matrices cut into tiles: which block makes what, what it reads, and who holds what."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.drawing.addresses import colour_of
from harness.drawing.canvas import BLUE, GREEN, INK, ORANGE, TEXT, Canvas

Cell = tuple[int, int]  # (row, column)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix as a grid of cells; `strong` ones belong to this step, `weak` ones to the others."""

    name: str
    rows: int
    columns: int
    colour: str = BLUE
    strong: frozenset[Cell] = frozenset()
    weak: frozenset[Cell] = frozenset()
    across: str = ""  # said above: what one column is
    down: str = ""  # said at the left: what one row is


def block_of(rows: range, columns: range) -> frozenset[Cell]:
    """All cells of some rows and columns."""
    return frozenset((row, column) for row in rows for column in columns)


def draw_matrix(canvas: Canvas, x: float, y: float, cell: float, matrix: Matrix) -> None:
    used = matrix.strong | matrix.weak
    canvas.grid(
        x,
        y,
        matrix.rows,
        matrix.columns,
        (cell, cell),
        lambda row, column: matrix.colour if (row, column) in used else None,
        tint=lambda row, column: (row, column) not in matrix.strong,
    )
    width, height = matrix.columns * cell, matrix.rows * cell
    canvas.rectangle(x, y, width, height, radius=0)
    if matrix.across:
        canvas.text(x + width / 2, y - 12, matrix.across)
    if matrix.down:
        canvas.text(x - 8, y + height / 2, matrix.down, anchor="end")
    canvas.text(x + width / 2, y + height + 14, matrix.name, bold=True, size=TEXT)


def product(
    title: str, a: Matrix, b: Matrix, c: Matrix, says: Sequence[str], cell: float = 22
) -> Canvas:
    """C = A @ B: B above C, A to the left of it, so that rows and columns meet; words beside B."""
    canvas = Canvas(title)
    gap = 46
    width = (a.columns + c.columns) * cell + gap
    left = (canvas.width - width) / 2
    right, top = left + a.columns * cell + gap, 34.0
    below = top + b.rows * cell + gap
    draw_matrix(canvas, right, top, cell, b)
    draw_matrix(canvas, left, below, cell, a)
    draw_matrix(canvas, right, below, cell, c)
    for k, line in enumerate(says):
        canvas.text(20, top + 12 + 20 * k, line, anchor="start", bold=k == 0)
    return canvas


def patches(title: str, says: Sequence[str], rows: int, columns: int, patch: Cell) -> Canvas:
    """A tile of C, and the patch of rows × columns that each thread keeps in registers.

    One thread is picked out: its column of A and its row of B are what it loads in one step.
    """
    canvas = Canvas(title)
    high, wide = patch
    cell = 24.0
    left, top = 150.0, 86.0
    picked = (rows // high // 2, columns // wide // 2)
    mine = block_of(
        range(picked[0] * high, picked[0] * high + high),
        range(picked[1] * wide, picked[1] * wide + wide),
    )
    canvas.grid(
        left, top, rows, columns, (cell, cell), lambda r, c: BLUE if (r, c) in mine else None
    )
    for row in range(0, rows + 1, high):
        y = top + row * cell
        canvas.line((left, y), (left + columns * cell, y), thick=1.5)
    for column in range(0, columns + 1, wide):
        x = left + column * cell
        canvas.line((x, top), (x, top + rows * cell), thick=1.5)
    canvas.grid(
        left - 44,
        top,
        rows,
        1,
        (cell, cell),
        lambda row, _: ORANGE if row // high == picked[0] else None,
    )
    canvas.grid(
        left,
        top - 44,
        1,
        columns,
        (cell, cell),
        lambda _, column: GREEN if column // wide == picked[1] else None,
    )
    canvas.text(left - 44 + cell / 2, top - 14, "A")
    canvas.text(left - 14, top - 44 + cell / 2, "B")
    canvas.text(left + columns * cell / 2, top + rows * cell + 16, "tile of C", bold=True)
    for k, line in enumerate(says):
        words_x = left + columns * cell + 30
        canvas.text(words_x, top + 12 + 22 * k, line, anchor="start", bold=k == 0)
    return canvas


@dataclass(frozen=True, slots=True)
class Fragment:
    """Which lane holds which element of a tile, and in which of its registers."""

    name: str
    rows: int
    columns: int
    owner: Callable[[int, int], tuple[int, int]]  # (row, column) to (lane, register)
    letter: str = "c"


def fragments(title: str, shown: Sequence[Fragment], group: int = 4) -> Canvas:
    """Tiles side by side, each cell named for its lane and register; lanes coloured by groups."""
    canvas = Canvas(title)
    gap = 40.0
    columns = sum(fragment.columns for fragment in shown)
    wide = min((canvas.width - 80 - gap * (len(shown) - 1)) / columns, 56.0)
    x = (canvas.width - wide * columns - gap * (len(shown) - 1)) / 2 + 10
    for fragment in shown:
        _fragment(canvas, x, fragment, wide, group)
        x += fragment.columns * wide + gap
    return canvas


def _fragment(canvas: Canvas, x: float, fragment: Fragment, wide: float, group: int) -> None:
    top, high = 62.0, 24.0

    def paint(row: int, column: int) -> str:
        return colour_of(fragment.owner(row, column)[0] // group)

    def words(row: int, column: int) -> str:
        lane, register = fragment.owner(row, column)
        return f"{lane} {fragment.letter}{register}" if wide >= 42 else str(lane)

    across = fragment.columns * wide
    canvas.text(x + across / 2, 18, fragment.name, bold=True, size=15)
    canvas.grid(x, top, fragment.rows, fragment.columns, (wide, high), paint, words)
    for column in range(fragment.columns):
        canvas.text(x + (column + 0.5) * wide, top - 12, str(column), size=12, colour=INK)
    for row in range(fragment.rows):
        canvas.text(x - 8, top + (row + 0.5) * high, str(row), size=12, anchor="end")
