"""Which loads lack `other`, by Triton's IR, and what becomes of that on the simulator."""

import pytest
import torch
import triton
import triton.language as tl

import harness.triton_driver  # noqa: F401
from harness.triton_driver.unfilled import lines_without_other, noted, noted_lines
from simulator import FaultKind, KernelFault

pytestmark = pytest.mark.simulated

IR = """#loc = loc("/a/k.py":8:1)
module {
  tt.func public @k(%x: !tt.ptr<f32> loc("x"(#loc))) attributes {noinline = false} {
    %1 = tt.load %p, %m : tensor<64x!tt.ptr<f32>> loc(#loc27)
    %2 = tt.load %p, %m, %o : tensor<64x!tt.ptr<f32>> loc(#loc2)
    %3 = tt.load %p, %m cacheModifier = ca : tensor<64x!tt.ptr<f32>> loc(#loc34)
    %4 = tt.load %p : tensor<64x!tt.ptr<f32>> loc(#loc5)
    %5 = tt.load %p, %m evictionPolicy = evict_last : tensor<64x!tt.ptr<f32>> loc(#loc6)
    %6 = tt.load %p, %m, %o : tensor<64x!tt.ptr<f32>> loc(#loc6)
    %7 = tt.load %p, %m {isVolatile = true} : tensor<64x!tt.ptr<f32>> loc(#loc7)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("/a/k.py":10:9)
#loc2 = loc("/a/k.py":11:9)
#loc3 = loc("/a/k.py":4:9)
#loc4 = loc("/a/k.py":12:9)
#loc5 = loc("/a/k.py":13:9)
#loc6 = loc("/a/k.py":14:9)
#loc8 = loc("/a/other.py":99:9)
#loc9 = loc("/a/k.py":15:9)
#loc7 = loc(callsite(#loc8 at #loc9))
#loc27 = loc("v"(#loc1))
#loc28 = loc("v"(#loc4))
#loc34 = loc(callsite(#loc3 at #loc28))
"""


def test_lines_are_those_whose_masked_loads_all_lack_other():
    # 4: in a function of the file; 15: called from there, the function is in another file
    assert lines_without_other(IR) == {10, 4, 15}


def test_what_was_noted_is_read_again_and_nothing_else_is():
    text = ".version 8.8\n"
    assert noted_lines(noted(text, frozenset((4, 10)))) == {4, 10}
    assert noted(text, frozenset()) == text
    assert noted_lines(text) == frozenset()


@triton.jit
def total(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y, tl.sum(tl.load(x + i, mask=i < n), axis=0))


@triton.jit
def total_with_other(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y, tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0))


@triton.jit
def through_an_error_function(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.erf(value), mask=i < n)


@triton.jit
def product(a, b, c, k, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, k, BLOCK):
        at = first + i
        left = tl.load(a + i[:, None] * k + at[None, :], mask=at[None, :] < k)
        right = tl.load(b + at[:, None] * BLOCK + i[None, :], mask=at[:, None] < k, other=0)
        sums = tl.dot(left, right, sums)
    tl.store(c + i[:, None] * BLOCK + i[None, :], sums)


TYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.int8]


@pytest.mark.parametrize("dtype", TYPES)
def test_a_sum_of_a_load_without_other_is_undefined_in_every_type(dtype):
    x = torch.ones(100, dtype=dtype)
    y = torch.zeros(1, dtype=torch.int64 if dtype == torch.int64 else dtype)
    total_with_other[(1,)](x, y, 100, BLOCK=128)
    assert y.item() == 100
    total[(1,)](x, y, 128 - 28, BLOCK=64)  # all of the mask holds
    with pytest.raises(KernelFault) as caught:
        total[(1,)](x, y, 100, BLOCK=128)
    assert caught.value.kind is FaultKind.UNDEFINED_VALUE
    assert "leaves it undefined where its mask is false" in caught.value.what


def test_the_branches_of_an_error_function_on_what_is_dropped_are_no_fault():
    x, y = torch.linspace(-3, 3, 100), torch.zeros(100)
    through_an_error_function[(1,)](x, y, 100, BLOCK=128)
    torch.testing.assert_close(y, torch.erf(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_tail_of_a_product_without_other_is_undefined_though_the_other_factor_is_zero(dtype):
    for k, right in ((64, True), (48, False)):
        a, b = torch.ones(32, k, dtype=dtype), torch.ones(k, 32, dtype=dtype)
        c = torch.zeros(32, 32)
        if right:
            product[(1,)](a, b, c, k, BLOCK=32)
            assert torch.equal(c, torch.full((32, 32), float(k)))
        else:
            with pytest.raises(KernelFault, match="undefined value"):
                product[(1,)](a, b, c, k, BLOCK=32)
