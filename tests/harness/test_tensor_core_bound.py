"""The allowance for tensor cores, held against benchmarks/results/tensor_h200.json."""

import json
import re
from pathlib import Path

import pytest
import torch

from harness.judging.tolerance import Allowance, bounds

RECORDED = json.loads(
    (Path(__file__).parents[2] / "benchmarks/results/tensor_h200.json").read_text()
)
SUMS = re.compile(r"\.f32\.(f16\.f16|bf16\.bf16)\.f32 |^half_to_float|^bfloat|^by_hand|^blocked")


def depth_of(name):
    """K of a recorded product: of m16n8k16, of 16x16x16, of 64x64x512."""
    return int(re.search(r"(?:m\d+n\d+k|\d+x\d+x)(\d+)", name)[1])


def allowed(depth):
    """In units of 2^-24 of the sum of |a b|, beside what float32 may err anyway: the floor is 0."""
    one = torch.ones(1000, dtype=torch.float64)
    given = Allowance(floor=0.0, tensor_core_depth=depth)
    limits = bounds(0 * one, 0 * one, one, torch.float32, given)
    return next(b.limit for b in limits if b.measure == "largest error") * 2.0**24


ROWS = [
    (row["name"], row["gpu_error_in_units"])
    for family in ("mma", "wmma", "gemm")
    for row in RECORDED[family]
    if SUMS.search(row["name"])
]


def test_every_recorded_sum_of_halves_is_within_the_allowance():
    assert len(ROWS) >= 20
    for name, error in ROWS:
        depth = depth_of(name)
        assert error <= allowed(depth), f"{name}: {error} units, {allowed(depth)} allowed"


def test_the_allowance_for_one_instruction_is_at_most_three_times_what_was_seen():
    worst = max(error for name, error in ROWS if depth_of(name) <= 16)
    assert worst <= allowed(16) <= 3 * worst


# The worst of 256 x 256 sums of positive halves by lesson 09's gemm_two_stages
# and gemm_fast on an H200: K -> units. cuBLAS lost as much up to K = 1024, and then less.
OF_ONE_SIGN = {64: 6.5, 256: 26.98, 1024: 108.81, 4096: 436.59, 16384: 1714.56}


def test_sums_of_one_sign_fill_most_of_the_allowance():
    for depth, units in OF_ONE_SIGN.items():
        assert units <= allowed(depth) <= 2.2 * units, f"K = {depth}: {units} units"


@pytest.mark.parametrize(("depth", "units"), [(16, 8), (512, 70), (1024, 134)])
def test_the_allowance_grows_by_two_units_an_instruction(depth, units):
    assert allowed(depth) == pytest.approx(units)
