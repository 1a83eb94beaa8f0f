"""Words a wrong result: what was wrong, its pattern, shape and seed, the bound and its origin."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from harness.judging import patterns
from harness.judging.differences import Difference, index_text
from harness.judging.patterns import value_text
from harness.judging.poison import BITS, INTEGER_BYTE, is_poisoned
from harness.judging.tolerance import Bound

LINES = 25  # a failure is read, not scrolled
_POISON = {  # by bytes: what fresh integers hold, and the bits that fresh floats hold
    size: {int.from_bytes(bytes([INTEGER_BYTE]) * size, "little")}
    | {int(bits) for dtype, bits in BITS.items() if dtype.itemsize == size}
    for size in (2, 4, 8)
}
SHOWN = 3  # wrong elements, besides the worst


@dataclass(frozen=True, slots=True)
class Context:
    """What a failure says about the call besides the values."""

    name: str  # "the result", or which one of several
    inputs: tuple[torch.Tensor, ...] = ()
    seed: int | None = None
    oracle: str = ""  # its name and line


def failure_text(difference: Difference, checked: list[Bound], context: Context) -> str:
    """A finite result that breaks a bound, or an exact one that differs."""
    broken = [bound for bound in checked if not bound.holds]
    if [bound.measure for bound in broken] == ["mean error"]:
        headline = f"{context.name} leans to one side: each element is close, their mean is not"
    else:
        headline = f"{context.name} is wrong in {_count(difference)} elements"
    body = [*_elements(difference), *_pattern(difference, context), *_about(difference, context)]
    return _joined([headline, *body], [f"  bound    {bound}" for bound in broken], context)


def non_finite_text(difference: Difference, context: Context) -> str:
    """NaN or infinity where the truth has none, or the other way round."""
    if bool(is_poisoned(difference.got_values()).all()):
        head = [f"{context.name} was never written in {_count(difference)} elements"]
    else:
        head = [
            f"{context.name} has NaN or infinity in the wrong places: "
            f"{_count(difference)} elements",
            f"  got      {_strange(difference.got)}",
            f"  truth    {_strange(difference.want)}",
        ]
    body = [*_elements(difference), *_pattern(difference, context), *_about(difference, context)]
    return _joined([*head, *body], [], context)


def _joined(lines: list[str], bounds: list[str], context: Context) -> str:
    if bounds and context.oracle:
        bounds = [*bounds, f"           the truth is {context.oracle} in float64"]
    return "\n".join([*lines, *bounds][:LINES])


def _count(difference: Difference) -> str:
    return f"{difference.count:,} of {difference.elements:,}"


def _elements(difference: Difference) -> list[str]:
    """The first wrong elements, then the one furthest off."""
    if difference.count == 0:
        return []
    got, want = difference.got_values(), difference.want_values()
    shown = list(range(min(SHOWN, len(got))))
    if got.is_floating_point():
        error = (got.double() - want.double()).abs().nan_to_num(-1.0)
        worst = int(error.argmax())
        if worst not in shown and error[worst] > 0:
            shown.append(worst)
    rows = [
        (
            index_text(int(difference.sample[place]), difference.got.shape),
            _poison(got[place]) or _minus_zero(got[place], want[place]) or value_text(got[place]),
            _minus_zero(want[place], got[place]) or value_text(want[place]),
        )
        for place in shown
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    labels = ["first"] + [""] * (SHOWN - 1) + ["furthest"]
    return [
        f"  {labels[order]:<8} {index:<{widths[0]}}  got {ours:<{widths[1]}}  want {theirs}"
        for order, (index, ours, theirs) in enumerate(rows)
    ]


def _poison(value: torch.Tensor) -> str:
    """A wrong integer that fresh memory holds, be it memory of floats read as integers."""
    if not _is_integer(value) or value.itemsize not in _POISON:
        return ""
    number = int(value)
    is_poison = number % 2 ** (8 * value.itemsize) in _POISON[value.itemsize]
    return f"poison ({number})" if is_poison else ""


def _minus_zero(value: torch.Tensor, other: torch.Tensor) -> str:
    """An integer that differs from 0 in the sign bit alone: most likely the bits of a float."""
    if not _is_integer(value) or int(other) != 0:
        return ""
    is_sign = int(value) % 2 ** (8 * value.itemsize) == 2 ** (8 * value.itemsize - 1)
    return f"{int(value)} (-0.0, if it is a float's bits)" if is_sign and value.itemsize > 1 else ""


def _is_integer(value: torch.Tensor) -> bool:
    return not (value.is_floating_point() or value.is_complex() or value.dtype is torch.bool)


def _pattern(difference: Difference, context: Context) -> list[str]:
    if difference.count == 0:
        return []
    guessed = patterns.guess(difference, context.inputs)
    return [f"  pattern  {guessed}"] if guessed else []


def _about(difference: Difference, context: Context) -> list[str]:
    name = str(difference.got.dtype).removeprefix("torch.")
    line = f"  shape    {list(difference.got.shape)} {name} on {difference.got.device}"
    if context.inputs:
        shapes = ", ".join(str(list(x.shape)) for x in context.inputs[:6])
        line += f"; inputs {shapes}" + (", …" if len(context.inputs) > 6 else "")
    if context.seed is not None:
        line += f"; seed {context.seed}"
    return [line]


def _strange(values: torch.Tensor) -> str:
    """How many NaN and infinities a tensor has."""
    nans = int(values.isnan().sum())
    up = int((values == torch.inf).sum())
    down = int((values == -torch.inf).sum())
    return f"{nans} NaN, {up} inf, {down} -inf"
