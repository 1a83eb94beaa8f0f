"""How near is near enough: an ulp is the type's own, and nothing hides behind a NaN."""

import numpy as np
import pytest
import torch

from tests.triton.wanted import differ, dotted, exact, rounded, ulp, ulps_apart, wrong

NAN = torch.nan


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("value", [1.0, 0.999, 2.0**-14, 2.0**-20, 0.0, -37.5])
def test_an_ulp_is_the_way_to_the_next_number_away_from_zero(value, dtype):
    at = torch.tensor([value]).to(dtype)
    bits = at.view(torch.int32 if dtype == torch.float32 else torch.int16)
    following = (bits + 1).view(dtype)
    away = (following.double() - at.double()).abs()
    assert torch.equal(ulp(at.double(), dtype), away)


def test_float32_ulps_are_numpys():
    values = torch.tensor(np.random.RandomState(0).standard_normal(1000).astype(np.float32))
    spacing = torch.from_numpy(np.spacing(values.abs().numpy())).double()
    assert torch.equal(ulp(values.double(), torch.float32), spacing)


def test_one_ulp_passes_where_two_do_not():
    truth = torch.tensor([1.0, 1.0, 1.0], dtype=torch.float64)
    got = torch.tensor([1.0, 1.0 + 2.0**-10, 1.0 + 2.0**-9], dtype=torch.float16)
    assert wrong(got, rounded(truth)).tolist() == [False, False, True]


def test_a_nan_on_one_side_alone_is_wrong():
    truth = torch.tensor([NAN, 1.0, NAN, torch.inf], dtype=torch.float64)
    got = torch.tensor([1.0, NAN, NAN, torch.inf])
    assert wrong(got, rounded(truth)).tolist() == [True, True, False, False]
    assert ulps_apart(got, truth.float()).tolist() == [torch.inf, torch.inf, 0.0, 0.0]


def test_exact_tells_the_zeros_apart():
    assert wrong(torch.tensor([-0.0]), exact(torch.tensor([0.0]))).all()


def test_two_machines_may_differ_in_a_product_and_not_in_a_sum_in_fixed_order():
    one, other = torch.tensor([1.0]), torch.tensor([1.0 + 2.0**-21])
    assert not differ(one, other, dotted(one, torch.tensor([4.0]), 16)).any()
    assert differ(one, other, dotted(one, torch.tensor([0.1]), 16)).any()
    assert differ(one, other, rounded(one, apart=0.0)).all()
