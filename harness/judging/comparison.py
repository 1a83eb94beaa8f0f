"""`close`: is the answer as right as its type allows?

The oracle runs after the kernel and apart from it. First come type and shape, then NaN and
infinity, then the bounds of harness/judging/tolerance.py. What fails says so in 25 lines or fewer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from harness.judging import oracle as oracles
from harness.judging.differences import Difference, exactly, where_wrong
from harness.judging.failure_text import Context, failure_text, non_finite_text
from harness.judging.guards import unmodified
from harness.judging.mismatch import Mismatch
from harness.judging.tolerance import (
    Allowance,
    Bound,
    bias_bound,
    bounds,
    rule_for,
)

SLIGHT = 0.02  # of the limit on the largest error; smaller errors are nobody's pattern


class Close:
    """Judges answers; `close(...)` by the policy, `close.equal(...)` exactly."""

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed

    def __call__(
        self,
        got: Any,
        oracle: oracles.Oracle,
        *inputs: Any,
        sums: bool = False,
        gradient: bool = False,
        dtype: torch.dtype | None = None,
        floor: float | None = None,
        because: str = "",
        tensor_core_depth: int = 0,
    ) -> None:
        """Check `got` against `oracle(*inputs)`.

        sums               the oracle is a sum, dot or GEMM: the floor is measured by what is added
                           up (the oracle of absolute values), not by what is left of it
        gradient           allow the largest error of a gradient
        dtype              the type of the answer, where it is wider than that of the inputs
        floor, because     another floor than that of the type, and the reason to print
        tensor_core_depth  K of a dot on tensor cores; implies `sums`
        """
        __tracebackhide__ = True
        answers = oracles.as_tuple(got)
        eager = oracles.eager(oracle, inputs, dtype)
        contexts = self._contexts(got, eager, inputs, oracles.where(oracle))
        for answer, tested, context in zip(answers, eager, contexts, strict=True):
            _check_form(answer, tested, context)
        true = oracles.truth(oracle, inputs)
        if sums or tensor_core_depth:
            scales = oracles.magnitude(oracle, inputs)
        else:
            scales = tuple(result.abs() for result in true)
        allowance = Allowance(gradient, floor, because, tensor_core_depth)
        for answer, tested, truth, scale, context in zip(
            answers, eager, true, scales, contexts, strict=True
        ):
            if tested.is_floating_point():
                _check_close(answer.detach(), tested, truth, scale, allowance, context)
            else:
                _check_equal(answer, tested, context)

    def equal(self, got: Any, want: Any) -> None:
        """Check that `got` holds exactly the values of `want`; a NaN equals a NaN.

        `want` may lie on another device: it is the test's, and goes where the answer is.
        """
        __tracebackhide__ = True
        answers = oracles.as_tuple(got)
        places = [answer.device for answer in answers if isinstance(answer, torch.Tensor)]
        wants = oracles.as_tuple(want)
        if places:
            wants = tuple(wanted.to(places[0]) for wanted in wants)
        for answer, wanted, context in zip(
            answers, wants, self._contexts(got, wants, (), ""), strict=True
        ):
            _check_form(answer, wanted, context)
            _check_equal(answer.detach(), wanted.detach(), context)

    def function(
        self, function: Callable[..., Any], oracle: oracles.Oracle, *inputs: Any, **options: Any
    ) -> Any:
        """Call the learner's function, check that it left its inputs alone, then its answer."""
        __tracebackhide__ = True
        with unmodified(*inputs):
            got = function(*inputs)
        self(got, oracle, *inputs, **options)
        return got

    def tensor_product(
        self,
        function: Callable[..., Any],
        oracle: oracles.Oracle,
        a: torch.Tensor,
        b: torch.Tensor,
        **options: Any,
    ) -> Any:
        """`function` of a product of 16-bit a [..., K] and b with sums in float32, as `mma` has it.

        options  as for a call: `dtype` where the sums are stored in another type
        """
        __tracebackhide__ = True
        depth = max(a.shape[-1], 1)
        options = {"dtype": torch.float32, "tensor_core_depth": depth} | options
        return self.function(function, oracle, a, b, **options)

    def _contexts(
        self, got: Any, wants: tuple[torch.Tensor, ...], inputs: tuple[Any, ...], oracle: str
    ) -> list[Context]:
        __tracebackhide__ = True
        tensors = tuple(x for x in inputs if isinstance(x, torch.Tensor))
        answers = oracles.as_tuple(got)
        if len(answers) != len(wants) and got is not None:
            raise Mismatch(
                f"returned {_described(got)}\n"
                f"  expected {len(wants)} tensor{'s' * (len(wants) > 1)}: "
                + ", ".join(_described(want) for want in wants)
            )
        if got is None:
            raise Mismatch(
                "returned nothing (None)\n  expected "
                + ", ".join(_described(want) for want in wants)
                + "\n  Is there a return statement on each path?"
            )
        return [
            Context(
                name="the result" if len(wants) == 1 else f"result {number}",
                inputs=tensors,
                seed=self.seed,
                oracle=oracle,
            )
            for number in range(len(wants))
        ]


