"""Who does what when: spans on rows of time, barriers across them, and lanes that sit idle."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.drawing.addresses import colour_of
from harness.drawing.canvas import BLUE, GREY, INK, ON_PAINT, RED, Canvas, width_of

_LEFT, _HIGH, _STEP = 96.0, 28.0, 40.0  # where time begins; a row's height, and the next row's


@dataclass(frozen=True, slots=True)
class Span:
    """One row is busy from `start` to `end`; a `wait` is an outline only."""

    start: float
    end: float
    words: str = ""
    colour: str = BLUE
    wait: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    spans: Sequence[Span]


@dataclass(frozen=True, slots=True)
class Barrier:
    """All rows have come by `at`; none goes on before."""

    at: float
    words: str = "__syncthreads()"


@dataclass(frozen=True, slots=True)
class Clash:
    """Two spans touch the same bytes at the same time, in two rows."""

    start: float
    end: float
    rows: tuple[int, int]
    words: str


@dataclass(frozen=True, slots=True)
class Timeline:
    says: str
    rows: Sequence[Row]
    barriers: Sequence[Barrier] = ()
    clashes: Sequence[Clash] = ()
    comes_to: str = ""

    @property
    def end(self) -> float:
        return max(span.end for row in self.rows for span in row.spans)


def timelines(title: str, shown: Sequence[Timeline]) -> Canvas:
    """One under the other, on one scale of time."""
    canvas = Canvas(title)
    scale = (canvas.width - _LEFT - 24) / max(timeline.end for timeline in shown)
    y = 18.0
    for timeline in shown:
        y = _timeline(canvas, y, timeline, scale) + 32
    return canvas


def _timeline(canvas: Canvas, y: float, timeline: Timeline, scale: float) -> float:
    canvas.heading(y, timeline.says, timeline.comes_to)
    top = y + (44 if timeline.barriers else 24)
    end = top + _STEP * len(timeline.rows) - (_STEP - _HIGH)
    for clash in timeline.clashes:  # below the spans, and its outline above them
        canvas.rectangle(*_around(clash, top, scale), RED, tint=True, outline=None)
    for k, row in enumerate(timeline.rows):
        row_y = top + _STEP * k
        canvas.text(_LEFT - 10, row_y + _HIGH / 2, row.name, anchor="end")
        for span in row.spans:
            _span(canvas, row_y, span, scale)
    for barrier in timeline.barriers:
        x = _LEFT + barrier.at * scale
        canvas.line((x, top - 10), (x, end + 8), thick=2.5)
        canvas.text(x, top - 18, barrier.words, code=True, size=12)
    for clash in timeline.clashes:
        left, above, wide, high = _around(clash, top, scale)
        canvas.rectangle(left, above, wide, high, outline=RED, dashed=True)
        canvas.text(left + wide / 2, above + high + 12, clash.words, colour=RED, bold=True)
        end = max(end, above + high + 12)
    axis = end + 18
    canvas.arrow((_LEFT, axis), (canvas.width - 24, axis), thick=1)
    canvas.text(_LEFT - 10, axis, "time", size=12, anchor="end")
    return axis


def _around(clash: Clash, top: float, scale: float) -> tuple[float, float, float, float]:
    """Left, top, width and height of the box around both spans."""
    first, last = min(clash.rows), max(clash.rows)
    left, wide = _LEFT + clash.start * scale, (clash.end - clash.start) * scale
    return left, top + _STEP * first - 6, wide, _STEP * (last - first) + _HIGH + 12


def _span(canvas: Canvas, y: float, span: Span, scale: float) -> None:
    x, wide = _LEFT + span.start * scale, (span.end - span.start) * scale
    if span.wait:
        canvas.rectangle(x + 0.5, y, wide - 1, _HIGH, dashed=True, faint=True)
    else:
        canvas.rectangle(x + 0.5, y, wide - 1, _HIGH, span.colour, outline=None)
    if span.words and width_of(span.words) <= wide:
        colour = INK if span.wait else ON_PAINT
        canvas.text(x + wide / 2, y + _HIGH / 2, span.words, colour=colour)


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a branch: what it is called, how many instructions, and which lanes take it."""

    words: str
    instructions: int
    lanes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Divergence:
    """A warp that issues `before` for all lanes, then arm after arm, then `after`."""

    says: str
    arms: Sequence[Arm]
    before: int = 1
    after: int = 1
    lanes: int = 32

    @property
    def issues(self) -> list[tuple[frozenset[int], int, str]]:
        """(lanes that are there, arm or -1, words) of each instruction, in order of time."""
        together = frozenset(range(self.lanes))
        out = [(together, -1, "all lanes")] * self.before
        for k, arm in enumerate(self.arms):
            out += [(arm.lanes, k, arm.words)] * arm.instructions * bool(arm.lanes)
        return out + [(together, -1, "all lanes again")] * self.after

    @property
    def slots_of_arms(self) -> int:
        """Issues between `before` and `after`."""
        return sum(arm.instructions for arm in self.arms if arm.lanes)

    @property
    def lanes_of_arms(self) -> float:
        """The share of the lanes that are there in those, on average."""
        work = sum(arm.instructions * len(arm.lanes) for arm in self.arms)
        return work / (self.lanes * self.slots_of_arms)

    @property
    def efficiency(self) -> float:
        """Lanes there, on average, over all lanes."""
        return sum(len(lanes) for lanes, _, _ in self.issues) / (self.lanes * len(self.issues))


