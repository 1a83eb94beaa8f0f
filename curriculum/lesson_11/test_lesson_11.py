"""Lesson 11, task 1: the norm, the turn, and the gated product."""

import math

import pytest
import torch

from curriculum.lesson_11 import chain
from harness.judging.data import spread
from references import forward as truth

SHAPES = [(1, 1), (1, 4), (3, 5), (7, 64), (2, 3, 33)]


@pytest.mark.task(1)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_row_is_divided_by_its_root_mean_square(shape, rng, close):
    x, weight = spread(*shape, rng=rng), spread(shape[-1], rng=rng)
    close.function(chain.rms_norm, truth.rms_norm, x, weight)


@pytest.mark.task(1)
def test_epsilon_is_under_the_root(close):
    x, weight = torch.full((2, 8), 1e-4), torch.ones(8)
    got = chain.rms_norm(x, weight, 1e-2)
    wanted = 1e-4 / math.sqrt(1e-8 + 1e-2)
    said = "x is 1e-4 everywhere, epsilon 1e-2: x / sqrt(mean + epsilon)"
    assert got.mean().item() == pytest.approx(wanted, rel=1e-3), f"{said} is {wanted:.3g}"
    close.equal(chain.rms_norm(torch.zeros(1, 4), torch.ones(4)), torch.zeros(1, 4))


@pytest.mark.task(1)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_squares_of_half_numbers_are_added_in_float32(dtype):
    x = torch.full((1, 4096), 300.0, dtype=dtype)  # the squares pass fp16, the sum bf16's 8 bits
    got = chain.rms_norm(x, torch.ones(4096, dtype=dtype))
    assert got.dtype == dtype, f"the norm of {dtype} is {got.dtype}"
    said = f"300 everywhere in {dtype}: its norm is {got[0, 0].item():.4g}, not 1"
    assert got.float().sub(1).abs().max() < 1e-2, said


def off_in_float64(function, true, x, *others):
    """The largest error of function(x, ...) for x in float64."""
    got = function(x, *others)
    assert got.dtype == torch.float64, f"x is float64, and the result is {got.dtype}"
    return (got - true(x, *others)).abs().max().item()


@pytest.mark.task(1)
def test_a_norm_of_float64_stays_float64(rng):
    x, weight = spread(3, 8, rng=rng).double(), spread(8, rng=rng).double()
    off = off_in_float64(chain.rms_norm, truth.rms_norm, x, weight)
    said = f"a norm of float64 is off by {off:.1e}: float32, or wider if x is wider"
    assert off < 1e-12, said


@pytest.mark.task(1)
def test_the_quotient_is_rounded_before_the_weight_multiplies_it(rng):
    # bf16: both orders differ in the last bit of about a third of the elements.
    x = spread(32, 256, rng=rng).bfloat16()
    weight = spread(256, rng=rng).bfloat16()
    got, wanted = chain.rms_norm(x, weight), truth.rms_norm(x, weight)
    apart = (got != wanted).float().mean().item()
    said = f"{apart:.0%} of a bf16 norm differ: round the quotient to bf16, then multiply in bf16"
    assert apart < 0.02, said


@pytest.mark.task(1)
@pytest.mark.parametrize("count, heads, d", [(1, 1, 2), (5, 3, 8), (33, 2, 16), (4, 1, 64)])
def test_pairs_half_a_head_apart_are_turned(count, heads, d, rng):
    # In float64: an angle of thousands in float32 is right to three decimals, and may be taken so.
    x = spread(count, heads, d, rng=rng).double()
    positions = torch.randint(0, 5000, (count,), generator=rng)
    off = off_in_float64(chain.rope, truth.rope, x, positions)
    said = f"x [{count}, {heads}, {d}] in float64, positions up to 5000: off by {off:.1e}"
    rule = "elements i and i + d/2 turn by p · theta^(-2i/d), and float64 stays float64"
    assert off < 1e-9, f"{said}; {rule}"


@pytest.mark.task(1)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_a_turn_is_computed_in_float32_and_rounded_once(dtype, rng):
    x, positions = spread(32, 4, 64, rng=rng).to(dtype), torch.arange(32)
    got, wanted = chain.rope(x, positions), truth.rope(x.double(), positions)
    assert got.dtype == dtype, f"x is {dtype}, and the turned x is {got.dtype}"
    # A few roundings of float32 in the angle, and one of x's type at the end.
    slack = 1e-5 * wanted.abs().max() + 0.51 * torch.finfo(dtype).eps * wanted.abs()
    apart = ((got.double() - wanted).abs() > slack).float().mean().item()
    said = f"{apart:.0%} of a turned {dtype} are off by more than one rounding"
    assert apart == 0, f"{said}: cosine, sine and both products in float32, then round"


@pytest.mark.task(1)
def test_position_0_turns_nothing_and_a_quarter_turn_exchanges_a_pair(close):
    x = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    close.equal(chain.rope(x, torch.tensor([0])), x)
    # theta = 1: all pairs turn by one radian a position.
    got = chain.rope(x, torch.tensor([1]), theta=1.0)
    cosine, sine = math.cos(1), math.sin(1)
    wanted = [cosine - 3 * sine, 2 * cosine - 4 * sine, 3 * cosine + sine, 4 * cosine + 2 * sine]
    said = f"(1, 2, 3, 4) by one radian: {got.flatten().tolist()}; the pairs are (1, 3), (2, 4)"
    assert got.flatten().tolist() == pytest.approx(wanted, rel=1e-5), said


@pytest.mark.task(1)
def test_a_score_depends_on_the_distance_alone(rng):
    q, k = spread(2, 1, 1, 32, rng=rng).double().unbind(0)
    dots = [
        (chain.rope(q, torch.tensor([m])) * chain.rope(k, torch.tensor([n]))).sum().item()
        for m, n in ((3, 0), (4, 1), (1003, 1000), (90_003, 90_000))
    ]
    said = f"q at m and k at n, m - n = 3 each time: dot products {dots}"
    assert dots == pytest.approx([dots[0]] * 4, rel=1e-6), said


@pytest.mark.task(1)
@pytest.mark.parametrize("count, hidden, ffn", [(1, 1, 1), (3, 8, 20), (5, 33, 7)])
def test_the_gate_is_bent_and_the_other_is_not(count, hidden, ffn, rng, close):
    shapes = (count, hidden), (ffn, hidden), (ffn, hidden), (hidden, ffn)
    close.function(chain.swiglu, truth.swiglu, *(spread(*shape, rng=rng) for shape in shapes))
