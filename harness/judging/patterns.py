"""Guesses what the wrong elements have in common, in one or two sentences for the learner.

Two questions, each answered by the first pattern that fits: where are they, and what do they hold?
A pattern is a guess from a sample; it is worded as what is seen, and its advice as a question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import torch

from harness.judging.differences import Difference, index_text, take
from harness.judging.poison import INTEGER_BYTE, is_poisoned

SORTED_UP_TO = 1 << 20  # elements, when asking whether values are right but misplaced
_OF_ONE = ((r"^they hold\b", "it holds"), (r"^they are\b", "it is"), (r"\btheir\b", "its"))
NEARLY_ALL = 0.9  # of the places of a pattern; chance makes a few wrong elements look right

_CLOSE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 4e-2}


def guess(difference: Difference, inputs: tuple[torch.Tensor, ...] = ()) -> str:
    """What the wrong elements hold and where they are; empty if nothing fits."""
    held = next((text for ask in _HELD if (text := ask(difference))), "")
    held = held or _copy_of_an_input(difference, inputs)
    place = next((text for ask in _PLACES if (text := ask(difference))), "")
    if difference.count == 1:
        for many, one in _OF_ONE:
            held = re.sub(many, one, held)
    return "; ".join(text for text in (place, held) if text)


# Where the wrong elements are ---------------------------------------------------------------------


def _everywhere(d: Difference) -> str:
    return "every element" if d.count == d.elements and d.count > 1 else ""


def _single(d: Difference) -> str:
    return f"only element {index_text(d.first, d.got.shape)}" if d.count == 1 else ""


def _run(d: Difference) -> str:
    """One unbroken run: the tail, the head, or in between."""
    if d.last - d.first + 1 != d.count:
        return ""
    first, last = (index_text(end, d.got.shape) for end in (d.first, d.last))
    if d.last == d.elements - 1:
        return f"the tail: the last {d.count} elements, from {first} on"
    if d.first == 0:
        return f"the head: the first {d.count} elements, up to {last}"
    return f"a run of {d.count} elements, {first} to {last}"


def _box(d: Difference) -> str:
    """Whole rows or columns: a range along one axis and everything along the others."""
    if d.got.dim() < 2 or not d.is_complete:
        return ""
    coordinates = torch.unravel_index(d.sample, d.got.shape)
    ends = [(int(axis.min()), int(axis.max())) for axis in coordinates]
    narrow = [axis for axis, (low, high) in enumerate(ends) if high - low + 1 < d.got.shape[axis]]
    if math.prod(high - low + 1 for low, high in ends) != d.count or len(narrow) != 1:
        return ""
    axis = narrow[0]
    low, high = ends[axis]
    name = {d.got.dim() - 1: "column", d.got.dim() - 2: "row"}.get(axis)
    if name is None:
        return _of_axis(axis, low, high, d.got.shape[axis])
    if low == high:
        last = ", the last" if high == d.got.shape[axis] - 1 and high else ""
        return f"{name} {low}{last}"
    if high == d.got.shape[axis] - 1:
        return f"the last {high - low + 1} {name}s, from {low} on"
    return f"{name}s {low} to {high}"


def _of_axis(axis: int, low: int, high: int, extent: int) -> str:
    """A range of an axis before rows and columns."""
    if low == high:
        return f"index {low} of axis {axis}" + (", the last" if high == extent - 1 and high else "")
    if high == extent - 1:
        return f"the last {high - low + 1} of axis {axis}, from {low} on"
    return f"{low} to {high} of axis {axis}"


def _periodic(d: Difference) -> str:
    """The same places of each 2, 4, 8 … 1024 elements: lanes of a warp, threads of a block."""
    if not d.is_complete:
        return ""
    for period in (2**power for power in range(1, 11)):
        residues = torch.bincount(d.sample % period, minlength=period).nonzero().flatten()
        if len(residues) > period // 2 or d.elements < 2 * period:
            continue
        places = sum(-(-(d.elements - int(place)) // period) for place in residues)
        if d.count < NEARLY_ALL * places:
            continue
        if len(residues) == 1:
            return f"every {_ordinal(period)} element, from {index_text(d.first, d.got.shape)} on"
        low, high = int(residues[0]), int(residues[-1])
        if high - low + 1 == len(residues):
            return f"elements {low} to {high} of every {period}"
    return ""


def _steps(d: Difference) -> str:
    """A regular distance that is no power of two."""
    if d.count < 3 or not d.is_complete:
        return ""
    steps = d.sample.diff()
    if steps.min() != steps.max():
        return ""
    return (
        f"every {_ordinal(int(steps[0]))} element, from {index_text(d.first, d.got.shape)} "
        f"to {index_text(d.last, d.got.shape)}"
    )


# What they hold -----------------------------------------------------------------------------------


def _never_written(d: Difference) -> str:
    poisoned = int(is_poisoned(d.got_values()).sum())
    if not poisoned:
        return ""
    some = f"{poisoned} of them {'holds' if poisoned == 1 else 'hold'}"
    which = "they hold" if poisoned == len(d.sample) else some
    return f"{which} the poison of fresh memory: never written"


def _nan(d: Difference) -> str:
    values = d.got_values()
    if not values.is_floating_point() or not bool(values.isnan().all()):
        return ""
    return "they are NaN, computed (0/0, inf - inf) or read from memory never written"


def _slightly_off(d: Difference) -> str:
    """Nearly right values would fit many a pattern by chance, so they get none."""
    ours, theirs = d.got_values(), d.want_values()
    if not ours.is_floating_point():
        return ""
    relative = ((ours.double() - theirs.double()) / theirs.double()).abs()
    typical = float(relative.nanmedian())
    if not typical <= _CLOSE.get(ours.dtype, 0.1):  # NaN where the truth is 0, or either is NaN
        return ""
    return f"they are nearly right: off by {typical:.2g} of their size, typically"


def _transposed(d: Difference) -> str:
    if d.got.dim() < 2 or d.count < 2:
        return ""
    rows, columns = d.got.shape[-2:]
    matrix = rows * columns
    inside = d.sample % matrix
    row, column = inside // columns, inside % columns
    if rows == columns:
        mirrored = d.sample - inside + column * columns + row
        if _agree(d.got_values(), take(d.want, mirrored)):
            return "they hold the transposed result: row and column are exchanged"
        return ""
    # Stored as [columns, rows] into memory of [rows, columns].
    flat_row, flat_column = inside // rows, inside % rows
    stored = d.sample - inside + flat_column * columns + flat_row
    if min(rows, columns) > 1 and _agree(d.got_values(), take(d.want, stored)):
        return f"they hold the result laid out as [{columns}, {rows}]: row and column are exchanged"
    return ""


def _shifted(d: Difference) -> str:
    if d.count < 4:
        return ""
    for shift, direction in ((1, "before"), (-1, "after")):
        from_index = d.sample - shift
        valid = (from_index >= 0) & (from_index < d.elements)
        ours, theirs = take(d.got, d.sample[valid]), take(d.want, from_index[valid])
        if _agree(ours, theirs):
            return f"each holds what belongs to the element {direction} it: shifted by one"
    return ""


def _constant(d: Difference) -> str:
    values = d.got_values()
    if d.count < 2 or not bool((values == values[0]).all()):
        return ""
    if d.got.itemsize == 1 and values.view(torch.uint8)[0] == INTEGER_BYTE:
        return "they are all 0xCD, as fresh memory is: were they written?"
    return f"they are all {value_text(values[0])}"


def _scaled(d: Difference) -> str:
    if d.count < 4 or not d.got.is_floating_point():
        return ""
    ours, theirs = d.got_values().double(), d.want_values().double()
    solid = (theirs != 0) & ours.isfinite() & theirs.isfinite()
    if int(solid.sum()) < 4:
        return ""
    ratios = ours[solid] / theirs[solid]
    ratio = float(ratios.median())
    if ratio == 0:
        return ""
    if not _agree(ratios.to(d.got.dtype), ratios.new_tensor(ratio).to(d.got.dtype)):
        return ""
    return "they have the wrong sign" if abs(ratio + 1) < 0.01 else f"each is {ratio:.4g} x right"


def _misplaced(d: Difference) -> str:
    if d.elements > SORTED_UP_TO or not d.is_complete or d.count < 4:
        return ""
    ours, theirs = d.got_values().sort().values, d.want_values().sort().values
    return "the values are right but in the wrong places" if _agree(ours, theirs) else ""


def _copy_of_an_input(d: Difference, inputs: tuple[torch.Tensor, ...]) -> str:
    if d.count < 2:
        return ""
    for number, x in enumerate(inputs):
        alike = x.shape == d.got.shape and x.dtype == d.got.dtype
        if alike and _agree(d.got_values(), take(x, d.sample)):
            return f"they hold input {number}, unchanged"
    return ""


_PLACES: tuple[Callable[[Difference], str], ...] = (
    _everywhere,
    _single,
    _box,
    _run,
    _periodic,
    _steps,
)
_HELD: tuple[Callable[[Difference], str], ...] = (
    _never_written,
    _nan,
    _constant,
    _slightly_off,
    _transposed,
    _shifted,
    _scaled,
    _misplaced,
)


def value_text(value: torch.Tensor) -> str:
    """One element as a short number."""
    if value.dtype is torch.bool and int(value.view(torch.uint8)) > 1:
        return f"the byte {int(value.view(torch.uint8)):#x}"
    number = value.item()
    if isinstance(number, float):
        return "-0.0" if number == 0 and math.copysign(1, number) < 0 else f"{number:.6g}"
    return str(number)


def _agree(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    """Whether all of a sample agree, as closely as one right answer agrees with another."""
    if ours.numel() == 0:
        return False
    if not ours.is_floating_point():
        return bool((ours == theirs).all())
    close = _CLOSE.get(ours.dtype, 0.1)
    return torch.allclose(ours.double(), theirs.double(), rtol=close, atol=0)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"
