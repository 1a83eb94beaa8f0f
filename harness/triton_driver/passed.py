"""Which argument Triton did not take, and the line to write instead."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.launching.call_site import call_site
from harness.launching.tensors import is_tensor
from harness.telling.learner_error import LaunchError

_TAKEN = (bool, int, float, type(None))


def refused(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LaunchError | None:
    """Name the first argument that no kernel can be given; Triton names only its type."""
    parameters = {p.name: p for p in function.params}
    for name, value in [*zip(parameters, args, strict=False), *kwargs.items()]:
        if name not in parameters or parameters[name].is_constexpr:
            continue
        for shown, part in _parts(name, value):
            if not _is_taken(part):
                return _refusal(function.__name__, list(parameters).index(name), shown, part)
    return None


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from _parts(f"{name}[{index}]", part)
    else:
        yield name, value


def _is_taken(value: Any) -> bool:
    """Numbers, None, tensors and what wraps one; what Triton made itself is Triton's to judge."""
    return (
        isinstance(value, _TAKEN)
        or hasattr(value, "data_ptr")
        or is_tensor(getattr(value, "base", None))
        or type(value).__name__ in ("constexpr", "JITFunction")
    )


def _refusal(kernel: str, index: int, name: str, value: Any) -> LaunchError:
    kind = type(value)
    if isinstance(value, np.ndarray):
        what, advice = "a NumPy array", f"torch.from_numpy({name}), which shares its memory"
    elif isinstance(value, np.generic):
        what, advice = f"np.{value.dtype.name}({value})", f"{name}.item(), a number of Python"
    elif isinstance(value, (list, set, dict)):
        what = f"a {kind.__name__} of Python"
        advice = "torch.tensor(…) for memory; a tuple for a few values that the kernel unpacks"
    else:
        what = f"{value!r}, a {kind.__name__}"
        advice = f"a value known when the kernel is compiled: {name}: tl.constexpr"
    return LaunchError(
        f"{kernel}: argument {index + 1} ({name}) is {what}",
        where=str(call_site()),
        expected="a torch tensor for a pointer; a Python number, bool or None for a value",
        advice=advice,
    )
