"""A call that writes to its inputs is caught, whatever they hold."""

import pytest
import torch

from harness.judging.comparison import Close
from harness.judging.guards import BAND, Banded, guarded, unmodified


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_a_changed_element_is_named(dtype):
    a, b = torch.zeros(4, dtype=dtype), torch.zeros(2, 3, dtype=dtype)
    words = r"input 1 was modified in 1 of 6[\s\S]*\[1, 2\]  was"
    with pytest.raises(AssertionError, match=words), unmodified(a, b):
        b[1, 2] = 1


def test_inputs_left_alone_pass_even_with_nan():
    a = torch.tensor([torch.nan, 1.0])
    with unmodified(a, 3, None):
        a * 2


def test_a_change_from_one_nan_to_another_is_seen():
    a = torch.tensor([torch.nan])
    with pytest.raises(AssertionError, match="input 0 was modified"), unmodified(a):
        a.view(torch.int32)[0] += 1


def test_a_strided_view_is_watched():
    a = torch.zeros(4, 4).T[1:, ::2]
    with pytest.raises(AssertionError, match="1 of 6"), unmodified(a):
        a[0, 0] = 1


def test_an_exception_of_the_call_is_not_hidden():
    a = torch.zeros(3)
    with pytest.raises(ZeroDivisionError), unmodified(a):
        a[0] = 1
        1 / 0  # noqa: B018


def test_close_function_calls_checks_and_returns():
    close = Close()
    a, b = torch.rand(3, 300).unbind()[:2]
    assert torch.equal(close.function(torch.add, torch.add, a, b), a + b)
    with pytest.raises(AssertionError, match="input 0 was modified"):
        close.function(lambda a, b: a.add_(b), torch.add, a, b)


def test_the_simulator_gets_the_tensors_themselves():
    a = torch.zeros(3)
    with guarded(a, 5) as (inside, number):
        assert inside is a
        assert number == 5


@pytest.mark.parametrize(("place", "words"), [(-1, "1 elements ahead"), (3, "1 elements past")])
def test_a_write_beside_a_banded_tensor_is_caught(place, words):
    x = torch.arange(3.0)
    banded = Banded(x)
    assert torch.equal(banded.tensor, x)
    banded.check("input 0")
    whole = banded.storage.view(torch.float32)
    whole[BAND // 4 + place] = 1.0
    with pytest.raises(AssertionError, match=words):
        banded.check("input 0")
