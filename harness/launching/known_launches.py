"""Launches like those that have passed every check, recognised by one look at each argument.

A kernel is launched thousands of times in a benchmark; the checks would cost more than the launch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.launching.element_types import scalar_dtype
from harness.launching.launch_shape import LaunchShape
from harness.launching.signature import KernelParameter, Signature
from harness.launching.tensors import is_tensor


class KnownLaunches:
    """What one kernel was given and took: tensor dtypes, NumPy types, shapes of the launch."""

    def __init__(self, signature: Signature) -> None:
        import torch

        self._signature = signature
        self._kinds: list[set[object]] = [set() for _ in signature.parameters]
        self._shapes: dict[tuple[Any, ...], LaunchShape] = {}
        self._tensors = (torch.Tensor, torch.nn.Parameter)

    def shape(self, grid: Any, block: Any, shared_mem: Any) -> LaunchShape | None:
        try:
            return self._shapes.get((grid, block, shared_mem))
        except TypeError:  # a list, say
            return None

    def gpu(self, arguments: Sequence[Any]) -> int | None:
        """The GPU that holds all tensors; None unless each argument is of a kind seen before."""
        if len(arguments) != len(self._kinds):
            return None
        found = -1
        for kinds, value in zip(self._kinds, arguments, strict=True):
            kind = type(value)
            if kind in self._tensors:
                if value.dtype not in kinds or not value.is_contiguous():
                    return None
                index = value.get_device()  # -1 on the CPU
                if index != found and (found >= 0 or not value.is_cuda):
                    return None
                found = index
            elif kind not in kinds:
                return None
        return found if found >= 0 else None

    def remember(
        self, grid: Any, block: Any, shared_mem: Any, shape: LaunchShape, arguments: Sequence[Any]
    ) -> None:
        """Take in a launch that passed every check."""
        if isinstance(grid, tuple) and isinstance(block, tuple):
            if len(self._shapes) > 256:
                self._shapes.clear()
            self._shapes[grid, block, shared_mem] = shape
        for parameter, kinds, value in zip(
            self._signature.parameters, self._kinds, arguments, strict=True
        ):
            if is_tensor(value):
                kinds.add(value.dtype)
            elif value is None:
                kinds.add(type(None))
            elif isinstance(value, np.generic) and _exactly(parameter, value):
                kinds.add(type(value))  # whether another type passes depends on its value


def _exactly(parameter: KernelParameter, value: np.generic) -> bool:
    return parameter.type is not None and scalar_dtype(parameter.type) == value.dtype.name
