"""Halves are converted by integer arithmetic: to the same bits as NumPy, whatever the number."""

import numpy as np
import pytest

from simulator.instructions.half_conversion import HALF_NAN, from_half, to_half

MANY = 1 << 16  # values: enough that integer arithmetic is used
EVERY_HALF = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
FINITE = EVERY_HALF[np.isfinite(EVERY_HALF)]


def by_numpy(values):
    rounded = values.astype(np.float16)
    rounded[values != values] = HALF_NAN
    return rounded.view(np.uint16)


@pytest.mark.parametrize(
    "halves", [FINITE, EVERY_HALF, EVERY_HALF[:7]], ids=["finite", "all", "few"]
)
def test_a_half_becomes_the_same_float(halves):
    np.testing.assert_array_equal(
        from_half(halves).view(np.uint32), halves.astype(np.float32).view(np.uint32)
    )


def test_a_single_half_stays_a_scalar():
    assert from_half(np.float16(1.5)) == np.float32(1.5)
    assert np.ndim(from_half(np.float16(1.5))) == 0


@pytest.mark.parametrize("steps", range(-2, 3))
def test_floats_around_every_half_and_every_tie_round_alike(steps):
    sorted_ = np.sort(FINITE.astype(np.float64))
    ties = (sorted_[1:] + sorted_[:-1]) / 2
    beside = np.concatenate([sorted_, ties, [65519.0, 65520.0, 65536.0, 1e30]]).astype(np.float32)
    with np.errstate(all="ignore"):
        values = (beside.view(np.int32) + np.int32(steps)).view(np.float32)
        np.testing.assert_array_equal(to_half(values).view(np.uint16), by_numpy(values))


@pytest.mark.parametrize("seed", range(8))
def test_random_bits_round_alike_with_the_hardwares_nan(seed):
    bits = np.random.default_rng(seed).integers(0, 1 << 32, MANY, dtype=np.uint32)
    values = bits.view(np.float32)
    assert np.isnan(values).any()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(to_half(values).view(np.uint16), by_numpy(values))
