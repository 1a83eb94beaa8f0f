"""What a kernel is given arrives as it was given: tuples, None, numbers of each size, views."""

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401

pytestmark = pytest.mark.simulated


@triton.jit
def options(x, y, pair, absent, scale, flag, BLOCK: tl.constexpr, MODE: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i) * scale + tl.load(pair[0] + i) * pair[1][0]
    if absent is not None:
        v += tl.load(absent + i)
    if MODE == "negative":
        v = -v
    tl.store(y + i, tl.where(flag, v, 0.0))


def test_tuples_none_flags_and_constants_reach_the_kernel():
    x, other = torch.arange(128.0), torch.ones(128)
    y = torch.empty(128)
    options[(1,)](x, y, (other, (7,)), None, 2.5, True, BLOCK=128, MODE="negative")
    assert torch.equal(y, -(x * 2.5 + 7))
    options[(1,)](x, y, (other, (7,)), other, 2.5, True, BLOCK=128, MODE="plain")
    assert torch.equal(y, x * 2.5 + 8)
    options[(1,)](x, y, (other, (7,)), None, 2.5, False, BLOCK=128, MODE="plain")
    assert not y.any()


@triton.jit
def store_value(out, value):
    tl.store(out, value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, torch.int32),
        (2**31 - 1, torch.int32),
        (-(2**31), torch.int32),
        (2**40 + 1, torch.int64),
        (2**64 - 1, torch.uint64),
        (True, torch.bool),
        (0.1, torch.float32),
        (float("inf"), torch.float32),
        (-0.0, torch.float32),
    ],
)
def test_a_number_arrives_as_it_was_given(value, dtype):
    out = torch.empty(1, dtype=dtype)
    store_value[(1,)](out, value)
    assert torch.equal(out, torch.tensor([value], dtype=dtype))


@triton.jit
def store_annotated(out, half: tl.float16, brain: tl.bfloat16, small: tl.int8, double: tl.float64):
    tl.store(out + 0, half.to(tl.float64))
    tl.store(out + 1, brain.to(tl.float64))
    tl.store(out + 2, small.to(tl.float64))
    tl.store(out + 3, double)


def test_an_annotated_number_has_the_type_it_names():
    out = torch.empty(4, dtype=torch.float64)
    values = 0.1, 0.3, -7, 0.1
    store_annotated[(1,)](out, *values)
    cut = (torch.tensor([0.3]).view(torch.int32) & ~0xFFFF).view(torch.float32).item()
    assert out.tolist() == [torch.tensor(0.1).half().item(), cut, -7.0, 0.1]


def test_strided_views_are_given_by_their_first_element_and_strides():
    x = torch.arange(24.0).reshape(4, 6)
    y = torch.full((6, 4), torch.nan)

    @triton.jit
    def copy(x, y, stride_m, stride_n, M: tl.constexpr, N: tl.constexpr):
        i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
        inside = (i < 6) & (j < 4)
        tl.store(y + i * 4 + j, tl.load(x + i * stride_m + j * stride_n, mask=inside), mask=inside)

    copy[(1,)](x.T, y, *x.T.stride(), M=8, N=4)
    assert torch.equal(y, x.T)
