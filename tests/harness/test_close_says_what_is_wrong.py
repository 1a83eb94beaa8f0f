"""A failure of close fits a screen: count, place, values, pattern, shape, seed and bound."""

import pytest
import torch

from harness.judging.comparison import Close
from harness.judging.data import spread
from harness.judging.mismatch import Mismatch

close = Close(seed=42)


@pytest.fixture
def rng():
    return torch.Generator().manual_seed(3)


def report(got, oracle, *inputs, **options):
    with pytest.raises(Mismatch) as failure:
        close(got, oracle, *inputs, **options)
    text = failure.value.learner_report
    assert text == str(failure.value)
    assert len(text.splitlines()) <= 25
    return text


def double(x):
    return x * 2


def test_a_wrong_tail_is_told_in_full(rng):
    x = spread(488, rng=rng)
    got = double(x)
    got[464:] = x[464:]
    text = report(got, double, x)
    assert "wrong in 24 of 488 elements" in text
    assert "the tail: the last 24 elements, from [464] on" in text
    assert "each is 0.5 x right" in text
    assert f"[464]  got {got[464]:.6g}" in text
    assert "shape    [488] float32 on cpu; inputs [488]; seed 42" in text
    assert "bound    largest error" in text
    assert "the truth is double (" in text


def test_the_bound_says_where_it_comes_from(rng):
    x = spread(488, rng=rng)
    text = report(double(x) + 1, double, x)
    assert "the floor of its type" in text
    text = report(double(x[:8]) + 1, double, x[:8], floor=1e-5, because="TF32 is allowed here")
    assert "TF32 is allowed here" in text


def test_the_bound_names_the_error_of_torch_where_that_decides(rng):
    x = (torch.randn(300, 4096, generator=rng)).bfloat16()

    def cancelling(x):
        return (x + 1000) - 1000

    text = report(torch.zeros_like(x) + 90, cancelling, x)
    assert "1.5 x torch's own error in bfloat16" in text


def test_the_furthest_element_is_shown_besides_the_first(rng):
    x = spread(100, rng=rng)
    got = x.clone()
    got[10:20] += 1
    got[17] += 100
    text = report(got, lambda x: x, x)
    assert "first    [10]" in text
    assert "furthest [17]" in text


def test_indices_have_as_many_axes_as_the_tensor(rng):
    x = spread(3, 4, 5, rng=rng)
    got = x.clone()
    got[1, 2, 3] = 0
    assert "only element [1, 2, 3]" in report(got, lambda x: x, x)


def test_a_scalar_result_has_a_report_too():
    x = torch.arange(1.0, 5.0)
    assert "1 of 1 elements" in report(x.sum() + 1, torch.sum, x)


def test_counts_of_nan_stand_in_the_report(rng):
    x = spread(64, rng=rng)
    got = x.clone()
    got[:3] = torch.nan
    text = report(got, lambda x: x, x)
    assert "got      3 NaN, 0 inf, 0 -inf" in text
    assert "truth    0 NaN" in text


def test_a_result_of_several_is_named(rng):
    x = spread(64, rng=rng)
    assert "result 1 is wrong" in report((x, -x), lambda x: (x, x), x)


def test_a_non_contiguous_answer_is_judged_by_its_elements(rng):
    x = spread(6, 7, rng=rng)
    close(x.T, lambda x: x.T.contiguous(), x)
    wrong = x.clone().T
    wrong[2, 3] = 0
    assert "[2, 3]" in report(wrong, lambda x: x.T.contiguous(), x)


def test_memory_never_written_is_the_headline(rng):
    x = spread(255, rng=rng)
    got = torch.empty(255)
    got[:249] = x[:249]
    text = report(got, lambda x: x, x)
    assert text.startswith("the result was never written in 6 of 255 elements")
    assert "the tail: the last 6 elements" in text
