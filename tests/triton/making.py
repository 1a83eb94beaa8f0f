"""Inputs and outputs of cases, the same on every machine and under every version of NumPy."""

import numpy as np
import torch


class Maker:
    """Tensors from a seed. RandomState's stream is frozen; those of newer generators are not."""

    def __init__(self, seed):
        self._random = np.random.RandomState(seed)

    def normal(self, *shape, dtype=torch.float32, scale=1.0):
        return self._tensor(self._random.standard_normal(shape) * scale, dtype)

    def uniform(self, *shape, dtype=torch.float32, low=0.0, high=1.0):
        return self._tensor(low + (high - low) * self._random.random_sample(shape), dtype)

    def rows(self, rows, columns, dtype=torch.float32):
        """Rows whose scales spread over two decades, none with mean zero."""
        scale = 10 ** self._random.uniform(-1, 1, (rows, 1))
        mean = self._random.standard_normal((rows, 1))
        return self._tensor(scale * (self._random.standard_normal((rows, columns)) + mean), dtype)

    def grid(self, *shape, dtype=torch.float32, step=2.0**-20, size=2**21):
        """Multiples of a step: their products and sums are exact in float64."""
        return self._tensor(self._random.randint(-size, size, shape) * step, dtype)

    def integers(self, *shape, low, high, dtype=torch.int32):
        """low <= x < high."""
        drawn = self._random.randint(low, high, shape, dtype=np.int64)
        return torch.from_numpy(np.ascontiguousarray(drawn)).to(dtype)

    def permutation(self, size, dtype=torch.int32):
        return torch.from_numpy(self._random.permutation(size)).to(dtype)

    @staticmethod
    def _tensor(values, dtype):
        return torch.from_numpy(np.ascontiguousarray(values)).to(dtype)


def unwritten(*shape, dtype=torch.float32):
    """NaN, or a number that nobody writes: an element that is left out does not go unnoticed."""
    if dtype.is_floating_point:
        return torch.full(shape, torch.nan).to(dtype)
    return torch.from_numpy(np.full(shape, 93, str(dtype).removeprefix("torch.")))


def whole(numbers, dtype):
    """Python's whole numbers, of any type that holds them."""
    return torch.from_numpy(np.array(numbers, str(dtype).removeprefix("torch.")))


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)
