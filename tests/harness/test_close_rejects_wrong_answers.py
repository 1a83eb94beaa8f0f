"""close rejects what a wrong kernel returns, and never by accident."""

import pytest
import torch

from harness.judging.comparison import Close
from harness.judging.data import rows_of_scale, spread

HALVES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float64, torch.float32, *HALVES]
close = Close(seed=42)


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(11)


def truncated(x, dtype):
    """Store as `dtype` by cutting the low bits, as `bits >> 16` does."""
    if dtype is torch.bfloat16:
        return (x.float().view(torch.int32) & ~0xFFFF).view(torch.float32).to(dtype)
    nearest = x.to(dtype)
    too_large = nearest.double().abs() > x.double().abs()
    return (nearest.view(torch.int16) - too_large.short()).view(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "wrong", [torch.zeros_like, torch.ones_like, lambda x: -x, lambda x: x * 2]
)
def test_a_constant_a_sign_and_a_factor_fail(dtype, wrong, rng):
    x = spread(300, rng=rng, dtype=dtype)
    with pytest.raises(AssertionError):
        close(wrong(x), lambda x: x, x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_fail_for_a_softmax_over_many_columns(dtype, rng):
    x = rows_of_scale(4, 4096, rng=rng, dtype=dtype)
    with pytest.raises(AssertionError, match="all 0"):
        close(torch.zeros_like(x), lambda x: torch.softmax(x, 1), x)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_store_that_truncates_fails_on_many_elements(dtype, rng):
    x, y = (spread(8192, rng=rng, dtype=dtype) for _ in range(2))
    product = x.double() * y.double()
    close(product.to(dtype), torch.mul, x, y)
    with pytest.raises(AssertionError, match="a store that truncates"):
        close(truncated(product, dtype), torch.mul, x, y)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_store_that_truncates_fails_even_where_torch_rounds_often(dtype, rng):
    x, y = (spread(8192, rng=rng, dtype=dtype) for _ in range(2))

    def often(x, y):
        return x * y * y / x / y * x

    product = often(x.double(), y.double())
    close(product.to(dtype), often, x, y)
    with pytest.raises(AssertionError, match="leans to one side"):
        close(truncated(product, dtype), often, x, y)


def test_a_sum_kept_in_bfloat16_fails_over_many_tokens(rng):
    x = (torch.randn(4096, 32, generator=rng) + 0.5).bfloat16()
    total = torch.zeros(32, dtype=torch.bfloat16)
    for row in x:
        total += row
    with pytest.raises(AssertionError, match="bound"):
        close(total, lambda x: x.sum(0), x, sums=True)


def test_a_sum_that_loses_one_element_in_65536_fails(rng):
    x = torch.rand(1 << 16, generator=rng) + 0.5
    with pytest.raises(AssertionError):
        close(x[:-1].sum().reshape(1), lambda x: x.sum().reshape(1), x, sums=True)


def test_one_wrong_element_of_a_million_fails(rng):
    x = spread(1_000_000, rng=rng)
    got = x.clone()
    got[777_777] *= 1.001
    with pytest.raises(AssertionError, match=r"777777"):
        close(got, lambda x: x, x)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_a_strange_number_fails_before_any_bound_is_asked(value, rng):
    x = spread(300, rng=rng)
    got = x.clone()
    got[5] = value
    with pytest.raises(AssertionError, match="NaN or infinity in the wrong places: 1 of 300"):
        close(got, lambda x: x, x)


def test_a_finite_number_fails_where_the_truth_is_nan(rng):
    x = torch.tensor([-1.0, 4.0])
    with pytest.raises(AssertionError, match="truth    1 NaN"):
        close(torch.tensor([1.0, 2.0]), torch.sqrt, x)


def test_infinity_of_the_other_sign_fails():
    x = torch.tensor([0.0, 1.0])
    with pytest.raises(AssertionError, match="NaN or infinity"):
        close(-x.log(), torch.log, x)


def test_the_formula_of_torch_may_overflow_where_the_answer_must_not(rng):
    x = torch.tensor([300.0, 2.0, 3.0], dtype=torch.float16)

    def root_of_square(x):
        return (x * x).sqrt()

    close(x, root_of_square, x)


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, "returned nothing"),
        ([1.0, 2.0], "returned a list of 2"),
        (3.0, "the result is a float"),
        (torch.zeros(4), "wrong shape"),
        (torch.zeros(3, dtype=torch.float64), "wrong element type"),
        (torch.zeros(3, device="meta"), "wrong device"),
        (torch.zeros(2, 2, dtype=torch.float16), "wrong shape and element type"),
    ],
)
def test_the_form_is_checked_before_the_values(got, words):
    with pytest.raises(AssertionError, match=words):
        close(got, lambda x: x, torch.zeros(3))


def test_an_oracle_that_casts_is_refused_with_the_way_out():
    with pytest.raises(TypeError, match=r"close\(\.\.\., dtype="):
        close(torch.zeros(3), lambda x: x.float(), torch.zeros(3, dtype=torch.float16).float())


def test_a_type_without_a_tolerance_is_sent_to_equal():
    x = torch.zeros(3, dtype=torch.complex64)
    with pytest.raises((AssertionError, TypeError), match="equal"):
        close(x.real.to(torch.float8_e5m2), lambda x: x, x.real.to(torch.float8_e5m2))
