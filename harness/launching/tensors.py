"""What a launch asks of torch tensors, without importing torch: no torch yet, no tensor."""

import sys
from collections.abc import Sequence
from typing import Any

from harness.launching.call_site import call_site
from harness.launching.kernel_source import Declared
from harness.telling.learner_error import LaunchError


def is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def dtype_name(tensor: Any) -> str:
    """`torch.float32` -> "float32"."""
    return str(tensor.dtype).removeprefix("torch.")


def device_of(arguments: Sequence[Any], parameters: Sequence[Declared], otherwise: str) -> str:
    """Where a launch runs: "cpu" (the simulator) or "cuda". The tensors decide.

    Raises LaunchError where they disagree, naming two of them.
    """
    first: tuple[int, Any] | None = None
    for index, value in enumerate(arguments):
        if not is_tensor(value):
            continue
        if value.device.type not in ("cpu", "cuda"):
            raise LaunchError(
                f"{_named(index, parameters)} lies on {value.device}",
                where=str(call_site()),
                expected="tensors on the CPU (simulated) or on a CUDA device",
                advice="create it on the device that the test hands you",
            )
        if first is None:
            first = (index, value)
        elif value.device != first[1].device:
            raise LaunchError(
                f"{_named(first[0], parameters)} lies on {first[1].device}, "
                f"{_named(index, parameters)} on {value.device}",
                where=str(call_site()),
                expected="all tensors of a launch on one device: the tensors decide where it runs",
                advice=f"create the second one with device={_name(first[0], parameters)}.device",
            )
    return first[1].device.type if first else otherwise


def _named(index: int, parameters: Sequence[Declared]) -> str:
    name = parameters[index].name if index < len(parameters) else ""
    return f"argument {index + 1}" + (f" ({name})" if name else "")


def _name(index: int, parameters: Sequence[Declared]) -> str:
    name = parameters[index].name if index < len(parameters) else ""
    return name or "x"
