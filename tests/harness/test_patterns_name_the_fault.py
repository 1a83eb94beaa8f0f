"""Each way of being wrong that a first kernel knows gets its own words."""

import pytest
import torch

from harness.judging.differences import exactly, where_wrong
from harness.judging.patterns import guess
from harness.judging.poison import fill


def pattern(got, want, *inputs):
    return guess(where_wrong(got, want, exactly), inputs)


@pytest.fixture
def want():
    return torch.randperm(1024, generator=torch.Generator().manual_seed(1)).float() + 1


def damaged(want, places, value=-7.5):
    got = want.clone()
    got[places] = torch.arange(len(got[places])) * 0.37 + value
    return got


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (slice(1000, None), "the tail: the last 24 elements, from [1000] on"),
        (slice(0, 256), "the head: the first 256 elements, up to [255]"),
        (slice(100, 200), "a run of 100 elements, [100] to [199]"),
        (slice(31, None, 32), "every 32nd element, from [31] on"),
        (slice(0, None, 3), "every 3rd element"),
        (slice(None), "every element"),
        (slice(5, 6), "only element [5]"),
    ],
)
def test_places_on_a_line(want, places, words):
    assert words in pattern(damaged(want, places), want)


def test_the_upper_lanes_of_each_warp(want):
    upper = torch.arange(1024) % 32 >= 16
    assert "elements 16 to 31 of every 32" in pattern(damaged(want, upper), want)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ((slice(None), slice(28, None)), "the last 4 columns, from 28 on"),
        ((slice(None), slice(31, None)), "column 31, the last"),
        ((slice(0, 1),), "row 0"),
        ((slice(4, 8),), "rows 4 to 7"),
        ((slice(30, None),), "the last 2 rows, from 30 on"),
    ],
)
def test_places_in_a_matrix(want, places, words):
    square = want.reshape(32, 32)
    got = square.clone()
    got[places] += 0.5 + torch.arange(got[places].numel()).reshape(got[places].shape)
    assert words in pattern(got, square)


def test_never_written_memory_is_recognised_by_its_poison(want):
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64):
        expected = want.to(dtype)
        fresh = torch.empty_like(expected)
        fill(fresh)
        assert "every element; they hold the poison of fresh memory" in pattern(fresh, expected)
        fresh[:512] = expected[:512]
        assert "the tail" in pattern(fresh, expected)
        assert "never written" in pattern(fresh, expected)


def test_bytes_never_written_are_asked_about():
    for dtype in (torch.uint8, torch.int8):
        fresh = torch.empty(9, dtype=dtype)
        fill(fresh)
        assert "0xCD, as fresh memory is" in pattern(fresh, torch.arange(9).to(dtype))
    fresh = torch.empty(9, dtype=torch.bool)
    fill(fresh)
    assert "never written" in pattern(fresh, torch.ones(9, dtype=torch.bool))


def test_nan_that_was_computed_is_told_from_poison(want):
    got = want.clone()
    got[3:9] = torch.nan
    text = pattern(got, want)
    assert "NaN, computed" in text
    assert "poison" not in text


def test_a_transposed_square(want):
    square = want.reshape(32, 32)
    assert "transposed" in pattern(square.T.contiguous(), square)


def test_a_rectangle_laid_out_the_other_way(want):
    tall = want.reshape(64, 16)
    got = tall.T.contiguous().reshape(64, 16)
    assert "laid out as [16, 64]" in pattern(got, tall)


def test_values_shifted_by_one_either_way(want):
    assert "element before it: shifted by one" in pattern(want.roll(1), want)
    assert "element after it: shifted by one" in pattern(want.roll(-1), want)


def test_one_value_everywhere(want):
    assert "they are all 0" in pattern(torch.zeros_like(want), want)
    assert "they are all 3.5" in pattern(torch.full_like(want, 3.5), want)


def test_a_factor_and_a_sign(want):
    assert "each is 2 x right" in pattern(want * 2, want)
    assert "wrong sign" in pattern(-want, want)


def test_values_that_are_nearly_right_fit_no_other_pattern(want):
    assert "nearly right: off by 1e-05" in pattern(want * (1 + 1e-5), want)


def test_right_values_in_wrong_places(want):
    assert "right but in the wrong places" in pattern(want.flip(0), want)


def test_an_input_handed_back(want):
    x = torch.rand(1024, generator=torch.Generator().manual_seed(2))
    assert "they hold input 1, unchanged" in pattern(x.clone(), want, want[:3], x)


def test_no_pattern_is_claimed_where_there_is_none(want):
    generator = torch.Generator().manual_seed(5)
    places = torch.rand(1024, generator=generator) < 0.1
    got = want.clone()
    got[places] += torch.randn(int(places.sum()), generator=generator)
    assert pattern(got, want) == ""


def test_one_element_is_spoken_of_in_the_singular(want):
    got = want.clone()
    poison = torch.zeros(1)
    fill(poison)
    got[5] = poison[0]
    assert pattern(got, want) == (
        "only element [5]; it holds the poison of fresh memory: never written"
    )
    got[7] = -1
    assert "1 of them holds the poison" in pattern(got, want)


def test_an_axis_before_rows_and_columns_is_named_by_its_number():
    want = torch.arange(5 * 3 * 4.0).reshape(5, 3, 4) + 1
    for places, words in (
        (slice(1, None), "the last 4 of axis 0, from 1 on"),
        (slice(1, 3), "1 to 2 of axis 0"),
        (slice(2, 3), "index 2 of axis 0"),
        (slice(4, 5), "index 4 of axis 0, the last"),
    ):
        got = want.clone()
        got[places] *= -0.37
        assert words in pattern(got, want)


def test_nothing_is_said_of_sizes_where_the_truth_has_none():
    got, want = torch.full((40,), 3.5), torch.zeros(40)
    got[::2] = 2.25
    assert "nan" not in pattern(got, want) and "of their size" not in pattern(got, want)
