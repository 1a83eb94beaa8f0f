"""Adding up in steps: which element goes onto which, who works, who is idle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.drawing.canvas import BLUE, GREY, INK, ON_PAINT, Canvas

Pair = tuple[int, int]  # (the place that is added to, the place that is added)


def interleaved(n: int) -> list[list[Pair]]:
    """Step s adds neighbours 2^s apart: places 0, 2, 4 …, then 0, 4 …"""
    return [[(i, i + s) for i in range(0, n, 2 * s)] for s in _powers(n)]


def sequential(n: int) -> list[list[Pair]]:
    """Each step folds the upper half onto the lower: the places at work stay in front."""
    return [[(i, i + s) for i in range(s)] for s in reversed(_powers(n))]


def shuffled_down(n: int) -> list[list[Pair]]:
    """Every lane adds what the lane s higher has; one without such a lane adds its own."""
    return [[(i, i + s if i + s < n else i) for i in range(n)] for s in reversed(_powers(n))]


def exchanged(n: int) -> list[list[Pair]]:
    """Every lane adds what the lane has whose number differs in one bit."""
    return [[(i, i ^ s) for i in range(n)] for s in reversed(_powers(n))]


def _powers(n: int) -> list[int]:
    assert n & (n - 1) == 0, "a power of two"
    return [1 << k for k in range(n.bit_length() - 1)]


@dataclass(frozen=True, slots=True)
class Tree:
    """values: what the places hold at first; at each step, the pairs that are added.

    thread  which thread does the work of a place in a step: (place, step) to its number
    """

    says: str
    steps: Sequence[Sequence[Pair]]
    values: Sequence[int]
    thread: Callable[[int, int], int] = lambda place, step: place
    step_name: Callable[[int], str] = lambda step: f"step {step + 1}"
    comes_to: str = ""
    warp: int = 0  # threads of a warp, for pictures that count warps
    barriers: bool = False

    @property
    def rows(self) -> list[list[int]]:
        """The values after each step; those before the first come first."""
        rows = [list(self.values)]
        for pairs in self.steps:
            before = rows[-1]
            after = list(before)
            for to, other in pairs:
                after[to] = before[to] + before[other]
            rows.append(after)
        return rows

    @property
    def issues(self) -> int:
        """Warps that have a thread at work, summed over the steps."""
        steps = enumerate(self.steps)
        return sum(len({self.thread(to, s) // self.warp for to, _ in pairs}) for s, pairs in steps)

    @property
    def needed(self) -> list[set[int]]:
        """For each row, the places that go into the sum of all."""
        rows = self.rows
        total = sum(rows[0])
        found = [{place for place, value in enumerate(rows[-1]) if value == total}]
        for pairs in reversed(self.steps):
            before = set(found[0])
            before |= {other for to, other in pairs if to in before}
            found.insert(0, before)
        return found


def trees(title: str, shown: Sequence[Tree]) -> Canvas:
    """Steps downwards; what goes into the sum is painted, other work tinted, idleness empty."""
    canvas = Canvas(title)
    y = 18.0
    for tree in shown:
        y = _tree(canvas, y, tree) + 36
    return canvas


def _tree(canvas: Canvas, y: float, tree: Tree) -> float:
    comes_to = tree.comes_to
    if tree.warp:
        comes_to = (
            f"{comes_to}{tree.issues} turns of a warp (of {tree.warp} threads, for the picture)"
        )
    canvas.heading(y, tree.says, comes_to)
    places = len(tree.values)
    left, right = 84.0, 130.0
    step_x = (canvas.width - left - right) / places
    wide, high, step_y = min(step_x - 8, 40.0), 24.0, 58.0
    top = y + 22

    def middle(place: int) -> float:
        return left + (place + 0.5) * step_x

    needed = tree.needed
    for row, values in enumerate(tree.rows):
        row_y = top + row * step_y
        pairs = tree.steps[row - 1] if row else []
        at_work = {to for to, _ in pairs}
        counts = needed[row]
        above = row_y - step_y + high
        for to, other in pairs:
            if to in counts:
                canvas.line((middle(to), above), (middle(to), row_y), colour=BLUE, thick=1.5)
                canvas.arrow((middle(other), above), (middle(to) + 2, row_y), colour=BLUE)
        for place, value in enumerate(values):
            box = middle(place) - wide / 2, row_y, wide, high
            colour = ON_PAINT
            if row == 0:
                canvas.rectangle(*box, GREY, outline=None)
            elif place in at_work and place in counts:
                canvas.rectangle(*box, BLUE, outline=None)
            else:
                colour = INK
                canvas.rectangle(*box, BLUE if place in at_work else None, tint=True, faint=True)
            canvas.text(middle(place), row_y + high / 2, str(value), colour=colour)
        if row and tree.barriers:
            between = row_y - (step_y - high) / 2
            canvas.line((left, between), (canvas.width - right, between), dashed=True, opacity=0.6)
        if row:
            canvas.text(left - 4, row_y + high / 2, tree.step_name(row - 1), anchor="end")
            threads = sorted({tree.thread(to, row - 1) for to, _ in pairs})
            said = _numbers(threads)
        else:
            said = "threads at work"
        canvas.text(canvas.width - right + 6, row_y + high / 2, said, anchor="start", size=12)
    return top + (len(tree.rows) - 1) * step_y + high


def _numbers(threads: Sequence[int]) -> str:
    """0-3, or 0, 2, 4 …"""
    first, last = threads[0], threads[-1]
    if len(threads) == 1:
        return str(first)
    if len(threads) == last - first + 1:
        return f"{first} to {last}"
    return ", ".join(map(str, threads[:4])) + (" …" if len(threads) > 4 else "")
