"""How near to the truth an output must be, and how near two machines must be to each other.

    exact    bit for bit: integers, copies, single operations that round once
    rounded  within some units in the last place (ulps) of the truth, of the output's type
    summed   a sum of many terms: a rounding for each term, of the sum of magnitudes; two machines
             that run the same PTX add in the same order, and their bits are the same
    dotted   a product on tensor cores, which add in an order of their own and cut off what does
             not fit: (k/16 + 1) 2^-21 of the sum of magnitudes, and a rounding of the output
"""

from dataclasses import dataclass

import torch
import triton

MANTISSA_BITS = {
    torch.float64: 52,
    torch.float32: 23,
    torch.float16: 10,
    torch.bfloat16: 7,
    torch.float8_e5m2: 2,
}
_SMALLEST_EXPONENT = {
    torch.float64: -1022,
    torch.float32: -126,
    torch.float16: -14,
    torch.bfloat16: -126,
    torch.float8_e5m2: -14,
}
_INTEGER_OF = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class Wanted:
    """The truth about one output.

    value  float64, or for `exact` what the output must hold, in its own type
    ulps   of the output's type that it may be away from the truth; None: bit for bit
    slack  and an absolute amount on top of them, a number or one for each element
    apart  ulps between two machines that run the same PTX; None: as many as from the truth
    """

    value: torch.Tensor
    ulps: float | None = None
    slack: torch.Tensor | float = 0.0
    apart: float | None = 0.0


def exact(value: torch.Tensor) -> Wanted:
    return Wanted(value.contiguous())


def rounded(
    value: torch.Tensor,
    ulps: float = 1.0,
    slack: torch.Tensor | float = 0.0,
    apart: float | None = 1.0,
) -> Wanted:
    return Wanted(value.double(), ulps, slack, apart)


def summed(
    value: torch.Tensor,
    magnitude: torch.Tensor,
    terms: float,
    ulps: float = 1.0,
    unit: float = 2.0**-24,
    apart: float | None = 0.0,
) -> Wanted:
    """terms: roundings on the longest way of a term into the sum; magnitude: sum of |term|."""
    return Wanted(value.double(), ulps, terms * unit * magnitude.double(), apart)


def dotted(
    value: torch.Tensor, magnitude: torch.Tensor, k: int, ulps: float = 1.0
) -> Wanted:
    return Wanted(value.double(), ulps, (k / 16 + 1) * 2.0**-21 * magnitude.double(), None)


def converted(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """As the installed Triton's code for sm_80 converts it: as torch does, but for float8_e5m2, to
    which ties are rounded away from zero before 3.9.

    x  for float8_e5m2 float16 or float32: bfloat16 goes another way there
    """
    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    if dtype != torch.float8_e5m2 or version >= (3, 9):
        return x.to(dtype)
    unit = ulp(x.double(), dtype)
    away = (x.double().abs() / unit + 0.5).floor() * unit
    return away.copysign(x.double()).to(dtype)


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as integers."""
    return tensor.contiguous().view(_INTEGER_OF[tensor.element_size()])


def ulp(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """[...] float64: the distance between neighbours of `dtype` at these float64 values."""
    _, exponent = torch.frexp(value)
    exponent = torch.where(value == 0, torch.tensor(-2000), exponent - 1)
    exponent = exponent.clamp(min=_SMALLEST_EXPONENT[dtype]) - MANTISSA_BITS[dtype]
    return torch.ldexp(torch.ones_like(value), exponent)


def ulps_apart(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """[...] float64: how many ulps of their type two tensors differ; infinite where one is NaN."""
    dtype, one, other = one.dtype, one.double(), other.double()
    away = (one - other).abs() / ulp(torch.maximum(one.abs(), other.abs()).nan_to_num(), dtype)
    same = (one == other) | (one.isnan() & other.isnan())
    return torch.where(same, 0.0, away).nan_to_num(nan=torch.inf)


def wrong(got: torch.Tensor, wanted: Wanted) -> torch.Tensor:
    """[...] bool: where an output is too far from the truth."""
    if wanted.ulps is None:
        assert got.dtype == wanted.value.dtype and got.shape == wanted.value.shape
        return bits(got) != bits(wanted.value)
    return _too_far(got, wanted.value, wanted)


def differ(one: torch.Tensor, other: torch.Tensor, wanted: Wanted) -> torch.Tensor:
    """[...] bool: where the outputs of two machines are too far from each other."""
    if wanted.apart is None:
        return _too_far(one, other.double(), wanted)
    if wanted.apart == 0 or not one.is_floating_point():
        return bits(one) != bits(other)
    return ulps_apart(one, other) > wanted.apart


def _too_far(got: torch.Tensor, truth: torch.Tensor, wanted: Wanted) -> torch.Tensor:
    away = (got.double() - truth).abs()
    assert wanted.ulps is not None
    allowed = wanted.ulps * ulp(truth.nan_to_num(), got.dtype) + wanted.slack
    same = (got.double() == truth) | (got.double().isnan() & truth.isnan())
    return ~same & ~(away <= allowed)  # a NaN on one side alone is too far
