"""close accepts what rounds as well as torch does, in each type and at each scale."""

import pytest
import torch

from harness.judging.comparison import Close
from harness.judging.data import rows_of_scale, spread

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
close = Close()


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(7)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("elements", [0, 1, 3, 257, 5000])
def test_an_elementwise_kernel_rounded_once_passes(dtype, elements, rng):
    x, y = (spread(elements, rng=rng, dtype=dtype) for _ in range(2))
    once = (x.double() * y.double() + x.double()).to(dtype)
    close(once, lambda x, y: x * y + x, x, y)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_softmax_accumulated_in_float32_passes(dtype, rng):
    x = rows_of_scale(67, 129, rng=rng, dtype=dtype)
    wide = torch.float64 if dtype is torch.float64 else torch.float32
    got = torch.softmax(x.to(wide), dim=1).to(dtype)
    close(got, lambda x: torch.softmax(x, dim=1), x)


@pytest.mark.parametrize("seed", range(20))
def test_a_float32_tree_sum_to_one_number_passes_although_it_cancels(seed):
    x = torch.randn(1 << 16, generator=torch.Generator().manual_seed(seed))
    tree = x.clone()
    while len(tree) > 1:
        half = len(tree) // 2
        tree = tree[:half] + tree[half:]
    close(tree, lambda x: x.sum().reshape(1), x, sums=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_product_with_float32_accumulators_passes(dtype, rng):
    a = rows_of_scale(65, 300, rng=rng, dtype=dtype)
    b = rows_of_scale(300, 33, rng=rng, dtype=dtype)
    close((a.float() @ b.float()).to(dtype), torch.matmul, a, b, sums=True)


def test_a_float32_answer_from_half_inputs_is_judged_as_float32(rng):
    a, b = (rows_of_scale(32, 32, rng=rng, dtype=torch.float16) for _ in range(2))
    right = a.float() @ b.float()
    close(right, torch.matmul, a, b, sums=True, dtype=torch.float32)
    with pytest.raises(AssertionError, match="bound"):
        close(right.half().float(), torch.matmul, a, b, sums=True, dtype=torch.float32)


def test_a_tensor_core_dot_may_cut_what_float32_keeps(rng):
    a, b = (torch.randn(64, 256, generator=rng).half() for _ in range(2))
    exact = a.double() @ b.double().T
    cut = (a.double().abs() @ b.double().abs().T) * 2.0**-21 * 4
    got = (exact + cut).float()

    def product(a, b):
        return a @ b.T

    close(got, product, a, b, dtype=torch.float32, tensor_core_depth=256)
    with pytest.raises(AssertionError):
        close(got, product, a, b, dtype=torch.float32, sums=True)


def test_infinity_is_right_where_the_truth_is_beyond_the_type():
    x = torch.tensor([60000.0, -60000.0, 1.0], dtype=torch.float16)
    close(x * 2, lambda x: x * 2, x)


def test_nan_and_infinity_are_right_where_the_truth_has_them():
    x = torch.tensor([-1.0, 0.0, 4.0, torch.inf])
    close(x.sqrt(), torch.sqrt, x)
    close(x.log(), torch.log, x)


def test_several_results_are_judged_one_by_one(rng):
    x = spread(5, 9, rng=rng)
    close(
        (x.sum(1), x.max(1).values),
        lambda x: (x.sum(1), x.max(1).values),
        x,
        sums=True,
    )


def test_integers_among_the_results_must_be_exact(rng):
    x = spread(5, 9, rng=rng)
    close(x.argmax(1), lambda x: x.argmax(1), x)
    with pytest.raises(AssertionError, match="1 of 5"):
        close(x.argmax(1) + torch.tensor([0, 0, 1, 0, 0]), lambda x: x.argmax(1), x)


def test_the_oracle_runs_on_copies(rng):
    x = spread(8, rng=rng)
    before = x.clone()
    close(x * 2, lambda x: x.mul_(2), x)
    assert torch.equal(x, before)


def test_numpy_scalars_reach_the_oracle_as_numbers(rng):
    import numpy as np

    x = spread(300, rng=rng)
    close(x * 0.1, lambda x, a: x * a, x, np.float32(0.1), floor=1e-6)


def test_a_gradient_oracle_may_use_autograd(rng):
    x = spread(40, rng=rng).requires_grad_()

    def gradient(x):
        return torch.autograd.grad((x * x * x).sum(), x)[0]

    close(3 * x.detach() ** 2, gradient, x, gradient=True)


def test_tensors_that_the_oracle_makes_are_float64_in_the_truth():
    x = torch.full((5000,), 0.1)
    close(x * torch.tensor(1 / 3), lambda x: x * torch.tensor(1 / 3), x)
