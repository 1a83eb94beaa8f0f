"""gradcheck in float64 passes on a compiled tl.dot, and fails if its sums are float32."""

import pytest
import torch
import triton
import triton.language as tl
from torch.autograd.gradcheck import GradcheckError

import harness.triton_driver  # noqa: F401  (registers the driver)

TILE = 16


@triton.jit
def product(
    a, b, c, M, N, K, a_row, a_column, b_row, b_column, TILE: tl.constexpr, ACC: tl.constexpr
):
    """c [M, N] = a [M, K] times b [K, N], each with strides in elements; sums of type ACC."""
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    across, down = tl.arange(0, TILE)[None, :], tl.arange(0, TILE)[:, None]
    total = tl.zeros((TILE, TILE), ACC)
    for k in range(0, K, TILE):
        left = a + row * a_row + (k + across) * a_column
        left = tl.load(left, mask=(row < M) & (k + across < K), other=0.0)
        right = b + (k + down) * b_row + column * b_column
        right = tl.load(right, mask=(k + down < K) & (column < N), other=0.0)
        total += tl.dot(left, right, out_dtype=tl.float64).to(ACC)
    tl.store(c + row * N + column, total, mask=(row < M) & (column < N))


def multiplied(a, b, sums):
    c = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype)
    grid = (triton.cdiv(c.shape[0], TILE), triton.cdiv(c.shape[1], TILE))
    product[grid](
        a, b, c, *c.shape, a.shape[1], *a.stride(), *b.stride(),
        TILE=TILE, ACC=sums, num_warps=1, num_stages=1,
    )
    return c


class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(context, a, b, sums):
        context.save_for_backward(a, b)
        context.sums = sums
        return multiplied(a, b, sums)

    @staticmethod
    def backward(context, gradient):
        a, b = context.saved_tensors
        to_a = multiplied(gradient, b.T, context.sums)
        return to_a, multiplied(a.T, gradient, context.sums), None


def inputs(m, k, n):
    generator = torch.Generator().manual_seed(7)
    return (
        torch.randn(m, k, dtype=torch.float64, generator=generator, requires_grad=True),
        torch.randn(k, n, dtype=torch.float64, generator=generator, requires_grad=True),
    )


def test_sums_in_float64_pass_gradcheck_by_each_input():
    assert torch.autograd.gradcheck(Multiply.apply, (*inputs(2, 3, 2), tl.float64))


def test_sums_in_float64_pass_gradcheck_over_several_tiles():
    assert torch.autograd.gradcheck(
        Multiply.apply, (*inputs(17, 33, 3), tl.float64), fast_mode=True
    )


@pytest.mark.parametrize("fast", [False, True])
def test_sums_in_float32_do_not(fast):
    """Their steps of 6e-8 are 0.06 of a difference over 2e-6, and 1e-5 is allowed."""
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(Multiply.apply, (*inputs(2, 3, 2), tl.float32), fast_mode=fast)


def test_the_product_itself_is_that_of_float64():
    a, b = inputs(18, 40, 20)
    torch.testing.assert_close(multiplied(a, b, tl.float64), a @ b, rtol=1e-14, atol=1e-13)
    wide = (multiplied(a, b, tl.float32) - a @ b).abs().max()
    assert 1e-8 < wide < 1e-5
