"""How far from the truth a right answer may lie: one policy for every lesson.

The truth is the oracle in float64. A kernel may err a small factor more than torch does when it
runs the same oracle in the tested type, in the norm and in the largest element, but it is never
asked to beat the floor of its type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

SMALL_OUTPUT = 256  # elements; below it one rounding weighs so much that the floor is 2 roundings
BIASED_FROM = 4096  # elements; from here on the mean error shows a store that truncates
BIAS_ALLOWED = 0.1  # of one rounding
LARGEST_OVER_NORM = 4  # the floor of the largest error, in floors of the norm


@dataclass(frozen=True, slots=True)
class Rule:
    """What one type may cost: the k of `error <= k * torch's error`, and the floor."""

    rounding: float  # the largest relative error of one rounding, u
    norm_factor: float
    largest_factor: float
    gradient_factor: float  # the largest error of a gradient, which adds up longer chains
    floor: float  # relative, of the norm


RULES = {
    "float64": Rule(2.0**-53, 2.0, 4.0, 4.0, 1e-13),
    "float32": Rule(2.0**-24, 2.0, 3.0, 4.0, 1e-6),
    "float16": Rule(2.0**-11, 1.5, 2.0, 3.0, 3e-4),
    "bfloat16": Rule(2.0**-8, 1.5, 2.0, 3.0, 2.5e-3),
}


@dataclass(frozen=True, slots=True)
class Bound:
    """The most an error may be, what it is, and a sentence on where the limit comes from."""

    measure: str  # "norm of the error", "largest error", "mean error"
    error: float
    limit: float
    origin: str

    @property
    def holds(self) -> bool:
        return self.error <= self.limit

    def __str__(self) -> str:
        relation = "<=" if self.holds else ">"
        return f"{self.measure} {self.error:.3g} {relation} {self.limit:.3g}: {self.origin}"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the caller of `close` says about the computation; the defaults fit most kernels."""

    gradient: bool = False
    floor: float | None = None  # replaces the floor of the type
    because: str = ""  # why the floor was replaced, for the failure's text
    tensor_core_depth: int = 0  # K of a dot on tensor cores, which add in less than float32


def rule_for(dtype: torch.dtype) -> Rule:
    """The rule of a floating type; a type without one names those that have one."""
    name = str(dtype).removeprefix("torch.")
    if name not in RULES:
        raise TypeError(
            f"close has no tolerance for {name}; it knows {', '.join(RULES)}. "
            "Exact results go through close.equal(got, want)."
        )
    return RULES[name]


def bounds(
    error: torch.Tensor,  # [elements] float64, |got - truth| where both are finite
    eager_error: torch.Tensor,  # [elements] float64, |torch in the tested type - truth|
    scale: torch.Tensor,  # [elements] float64, |truth|, or the oracle of absolute values
    dtype: torch.dtype,
    allowance: Allowance,
) -> list[Bound]:
    """The bounds on the norm of the error and on its largest element."""
    if error.numel() == 0:
        return []
    rule = rule_for(dtype)
    floor, floor_origin = _floor(rule, error.numel(), allowance)
    name = str(dtype).removeprefix("torch.")
    largest_factor = rule.gradient_factor if allowance.gradient else rule.largest_factor

    norm_scale = float(scale.norm())
    largest_scale = float(scale.max())
    eager_norm = float(eager_error.norm())
    eager_largest = float(eager_error.max())
    core = _tensor_core_share(allowance.tensor_core_depth)
    return [
        _bound(
            "norm of the error",
            float(error.norm()),
            (rule.norm_factor, eager_norm, name),
            (floor + core, norm_scale, floor_origin),
        ),
        _bound(
            "largest error",
            float(error.max()),
            (largest_factor, eager_largest, name),
            (LARGEST_OVER_NORM * floor + core, largest_scale, floor_origin),
        ),
    ]


def bias_bound(
    got: torch.Tensor,  # [elements] float64, finite
    truth: torch.Tensor,  # [elements] float64, finite
    eager: torch.Tensor,  # [elements] float64, finite
    dtype: torch.dtype,
) -> Bound | None:
    """The bound that catches a store that truncates; None where the mean error says nothing.

    Only 16-bit types have one: in wider types the error of the sum hides that of the store.
    """
    rule = rule_for(dtype)
    if rule.rounding < 2.0**-11 or truth.numel() < BIASED_FROM:
        return None
    rounded = truth.to(dtype).double()
    if int((rounded.sort().values.diff() != 0).sum()) < SMALL_OUTPUT:
        return None  # a few values repeated have no mean error to speak of
    normal = rounded.abs() > 2.0**-14  # below, float16 has fewer digits
    if int(normal.sum()) < BIASED_FROM:
        return None
    unbiased = _mean_relative(rounded[normal], truth[normal], rule.rounding)
    mean = _mean_relative(got[normal], truth[normal], rule.rounding) - unbiased
    eager_mean = _mean_relative(eager[normal], truth[normal], rule.rounding) - unbiased
    limit = max(BIAS_ALLOWED * rule.rounding, rule.norm_factor * abs(eager_mean))
    return Bound(
        "mean error",
        abs(mean),
        limit,
        f"rounding errors cancel over {int(normal.sum())} elements; a store that truncates leans",
    )


def _mean_relative(values: torch.Tensor, truth: torch.Tensor, rounding: float) -> float:
    """The mean of (values - truth) / truth, each clipped so that no single element decides it."""
    relative = ((values - truth) / truth).clamp(-2 * rounding, 2 * rounding)
    return float(relative.mean())


def _floor(rule: Rule, elements: int, allowance: Allowance) -> tuple[float, str]:
    if allowance.floor is not None:
        return allowance.floor, allowance.because or "the floor that the test sets"
    if elements < SMALL_OUTPUT and 2 * rule.rounding > rule.floor:
        return 2 * rule.rounding, "two roundings, for an output this small"
    return rule.floor, "the floor of its type"


def _tensor_core_share(depth: int) -> float:
    """(K / 16 + 3) 2^-23: an instruction adds 16 products to a sum, and cuts off what does not fit.

    In units of 2^-24 of the sum of |a b|, an H200 was at most 2.8 from the truth in one instruction
    (this allows 8) and 6.2 in 32 (70), where signs are mixed: benchmarks/results/tensor_h200.json.
    Of one sign, what is cut off adds up: lesson 09's solutions lost 109 at K = 1024 (134), 437 at
    4096 (518), as tests/harness/test_tensor_core_bound.py has it.
    """
    return (depth / 16 + 3) * 2.0**-23 if depth else 0.0


def _bound(
    measure: str,
    error: float,
    eager: tuple[float, float, str],  # factor, torch's error, type
    floor: tuple[float, float, str],  # relative, scale, origin
) -> Bound:
    factor, eager_error, name = eager
    relative, scale, floor_origin = floor
    from_eager = factor * eager_error
    from_floor = relative * scale
    # One float64 rounding of slack: an error may equal its limit, summed in another order.
    limit = max(from_eager, from_floor) * (1 + 1e-12)
    if math.isnan(limit):
        raise ValueError("the oracle's own error is NaN: it must be finite where the truth is")
    origin = (
        f"{factor:g} x torch's own error in {name} ({eager_error:.3g})"
        if from_eager >= from_floor
        else f"{relative:.3g} x the size of the result ({scale:.3g}), {floor_origin}"
    )
    return Bound(measure, error, limit, origin)
