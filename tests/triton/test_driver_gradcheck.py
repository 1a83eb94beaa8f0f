"""gradcheck of compiled kernels: float64 all the way passes, one float32 accumulator does not."""

import pytest
import torch
import triton
import triton.language as tl
from torch.autograd.gradcheck import GradcheckError

import harness.triton_driver  # noqa: F401

pytestmark = pytest.mark.simulated


@triton.jit
def matmul(
    a, b, c, m, n, k, a_m, a_k, b_k, b_n, TILE: tl.constexpr, DEPTH: tl.constexpr, ACC: tl.constexpr
):
    """c [m, n] = a [m, k] @ b [k, n], both by strides."""
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), ACC)
    for start in range(0, k, DEPTH):
        i, j = start + tl.arange(0, DEPTH)[None, :], start + tl.arange(0, DEPTH)[:, None]
        x = tl.load(a + rows * a_m + i * a_k, mask=(rows < m) & (i < k), other=0.0)
        y = tl.load(b + j * b_k + columns * b_n, mask=(j < k) & (columns < n), other=0.0)
        total += tl.dot(x.to(ACC), y.to(ACC), out_dtype=ACC, input_precision="ieee")
    tl.store(c + rows * n + columns, total, mask=(rows < m) & (columns < n))


def product(a, b, accumulator):
    (m, k), n = a.shape, b.shape[1]
    c = a.new_empty(m, n)
    grid = (triton.cdiv(m, 16), triton.cdiv(n, 16))
    matmul[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), 16, 16, accumulator, num_warps=1)
    return c


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, accumulator):
        ctx.save_for_backward(a, b)
        ctx.accumulator = accumulator
        return product(a, b, accumulator)

    @staticmethod
    def backward(ctx, gradient):
        a, b = ctx.saved_tensors
        by_a = product(gradient, b.T, ctx.accumulator)
        return by_a, product(a.T, gradient, ctx.accumulator), None


@pytest.fixture
def factors(rng):
    shapes = (2, 3), (3, 2)
    made = [torch.randn(s, generator=rng, dtype=torch.float64) for s in shapes]
    return [factor.requires_grad_() for factor in made]


def test_a_product_in_float64_passes(factors):
    assert torch.autograd.gradcheck(lambda a, b: Product.apply(a, b, tl.float64), factors)


def test_one_that_is_added_up_in_float32_fails(factors):
    with pytest.raises(GradcheckError):
        torch.autograd.gradcheck(lambda a, b: Product.apply(a, b, tl.float32), factors)