def _check_form(got: Any, want: torch.Tensor, context: Context) -> None:
    """Type, shape, element type and device, before any value is looked at."""
    __tracebackhide__ = True
    if not isinstance(got, torch.Tensor):
        raise Mismatch(f"{context.name} is {_described(got)}\n  expected {_described(want)}")
    wrong = [
        aspect
        for aspect, ours, theirs in (
            ("shape", got.shape, want.shape),
            ("element type", got.dtype, want.dtype),
            ("device", got.device, want.device),
        )
        if ours != theirs
    ]
    if wrong:
        raise Mismatch(
            f"{context.name} has the wrong {' and '.join(wrong)}\n"
            f"  got      {_described(got)}\n"
            f"  expected {_described(want)}"
        )


def _check_equal(got: torch.Tensor, want: torch.Tensor, context: Context) -> None:
    __tracebackhide__ = True
    difference = where_wrong(got, want, exactly)
    if difference is not None:
        raise Mismatch(failure_text(difference, [], context))


def _check_close(
    got: torch.Tensor,
    eager: torch.Tensor,
    truth: torch.Tensor,
    scale: torch.Tensor,
    allowance: Allowance,
    context: Context,
) -> None:
    __tracebackhide__ = True
    rule_for(got.dtype)
    expected = truth.to(got.dtype)  # where the truth is beyond the type, infinity is right
    strange = where_wrong(got, expected, _differ_beyond_numbers)
    if strange is not None:
        raise Mismatch(non_finite_text(strange, context))

    finite = expected.isfinite()
    ours, true, size = got[finite].double(), truth[finite], scale[finite]
    torch_result = eager[finite].double()
    error = (ours - true).abs()
    # Where torch's own formula overflows it sets no example, and the floor alone decides.
    eager_error = (torch_result - true).abs().nan_to_num(0.0, posinf=0.0)
    checked = bounds(error, eager_error, size, got.dtype, allowance)
    usual = torch_result.where(torch_result.isfinite(), true)
    bias = bias_bound(ours, true, usual, got.dtype)
    checked += [bias] if bias else []
    if all(bound.holds for bound in checked):
        return
    difference = _difference(got, expected, truth, eager, scale, checked, allowance)
    raise Mismatch(failure_text(difference, checked, context))


def _difference(
    got: torch.Tensor,
    expected: torch.Tensor,
    truth: torch.Tensor,
    eager: torch.Tensor,
    scale: torch.Tensor,
    checked: list[Bound],
    allowance: Allowance,
) -> Difference:
    """The elements to show: each judged by its own size, as the bounds judge all by the largest."""
    rule = rule_for(got.dtype)
    factor = rule.gradient_factor if allowance.gradient else rule.largest_factor
    floor = 4 * (rule.floor if allowance.floor is None else allowance.floor)
    largest = next((bound.limit for bound in checked if bound.measure == "largest error"), 0.0)
    error = (got.double() - truth).abs()
    allowed = torch.maximum(factor * (eager.double() - truth).abs(), floor * scale)
    flat_error, flat_allowed = error.reshape(-1), allowed.nan_to_num(math.inf).reshape(-1)

    def too_far(ours: torch.Tensor, theirs: torch.Tensor, stretch: slice) -> torch.Tensor:
        return flat_error[stretch] > flat_allowed[stretch].clamp(min=SLIGHT * largest)

    found = where_wrong(got, expected, too_far)
    return found or where_wrong(got, expected, exactly) or _nothing(got, expected)


def _nothing(got: torch.Tensor, expected: torch.Tensor) -> Difference:
    return Difference(got, expected, 0, 0, 0, torch.zeros(0, dtype=torch.int64))


def _differ_beyond_numbers(got: torch.Tensor, want: torch.Tensor, stretch: slice) -> torch.Tensor:
    """Marks what is NaN or infinite on one side only, or infinite with the other sign."""
    both_finite = got.isfinite() & want.isfinite()
    both_nan = got.isnan() & want.isnan()
    return ~(both_finite | both_nan | (got == want))


def _described(value: Any) -> str:
    if value is None:
        return "nothing (None)"
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        return f"a tensor {list(value.shape)} of {name} on {value.device}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__} ({str(value)[:40]})"