def divergences(title: str, shown: Sequence[Divergence]) -> Canvas:
    """Lanes from left to right, time downwards; lanes that are masked out stay empty."""
    canvas = Canvas(title)
    y, cell = 18.0, 17.0
    left = 20.0
    for divergence in shown:
        issues = divergence.issues
        comes_to = f"{len(issues)} issues, {100 * divergence.efficiency:.3g} % of the lanes at work"
        canvas.heading(y, divergence.says, comes_to)
        top = y + 42
        for lane in range(0, divergence.lanes, 4):
            canvas.text(left + (lane + 0.5) * cell, top - 10, str(lane), size=12)

        painted = [
            [_colour_of_arm(arm) if lane in lanes else None for lane in range(divergence.lanes)]
            for lanes, arm, _ in issues
        ]
        canvas.grid(
            left,
            top,
            len(issues),
            divergence.lanes,
            (cell, cell),
            lambda row, lane, painted=painted: painted[row][lane],  # type: ignore[misc]
        )
        words_x = left + divergence.lanes * cell + 34
        for row, (_, arm, words) in enumerate(issues):
            if row == 0 or issues[row - 1][2] != words:
                colour = INK if arm < 0 else colour_of(arm)
                canvas.text(words_x, top + (row + 0.5) * cell, words, anchor="start", colour=colour)
        end = top + len(issues) * cell
        canvas.arrow((words_x - 16, top), (words_x - 16, end), thick=1)
        y = end + 36
    return canvas


def _colour_of_arm(arm: int) -> str:
    return GREY if arm < 0 else colour_of(arm)


def warps_at_a_branch(
    title: str, panels: Sequence[tuple[str, Sequence[Divergence]]], slots_a_cell: int, note: str
) -> Canvas:
    """Panels side by side, in each some warps: time from left to right, lanes downwards."""
    canvas = Canvas(title)
    each = (canvas.width - 40 - 30 * (len(panels) - 1)) / len(panels)
    high, name = 13.0, 64.0
    wide = (each - name) / max(len(warp.issues) for _, warps in panels for warp in warps)
    for k, (says, warps) in enumerate(panels):
        left, y = 20 + k * (each + 30), 18.0
        canvas.text(left, y, says, size=15, anchor="start", bold=True)
        y += 26
        for number, warp in enumerate(warps):
            canvas.text(left, y + warp.lanes * high / 2, f"warp {number}", anchor="start")
            for slot, (lanes, arm, _) in enumerate(warp.issues):
                here = left + name + slot * wide, y
                colours = [_colour_of_arm(arm) if n in lanes else None for n in range(warp.lanes)]
                canvas.grid(*here, warp.lanes, 1, (wide, high), lambda n, _, c=colours: c[n])  # type: ignore[misc]
            y += warp.lanes * high + 20
        counts = [slots_a_cell * warp.slots_of_arms for warp in warps]
        canvas.text(
            left, y, f"{_slots(warps, slots_a_cell)}, {sum(counts)} for both", anchor="start"
        )
        share = sum(warp.lanes_of_arms * warp.slots_of_arms for warp in warps)
        share /= sum(warp.slots_of_arms for warp in warps)
        canvas.text(left, y + 20, f"{100 * share:.3g} % of the lanes at work", anchor="start")
        bottom = y + 46
    x = 20.0
    for nth, one in enumerate(panels[0][1][0].arms):
        canvas.rectangle(x, bottom, 14, 14, colour_of(nth), outline=None)
        canvas.text(x + 22, bottom + 7, one.words, anchor="start")
        x += 50 + width_of(one.words)
    canvas.rectangle(x, bottom, 14, 14, GREY, outline=None)
    canvas.text(x + 22, bottom + 7, note, anchor="start")
    return canvas


def _slots(warps: Sequence[Divergence], slots_a_cell: int) -> str:
    """What each warp issues for its arms: 50 slots a warp (30 + 20), or 30 and 20 slots."""
    arms = [[slots_a_cell * arm.instructions for arm in w.arms if arm.lanes] for w in warps]
    if all(one == arms[0] for one in arms) and len(arms[0]) > 1:
        return f"{sum(arms[0])} slots a warp ({' + '.join(map(str, arms[0]))})"
    return f"{' and '.join(str(sum(one)) for one in arms)} slots"
