"""Sizes lie on both sides of a block; values tell their position."""

import pytest
import torch

from harness.judging.data import (
    distinct_integers,
    prime_after,
    rectangles,
    rows_of_scale,
    sizes,
    spread,
)


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(1)


def test_sizes_of_a_usual_block():
    assert sizes(256) == [1, 2, 3, 255, 256, 257, 521, 1280]


def test_sizes_of_tiny_blocks_are_positive_and_each_once():
    for block in (1, 2, 3, 4):
        found = sizes(block)
        assert found == sorted(set(found))
        assert found[0] == 1


def test_primes():
    assert [prime_after(n) for n in (0, 1, 2, 3, 8, 512, 1024)] == [2, 2, 3, 5, 11, 521, 1031]


@pytest.mark.parametrize("elements", [0, 1, 2, 1000, 100_000])
def test_spread_values_are_distinct_and_from_a_tenth_to_ten(elements, rng):
    x = spread(elements, rng=rng)
    assert len(x.unique()) == elements
    if elements:
        assert x.abs().min() >= 0.1 and x.abs().max() <= 10


def test_spread_values_have_both_signs_and_both_ends(rng):
    x = spread(30, 40, rng=rng)
    assert x.shape == (30, 40)
    assert x.min() < -9 and x.max() > 5
    assert x.abs().min() < 0.11


def test_integers_are_distinct_as_long_as_the_type_lasts(rng):
    assert len(distinct_integers(1000, rng=rng).unique()) == 1000
    small = distinct_integers(1000, rng=rng, dtype=torch.uint8)
    assert small.dtype is torch.uint8
    assert len(small.unique()) == 256
    assert distinct_integers(200, rng=rng, dtype=torch.int8).min() == -100


def test_the_same_seed_gives_the_same_data():
    one, two = (spread(100, rng=torch.Generator().manual_seed(9)) for _ in range(2))
    assert torch.equal(one, two)


def test_rows_differ_in_scale(rng):
    norms = rows_of_scale(64, 100, rng=rng).norm(dim=1)
    assert norms.max() / norms.min() > 20


def test_rectangles_are_lonely_thin_and_ragged():
    shapes = rectangles(16)
    assert (1, 1) in shapes and (16, 16) in shapes
    assert any(rows != columns and rows % 16 and columns % 16 for rows, columns in shapes)
