"""close.equal accepts equal values only, of every type, and does not copy giants."""

import resource

import pytest
import torch

from harness.judging.comparison import Close
from harness.judging.patterns import value_text
from harness.judging.poison import fill

close = Close()


@pytest.mark.parametrize(
    "dtype",
    [
        *(torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.bfloat16),
        *(torch.uint8, torch.uint16, torch.uint32, torch.uint64),
    ],
)
def test_equal_values_pass_and_one_other_fails(dtype):
    want = torch.arange(100).to(dtype)
    close.equal(want.clone(), want)
    got = want.clone()
    got[63] = 64
    with pytest.raises(AssertionError, match=r"1 of 100 elements[\s\S]*\[63\]\s+got 64\s+want 63"):
        close.equal(got, want)


def test_a_bool_is_compared_by_its_byte():
    want = torch.tensor([True, False, True])
    close.equal(want.clone(), want)
    poisoned = torch.full((3,), 0xCD, dtype=torch.uint8).view(torch.bool)
    with pytest.raises(AssertionError, match=r"3 of 3[\s\S]*got the byte 0xcd  want True"):
        close.equal(poisoned, want)


def test_nan_equals_nan_and_zero_equals_minus_zero():
    close.equal(torch.tensor([torch.nan, 0.0]), torch.tensor([torch.nan, -0.0]))


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [(torch.float32, torch.int32), (torch.float64, torch.int64), (torch.bfloat16, torch.int16)],
)
def test_poison_and_minus_zero_are_named_where_bits_are_compared(dtype, bits):
    want = torch.tensor([0.0, -0.0, 1.0], dtype=dtype)
    fresh = torch.zeros(3, dtype=dtype)
    fill(fresh)
    with pytest.raises(AssertionError, match=r"\[0\] +got poison \(\d+\) +want 0"):
        close.equal(fresh.view(bits), want.view(bits))
    with pytest.raises(
        AssertionError, match=r"got 0 +want -\d+ \(-0\.0, if it is a float's bits\)"
    ):
        close.equal(want.abs().view(bits), want.view(bits))


def test_fresh_integers_are_called_poison_and_wanted_ones_are_not():
    fresh = torch.zeros(3, dtype=torch.int32)
    fill(fresh)
    with pytest.raises(AssertionError, match=r"got poison \(-842150451\) +want 0"):
        close.equal(fresh, torch.zeros(3, dtype=torch.int32))
    with pytest.raises(AssertionError, match=r"got 0 +want -842150451\n"):
        close.equal(torch.zeros(3, dtype=torch.int32), fresh)


def test_minus_zero_keeps_its_point():
    assert value_text(torch.tensor(-0.0)) == "-0.0" and value_text(torch.tensor(0.0)) == "0"


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, "returned nothing"),
        (torch.zeros(4, dtype=torch.int32), "wrong shape"),
        (torch.zeros(3, dtype=torch.int64), "wrong element type"),
    ],
)
def test_the_form_is_checked_first(got, words):
    with pytest.raises(AssertionError, match=words):
        close.equal(got, torch.zeros(3, dtype=torch.int32))


def test_a_missing_result_fails():
    x = torch.zeros(3)
    with pytest.raises(AssertionError, match="expected 2 tensors"):
        close.equal((x,), (x, x))


def test_views_with_strides_are_compared_in_chunks(monkeypatch):
    monkeypatch.setattr("harness.judging.differences.CHUNK", 64)
    want = torch.arange(40 * 50).reshape(50, 40).T
    got = want.clone()
    close.equal(got, want)
    got[39, 49] = -1
    got[0, 1] = -1
    with pytest.raises(AssertionError, match=r"2 of 2,000 elements[\s\S]*\[0, 1\]"):
        close.equal(got, want)


def test_two_billion_bytes_are_compared_without_a_second_copy():
    rows, columns = (1 << 15) + 1, 1 << 16
    # Element [r, c] is ours[r + c]: beyond 2^31 elements, of which only the last differs.
    ours = torch.zeros(rows + columns - 1, dtype=torch.uint8)
    ours[-1] = 1
    got = ours.as_strided((rows, columns), (1, 1))
    want = torch.zeros(1, dtype=torch.uint8).expand(rows, columns)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(AssertionError, match=r"only element \[32768, 65535\]"):
        close.equal(got, want)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB
    assert grown < 256 << 10
