"""Where a launch runs: on the device of its tensors."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from harness.launching import launch_settings
from harness.launching.kernel_source import Declared
from harness.launching.tensors import device_of, is_tensor

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_NUMBERS = (int, float, bool, type(None), str)
_CPU = -1  # as torch counts


def device_of_launch(kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """ "cpu", which is the simulator, or "cuda"; the session's device where there are no tensors.

    Raises LaunchError where the tensors disagree.
    """
    seen = _at_a_glance(args, kwargs)
    if seen is not None:
        return "cpu" if seen == _CPU else "cuda"
    given = list(_given(kernel, args, kwargs))
    names = [Declared(name, name) for name, _ in given]
    return device_of([value for _, value in given], names, launch_settings.current().device)


def on_the_gpu_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> AbstractContextManager[Any]:
    """Makes the GPU that holds the tensors torch's current one, where that is another."""
    values = (*args, *kwargs.values())
    for _, value in (part for each in values for part in _opened("", each)):
        if is_tensor(value) and value.is_cuda:
            if value.device.index != torch.cuda.current_device():
                return torch.cuda.device(value.device)
            break
    return nullcontext()


def _at_a_glance(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
    """The number of the device that all tensors are on; None: look closer.

    A kernel is launched thousands of times in a benchmark: this costs less than the launch.
    """
    found: int | None = None
    for value in (*args, *kwargs.values()):
        kind = type(value)
        if kind in _PLAIN:
            if not (value.is_cpu or value.is_cuda):
                return None
            index: int = value.get_device()
            if found is None:
                found = index
            elif index != found:
                return None
        elif kind not in _NUMBERS:
            return None
    return found


def _given(kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values of what may hold memory."""
    names = [*kernel.arg_names, *("",) * len(args)]
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        yield from _opened(name, value)


def _opened(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Tuples opened, descriptors as their tensors."""
    if isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from _opened(f"{name}[{index}]", part)
    elif not is_tensor(value) and is_tensor(getattr(value, "base", None)):
        yield f"{name}.base", value.base
    else:
        yield name, value
